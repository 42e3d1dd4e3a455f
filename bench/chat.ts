// A chat turn over HTTP handlers on SQLite: chunks stored before they are seen, resumed from any index.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { createChatHandler } from '@holdfast/chat-server'
import { createEngine } from '@holdfast/engine'
import { openSqliteStore } from '@holdfast/store-sqlite'
import { defineWorkflow } from '@holdfast/workflow'
import { percentile, rawSync, report, row, withFolder } from './measure.ts'
import type { Report } from './measure.ts'

const rounds = 3
const words = 2_000

const talk = defineWorkflow({
  name: 'talk_flow',
  version: 'v1',
  description: 'Says many words.',
  kind: 'agent',
  input: {
    type: 'object',
    properties: { chatId: { type: 'string' }, messageId: { type: 'string' } },
    required: ['chatId', 'messageId'],
    additionalProperties: false,
  },
  stream: {
    opening: ({ runId }) => [{ type: 'start', messageId: runId }],
    closing: () => [{ type: 'finish' }],
  },
  async run(context) {
    await context.step('talk', async ({ output }) => {
      await output.write({ type: 'text-start', id: 'text' })
      for (let word = 0; word < words; word += 1) {
        await output.write({ type: 'text-delta', id: 'text', delta: 'word ' })
      }
      await output.write({ type: 'text-end', id: 'text' })
    })
    return {}
  },
})

export async function run(): Promise<Report> {
  const raw: number[] = []
  const first: number[] = []
  const throughput: number[] = []
  const late: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await withFolder(async (folder) => {
      const store = await openSqliteStore({ path: join(folder, 'bench.db') })
      const engine = createEngine({ store, definitions: [talk] })
      const sessionId = randomUUID()
      const chats = createChatHandler({
        authorize: () => ({ sessionId }),
        supervisors: engine.supervisors,
        store,
        agent: { name: talk.name, version: talk.version },
        limits: { requestsPerSecond: 1_000 },
      })
      const ask = async (path: string, body?: object): Promise<Response> => {
        const response = await chats.handle(
          new Request(`http://localhost/api/chat${path}`, {
            ...(body === undefined
              ? {}
              : {
                  method: 'POST',
                  headers: { 'content-type': 'application/json' },
                  body: JSON.stringify(body),
                }),
          }),
        )
        if (response === undefined || !response.ok) throw new Error(`refused: ${response?.status}`)
        return response
      }
      const turn = (): Promise<Response> => ask('', post())
      await (await turn()).text()
      raw.push(rawSync().rate)
      const firsts: number[] = []
      let stream = ''
      const before = performance.now()
      for (let index = 0; index < 10; index += 1) {
        const asked = performance.now()
        const response = await turn()
        firsts.push(performance.now() - asked)
        stream = response.headers.get('x-workflow-run-id') ?? ''
        await response.text()
      }
      throughput.push((10 * words) / ((performance.now() - before) / 1_000))
      first.push(percentile(firsts, 0.5) * (rawSync().rate / 1_000))
      late.push(await resumeLateAgainstEarly((path) => ask(path), stream))
      chats.drain()
      await engine.close()
      await store.close()
    })
  }
  return report('chat', [
    row('raw-sync', '1/s', raw),
    row('post-acknowledged-p50', 'raw syncs', first),
    row('chunks-stored-and-sent', '1/s', throughput),
    row('resume-at-the-end-against-the-start', 'ratio', late, { atMost: 1.5 }),
  ])
}

function post(): object {
  return {
    id: randomUUID(),
    trigger: 'submit-message',
    messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'talk' }] }],
  }
}

/** The time to a response that reads from an index near the end, over that from one near the start. */
async function resumeLateAgainstEarly(
  ask: (path: string) => Promise<Response>,
  stream: string,
): Promise<number> {
  const timed = async (index: number): Promise<number> => {
    const times: number[] = []
    for (let attempt = 0; attempt < 40; attempt += 1) {
      const before = performance.now()
      const response = await ask(`/${stream}/stream?startIndex=${index}`)
      const reader = response.body?.getReader()
      await reader?.read()
      times.push(performance.now() - before)
      await reader?.cancel()
    }
    return percentile(times, 0.5)
  }
  await timed(10)
  return (await timed(words - 10)) / (await timed(10))
}
