import { renderMessage } from '@holdfast/chat-protocol'
import { sessionIdFor } from '@holdfast/core'
import { afterEach, describe, expect, test } from 'vitest'
import type { ChatHandlerOptions, ChatMessages } from '../src/index.ts'
import {
  origin,
  readAll,
  readerOf,
  runIdOfResponse,
  streamIdOfResponse,
  submit,
  user,
} from './chat-world.ts'
import { type EngineWorld, startProcess } from './engine-world.ts'

const ann = sessionIdFor('ann')
const worlds: EngineWorld[] = []

afterEach(async () => {
  for (const world of worlds.splice(0)) {
    world.handler.drain()
    await world.engine.close()
  }
})

function start(
  options: Partial<ChatHandlerOptions> = {},
  database?: EngineWorld['database'],
): EngineWorld {
  const world = startProcess(database, options)
  worlds.push(world)
  return world
}

async function ask(world: EngineWorld, path: string, body?: unknown): Promise<Response> {
  const response = await world.handle(
    new Request(`${origin}${path}`, {
      ...(body === undefined
        ? {}
        : {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(body),
          }),
    }),
  )
  return response ?? new Response(null, { status: 404 })
}

const say = async (world: EngineWorld, id: string, words: string): Promise<Response> =>
  await ask(world, '/api/chat', submit('c1', user(id, words)))

async function messages(world: EngineWorld): Promise<ChatMessages> {
  return (await (await ask(world, '/api/chat/c1/messages')).json()) as ChatMessages
}

interface AskedPart {
  readonly type: string
  readonly state?: string
  readonly toolCallId?: string
  readonly approval?: { readonly id: string }
}

/** What a page sends back when somebody has decided about these questions. */
async function decide(
  world: EngineWorld,
  runId: string,
  decisions: readonly (boolean | undefined)[],
): Promise<Response> {
  const { messages: all } = await messages(world)
  const message = all.find(({ id }) => id === runId) as {
    readonly id: string
    readonly parts: readonly AskedPart[]
  }
  let at = 0
  const parts = message.parts.map((part) => {
    if (part.state !== 'approval-requested') return part
    const approved = decisions[at]
    at += 1
    if (approved === undefined) return part
    return { ...part, state: 'approval-responded', approval: { ...part.approval, approved } }
  })
  return await ask(world, '/api/chat', {
    ...submit('c1', { ...message, parts }),
    messageId: runId,
  })
}

function textOf(chunks: Parameters<typeof renderMessage>[0]): string {
  return renderMessage(chunks)
    .parts.map((part) => (part.type === 'text' ? part.text : ''))
    .join(' ')
    .trim()
}

describe('over the engine', () => {
  test('a turn is answered, and C1 holds for every k', async () => {
    const world = start()
    const whole = await readAll(await say(world, 'm1', 'say hello,say world'))
    expect(textOf(whole.chunks)).toBe('hello world')
    expect(whole.chunks[0]).toMatchObject({ type: 'start' })
    expect(whole.chunks.at(-1)).toMatchObject({ type: 'finish' })
    const { messageId: runId } = whole.chunks[0] as { readonly messageId: string }
    for (let k = 0; k <= whole.chunks.length; k += 1) {
      const rest = await readAll(await ask(world, `/api/chat/${runId}/stream?startIndex=${k}`))
      expect([...whole.chunks.slice(0, k), ...rest.chunks]).toEqual(whole.chunks)
    }
    expect(await messages(world)).toMatchObject({ status: 'completed', runId, waiting: [] })
  })

  test('sixteen posts of one message make one run, and all get its stream', async () => {
    const world = start()
    const all = await Promise.all(
      Array.from({ length: 16 }, async () => await readAll(await say(world, 'm1', 'say hello'))),
    )
    for (const { chunks } of all) expect(chunks).toEqual(all[0]?.chunks)
    expect((await world.store.runs(ann)).items).toHaveLength(1)
    expect(world.done).toEqual(['say hello'])
  })

  test('C4: a stop in mid-answer is durable, keeps what was said, and ends every reader with abort', async () => {
    const world = start()
    const response = await say(world, 'm1', 'say half,wait never')
    await world.gates.reached('never')
    const other = await ask(world, '/api/chat/c1/stream')
    const stopped = await ask(world, '/api/chat/c1/cancel', {})
    expect(await stopped.json()).toMatchObject({ runId: runIdOfResponse(response) })
    for (const reader of [response, other]) {
      const read = await readAll(reader)
      expect(read.isDone).toBe(true)
      expect(read.chunks.at(-1)).toMatchObject({ type: 'abort' })
      expect(textOf(read.chunks)).toContain('half')
    }
    expect((await ask(world, '/api/chat/c1/stream')).status).toBe(204)
    expect(JSON.stringify(await messages(world))).toContain('half')
  })

  test('C12, A18: two questions end the stream; they are answered one by one, in any order', async () => {
    const world = start()
    const first = await say(world, 'm1', 'say sure,ask 2,say done')
    const runId = runIdOfResponse(first)
    const asked = await readAll(first)
    expect(asked.isDone).toBe(true)
    expect(asked.chunks.filter(({ type }) => type === 'tool-approval-request')).toHaveLength(2)
    expect(asked.chunks.at(-1)).toMatchObject({ type: 'finish' })
    expect((await ask(world, '/api/chat/c1/stream')).status).toBe(204)

    const second = await decide(world, runId, [undefined, true])
    expect(streamIdOfResponse(second)).toBe(`${runId}.2`)
    const partly = await readAll(second)
    expect(partly.chunks.map(({ type }) => type)).toEqual(['start', 'finish'])
    expect(await messages(world)).toMatchObject({
      status: 'interrupted',
      interrupts: { length: 1 },
    })

    const third = await decide(world, runId, [false])
    expect(streamIdOfResponse(third)).toBe(`${runId}.3`)
    const rest = await readAll(third)
    expect(rest.chunks[0]).toMatchObject({ type: 'start', messageId: runId })
    expect(textOf(rest.chunks)).toContain('done')
    expect((await messages(world)).status).toBe('completed')
  })

  test('two tabs answer the same question at once: it is answered once', async () => {
    const world = start()
    const runId = runIdOfResponse(await say(world, 'm1', 'ask 1,say done'))
    await readAll(await ask(world, `/api/chat/${runId}/stream`))
    const responses = await Promise.all([
      decide(world, runId, [true]),
      decide(world, runId, [true]),
      decide(world, runId, [true]),
    ])
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(responses.map(streamIdOfResponse)).toEqual(Array(3).fill(`${runId}.2`))
    await readAll(responses[0] ?? new Response())
    expect(world.done.filter((word) => word === 'say done')).toHaveLength(1)
  })

  test('A24: a steering message is taken up before the next step', async () => {
    const world = start()
    const first = await say(world, 'm1', 'wait gate,say one')
    await world.gates.reached('gate')
    const second = await say(world, 'm2', 'say two')
    expect(streamIdOfResponse(second)).toBe(streamIdOfResponse(first))
    world.gates.open('gate')
    const read = await readAll(second)
    expect(read.chunks).toContainEqual({
      type: 'steering-message',
      id: 'm2',
      parts: [{ type: 'text', text: 'say two' }],
    })
    expect(world.done).toEqual(['wait gate', 'say one', 'say two'])
    expect((await world.store.runs(ann)).items).toHaveLength(1)
    const { messages: shown, waiting } = await messages(world)
    expect(waiting).toEqual([])
    expect(shown.map(({ id }) => id)).toEqual(['m1', runIdOfResponse(first)])
  })

  test('messages sent while a run is ending are carried out, each once', async () => {
    const world = start()
    for (let round = 0; round < 8; round += 1) {
      const chat = `race-${round}`
      const post = async (id: string): Promise<Response> =>
        await ask(world, '/api/chat', submit(chat, user(id, `say ${chat}${id}`)))
      const first = await post('m0')
      // The run is about to end by itself while these come in.
      const late = await Promise.all(['m1', 'm2', 'm3'].map(post))
      expect(late.map(({ status }) => status)).toEqual([200, 200, 200])
      await readAll(first)
      for (;;) {
        const page = (await (await ask(world, `/api/chat/${chat}/messages`)).json()) as ChatMessages
        if (page.activeStreamId === undefined && page.waiting.length === 0) break
        const id = page.activeStreamId ?? page.waiting[0]?.runId ?? ''
        await readAll(await ask(world, `/api/chat/${id}/stream`))
      }
      const said = world.done.filter((word) => word.startsWith(`say ${chat}`))
      expect(said.toSorted()).toEqual(['m0', 'm1', 'm2', 'm3'].map((id) => `say ${chat}${id}`))
    }
  })

  test('a new text instead of a decision denies it and is answered in the same turn', async () => {
    const world = start()
    const first = await say(world, 'm1', 'ask 1,say asked')
    const runId = runIdOfResponse(first)
    await readAll(first)
    const second = await say(world, 'm2', 'say instead')
    // The page's last message is its own: it gets the run's whole message, not what follows the question.
    expect(streamIdOfResponse(second)).toBe(`${runId}.1-2`)
    const whole = await readAll(second)
    expect(textOf(whole.chunks)).toContain('instead')
    expect(renderMessage(whole.chunks)).toMatchObject({ orphans: 0, messageId: runId })
    for (let k = 0; k <= whole.chunks.length; k += 1) {
      const rest = await readAll(await ask(world, `/api/chat/${runId}.1-2/stream?startIndex=${k}`))
      expect([...whole.chunks.slice(0, k), ...rest.chunks]).toEqual(whole.chunks)
    }
    expect((await ask(world, `/api/chat/${runId}.1-3/stream`)).status).toBe(404)
    expect((await ask(world, `/api/chat/${runId}.1-1/stream`)).status).toBe(404)
    expect((await world.store.runs(ann)).items).toHaveLength(1)
  })

  test('two texts instead of a decision at once are both answered', async () => {
    const world = start()
    const first = await say(world, 'm1', 'ask 1,say asked')
    await readAll(first)
    const both = await Promise.all([say(world, 'm2', 'say two'), say(world, 'm3', 'say three')])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    for (;;) {
      const page = await messages(world)
      if (page.activeStreamId === undefined && page.waiting.length === 0) break
      await readAll(await ask(world, `/api/chat/${page.activeStreamId ?? 'c1'}/stream`))
    }
    expect(world.done.toSorted()).toEqual(['ask 1', 'say asked', 'say three', 'say two'])
  })

  test('a queued message is answered after the turn, on the stream it was promised', async () => {
    const world = start({ onBusy: 'queue' })
    const first = await say(world, 'm1', 'wait gate')
    await world.gates.reached('gate')
    const second = await say(world, 'm2', 'say next')
    world.gates.open('gate')
    await readAll(first)
    expect(textOf((await readAll(second)).chunks)).toBe('next')
    expect(world.done).toEqual(['wait gate', 'say next'])
  })

  test('an answer is made anew while it is written', async () => {
    const world = start()
    const first = await say(world, 'm1', 'wait gate,say x')
    await world.gates.reached('gate')
    const again = await ask(world, '/api/chat', {
      id: 'c1',
      trigger: 'regenerate-message',
      messages: [user('m1', 'wait gate,say x')],
    })
    expect((await readAll(first)).chunks.at(-1)).toMatchObject({ type: 'abort' })
    world.gates.open('gate')
    expect((await readAll(again)).chunks.at(-1)).toMatchObject({ type: 'finish' })
    const { messages: shown } = await messages(world)
    expect(shown.map(({ id }) => id)).toEqual(['m1', runIdOfResponse(again)])
  })

  test('a run that waits for a person is stopped: its promised stream says so', async () => {
    const world = start()
    const first = await say(world, 'm1', 'ask 1')
    const runId = runIdOfResponse(first)
    await readAll(first)
    await ask(world, '/api/chat/c1/cancel', {})
    const read = await readAll(await ask(world, `/api/chat/${runId}.2/stream`))
    expect(read.isDone).toBe(true)
    expect(read.chunks.at(-1)).toMatchObject({ type: 'abort' })
    expect((await messages(world)).status).toBe('cancelled')
  })

  test('a turn that fails ends with an error, and the chat goes on', async () => {
    const world = start()
    const read = await readAll(await say(world, 'm1', 'say so,fail'))
    expect(read.chunks.at(-1)).toMatchObject({ type: 'error', errorText: 'An error occurred.' })
    expect(JSON.stringify(read.chunks)).not.toContain('told to fail')
    expect(textOf((await readAll(await say(world, 'm2', 'say on'))).chunks)).toBe('on')
  })

  test('the next turn reads the conversation', async () => {
    const world = start()
    await readAll(await say(world, 'm1', 'say one'))
    await readAll(await say(world, 'm2', 'say two'))
    const { runId } = await messages(world)
    const output = await world.engine.supervisors.session(ann).output(runId ?? '')
    expect(output).toMatchObject({ before: ['say one', 'say two'] })
  })

  test('a process that dies in mid-answer is taken over, and its readers lose nothing', async () => {
    const world = start()
    const first = await say(world, 'm1', 'say before,wait gate,say after')
    const runId = runIdOfResponse(first)
    const reader = readerOf(first)
    await world.gates.reached('gate')
    const seen = (await reader.until(4)).chunks.slice()
    await reader.cancel()
    world.handler.drain()
    await world.engine.close()
    const next = start({}, world.database)
    next.gates.open('gate')
    const rest = await readAll(
      await ask(next, `/api/chat/${runId}/stream?startIndex=${seen.length}`),
    )
    expect(textOf([...seen, ...rest.chunks])).toBe('before gate after')
    const again = await readAll(await say(next, 'm1', 'say before,wait gate,say after'))
    expect(again.chunks).toEqual([...seen, ...rest.chunks])
  })
})

describe('runs over the engine', () => {
  async function waitingRun(world: EngineWorld): Promise<string> {
    const response = await say(world, 'm1', 'say hi,ask 1,say bye')
    await readAll(response)
    return runIdOfResponse(response)
  }

  test('are listed and shown with their questions and the schema of an answer', async () => {
    const world = start()
    const runId = await waitingRun(world)
    const list = (await (await ask(world, '/api/runs')).json()) as { readonly runs: unknown[] }
    expect(list.runs).toHaveLength(1)
    expect(await (await ask(world, `/api/runs/${runId}`)).json()).toMatchObject({
      run_id: runId,
      definition_name: 'assistant',
      definition_version: 'v1',
      definition_description: 'Does what it is told.',
      run_status: 'interrupted',
      interrupts: [
        {
          answer: 'person',
          payload: { kind: 'tool-approval' },
          schema: { required: ['approved'] },
        },
      ],
    })
    const filtered = await ask(world, '/api/runs?status=completed&status=failed')
    expect(await filtered.json()).toEqual({ runs: [] })
  })

  test('are resumed and told of as they go, with an output in the end', async () => {
    const world = start()
    const runId = await waitingRun(world)
    const live = readerOf(await ask(world, `/api/runs/${runId}/history`))
    await live.until(2)
    const wrong = await ask(world, `/api/runs/${runId}/resume`, { resume: { approved: 'yes' } })
    expect(wrong.status).toBe(422)
    const resumed = await ask(world, `/api/runs/${runId}/resume`, { resume: { approved: true } })
    expect(resumed.status).toBe(200)
    expect(await resumed.json()).toMatchObject({ run: { run_id: runId }, stream_id: `${runId}.2` })
    const told = await live.until(Infinity)
    expect(told.isDone).toBe(true)
    const kinds = told.chunks.map((activity) => (activity as unknown as { kind: string }).kind)
    expect(kinds[0]).toBe('run_started')
    expect(kinds).toContain('run_interrupted')
    expect(kinds.at(-1)).toBe('run_completed')
    expect(await (await ask(world, `/api/runs/${runId}`)).json()).toMatchObject({
      run_status: 'completed',
      interrupts: [],
      output: { words: ['say hi', 'ask 1', 'say bye'] },
    })
    const again = await ask(world, `/api/runs/${runId}/resume`, { resume: { approved: true } })
    expect(again.status).toBe(409)
  })

  test('a history goes on after every Last-Event-ID without loss or repeat', async () => {
    const world = start()
    const runId = await waitingRun(world)
    await readAll(await ask(world, '/api/chat/c1/cancel', {}))
    await readAll(await ask(world, `/api/chat/${runId}.2/stream`))
    const text = await (await ask(world, `/api/runs/${runId}/history`)).text()
    const events = text.split('\n\n').filter((event) => event.startsWith('id: '))
    expect(events.length).toBeGreaterThan(3)
    for (const [at, event] of events.entries()) {
      const id = event.split('\n')[0]?.slice('id: '.length) ?? ''
      const rest = await world.handle(
        new Request(`${origin}/api/runs/${runId}/history`, { headers: { 'last-event-id': id } }),
      )
      const told = (await rest?.text())?.split('\n\n').filter((one) => one.startsWith('id: '))
      expect(told).toEqual(events.slice(at + 1))
    }
  })

  test('are cancelled with a reason', async () => {
    const world = start()
    const runId = await waitingRun(world)
    const response = await ask(world, `/api/runs/${runId}/cancel`, { reason: 'not needed' })
    expect(await response.json()).toMatchObject({ already_cancelled: false })
    await readAll(await ask(world, `/api/runs/${runId}/history`))
    expect(await (await ask(world, `/api/runs/${runId}`)).json()).toMatchObject({
      run_status: 'cancelled',
    })
    const again = await ask(world, `/api/runs/${runId}/cancel`, {})
    expect(await again.json()).toMatchObject({ already_cancelled: true })
  })
})
