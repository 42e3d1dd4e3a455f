import { createMemoryDatabase } from '@holdfast/store-memory'
import { createSeededRandom } from '@holdfast/testing'
import { afterEach, describe, expect, test } from 'vitest'
import type { ChatMessages, OnBusy } from '../src/index.ts'
import { origin, readAll, submit, user } from './chat-world.ts'
import { type EngineWorld, startProcess } from './engine-world.ts'

const worlds: EngineWorld[] = []

afterEach(async () => {
  for (const world of worlds.splice(0)) {
    world.handler.drain()
    await world.engine.close()
  }
})

async function ask(world: EngineWorld, path: string, body?: unknown): Promise<Response> {
  const init =
    body === undefined
      ? {}
      : {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }
  return (await world.handle(new Request(`${origin}${path}`, init))) ?? new Response()
}

async function contents(world: EngineWorld): Promise<ChatMessages> {
  return (await (await ask(world, '/api/chat/c1/messages')).json()) as ChatMessages
}

/** Follows the chat until nothing is written and nothing waits. */
async function untilIdle(world: EngineWorld): Promise<ChatMessages> {
  for (;;) {
    const chat = await contents(world)
    if (chat.activeStreamId === undefined && chat.waiting.length === 0) return chat
    const streamId = chat.activeStreamId ?? chat.waiting[0]?.runId ?? ''
    await readAll(await ask(world, `/api/chat/${streamId}/stream`))
  }
}

describe('messages from two tabs, by two processes over one store', () => {
  for (const onBusy of ['steer', 'queue'] as const satisfies readonly OnBusy[]) {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      test(`are each carried out once, however they meet (${onBusy}, ${seed})`, async () => {
        const random = createSeededRandom(seed)
        const database = createMemoryDatabase()
        const processes = [startProcess(database, { onBusy }), startProcess(database, { onBusy })]
        worlds.push(...processes)
        const [one] = processes
        if (one === undefined) throw new Error('There are two.')
        const ids = Array.from({ length: 12 }, (_, at) => `m${at}`)
        const posts = ids.flatMap((id) => (random.next() < 0.4 ? [id, id] : [id]))
        const statuses = await Promise.all(
          posts.map(async (id) => {
            const world = processes[Math.floor(random.next() * 2)] ?? one
            for (let turns = random.next() * 12; turns > 0; turns -= 1) {
              await new Promise<void>((resolve) => setImmediate(resolve))
            }
            const response = await ask(world, '/api/chat', submit('c1', user(id, `say ${id}`)))
            if (random.next() < 0.5) await response.body?.cancel()
            else await readAll(response)
            return response.status
          }),
        )
        expect(statuses).toEqual(posts.map(() => 200))
        const chat = await untilIdle(one)
        const done = processes.flatMap((world) => world.done)
        expect(done.toSorted()).toEqual(ids.map((id) => `say ${id}`).toSorted())
        const shown = JSON.stringify(chat.messages)
        for (const id of ids) expect(shown.match(new RegExp(`"say ${id}"`, 'g'))).toHaveLength(1)
      })
    }
  }
})
