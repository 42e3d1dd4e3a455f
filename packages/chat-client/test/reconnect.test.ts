import { frameFromChunk, type UiChunk } from '@holdfast/chat-protocol'
import { describe, expect, test, vi } from 'vitest'
import { createManualSystem } from './manual-system.ts'
import {
  answered,
  finished,
  readAll,
  refused,
  type Reply,
  started,
  streamed,
  textMessage,
  unreachable,
} from './scripted-fetch.ts'
import { setUp } from './setup.ts'

const whole = textMessage('low ', 'tide ', 'at ', 'noon')

/** Lets everything run that needs no timer. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** Frames with the index of each, as a server writes them that says where it begins. */
function numbered(chunks: readonly UiChunk[], from: number): Reply {
  return streamed(
    chunks.map((chunk, at) => frameFromChunk(chunk, { index: from + at })),
    { headers: { 'x-holdfast-start-index': String(from) } },
  )
}

describe('a stream that is cut', () => {
  test('C1: cut after every k, whole in the end, by clean end and by break, each chunk once', async () => {
    for (const ending of ['break', undefined] as const) {
      for (let k = 0; k < whole.length; k += 1) {
        const options = ending === undefined ? {} : { ending }
        const { server, post, ends } = setUp([
          answered('run-1', whole.slice(0, k), options),
          streamed(whole.slice(k)),
        ])
        expect(await readAll(await post())).toEqual(whole)
        expect(server.lines[1]).toBe(`GET /api/chat/run-1/stream?startIndex=${k}`)
        expect(ends).toMatchObject([{ chunkIndex: whole.length, outcome: 'finished' }])
      }
    }
  })

  test('C1: cut in the middle of any byte of a frame, whole in the end', async () => {
    const frame = frameFromChunk({ type: 'text-delta', id: '1', delta: 'flut 🌊' })
    const bytes = new TextEncoder().encode(frame)
    for (let cut = 0; cut < bytes.length - 2; cut += 1) {
      const { post } = setUp([
        () =>
          new Response(new Blob([bytes.slice(0, cut)]).stream(), {
            headers: { 'x-workflow-run-id': 'run-1' },
          }),
        streamed([frame, finished]),
      ])
      const chunks = await readAll(await post())
      expect(chunks.filter((chunk) => chunk.type === 'text-delta')).toHaveLength(1)
    }
  })

  test('C5: a clean end after some minutes is read on from, as often as it comes', async () => {
    const { server, system, post, ends } = setUp(
      [answered('run-1', whole.slice(0, 1)), ...whole.slice(1).map((chunk) => streamed([chunk]))],
      { maxConsecutiveErrors: 2 },
    )
    expect(await readAll(await post())).toEqual(whole)
    expect(server.lines.slice(1)).toEqual(
      whole.slice(1).map((_, at) => `GET /api/chat/run-1/stream?startIndex=${at + 1}`),
    )
    expect(system.pauses).toEqual(whole.slice(1).map(() => 375))
    expect(ends).toMatchObject([{ outcome: 'finished' }])
  })

  test('C6: streams that say nothing are given up after 3, with growing pauses between', async () => {
    const empty = streamed(['data: [DONE]\n\n'])
    const { server, system, post, ends } = setUp([
      answered('run-1', [started]),
      empty,
      empty,
      empty,
    ])
    await expect(readAll(await post())).rejects.toMatchObject({
      code: 'disconnected',
      message: expect.stringContaining('failed to reconnect after 3 consecutive errors'),
    })
    expect(server.requests).toHaveLength(4)
    expect(system.pauses).toEqual([375, 750, 1500])
    expect(ends).toEqual([{ chatId: 'chat', chunkIndex: 1, outcome: 'failed' }])
  })

  test('C6: a greeting is no heartbeat, and heartbeats without chunks do not hasten it', async () => {
    const greeting = streamed([': stream-open\n\n'])
    const greeted = setUp([answered('run-1', [started]), greeting, greeting, greeting])
    await expect(readAll(await greeted.post())).rejects.toMatchObject({ code: 'disconnected' })

    const beat = streamed([': keep-alive\n\n'])
    const beaten = setUp([
      answered('run-1', [started]),
      ...Array.from({ length: 9 }, () => beat),
      streamed([finished]),
    ])
    expect(await readAll(await beaten.post())).toEqual([started, finished])
    expect(beaten.system.pauses.slice(0, 4)).toEqual([375, 750, 1500, 3000])
    expect(beaten.system.pauses.at(-1)).toBe(11_250)
  })

  test.each([
    ['a network error', unreachable],
    ['408', refused(408)],
    ['425', refused(425)],
    ['429', refused(429)],
    ['500', refused(500)],
    ['503', refused(503)],
  ])('C7: %s on a reconnect is tried again', async (_name, reply) => {
    const { server, post } = setUp([
      answered('run-1', whole.slice(0, 3)),
      reply,
      reply,
      streamed(whole.slice(3)),
    ])
    expect(await readAll(await post())).toEqual(whole)
    expect(server.lines.slice(1)).toEqual(
      Array.from({ length: 3 }, () => 'GET /api/chat/run-1/stream?startIndex=3'),
    )
  })

  test('G26: progress resets the count of errors', async () => {
    const { post } = setUp([
      answered('run-1', whole.slice(0, 1)),
      ...whole.slice(1).flatMap((chunk) => [unreachable, refused(502), streamed([chunk])]),
    ])
    expect(await readAll(await post())).toEqual(whole)
  })

  test('20 s of open connection reset it, too', async () => {
    const system = createManualSystem()
    const long: Reply = () =>
      new Response(
        new ReadableStream(
          {
            pull(controller) {
              system.advance(20_000)
              controller.close()
            },
          },
          { highWaterMark: 0 },
        ),
      )
    const { post } = setUp(
      [
        answered('run-1', [started]),
        ...Array.from({ length: 6 }, () => long),
        streamed([finished]),
      ],
      { system },
    )
    expect(await readAll(await post())).toEqual([started, finished])
    expect(new Set(system.pauses)).toEqual(new Set([375]))
  })

  test('retry-after is honoured, in seconds and as a date', async () => {
    const system = createManualSystem()
    const date = new Date(system.now() + 90_000).toUTCString()
    const { post } = setUp(
      [
        answered('run-1', [started]),
        refused(429, 'slow', { 'retry-after': '7' }),
        refused(503, 'later', { 'retry-after': date }),
        streamed([finished]),
      ],
      { system: { ...system, now: () => Date.parse(date) - 40_000 } },
    )
    expect(await readAll(await post())).toEqual([started, finished])
    expect(system.pauses).toEqual([375, 7000, 40_000])
  })

  test.each([400, 401, 403, 404, 410])('%i on a reconnect is final', async (status) => {
    const { server, post, ends } = setUp([answered('run-1', [started]), refused(status)])
    await expect(readAll(await post())).rejects.toMatchObject({ code: 'request_failed', status })
    expect(server.requests).toHaveLength(2)
    expect(ends).toMatchObject([{ outcome: 'failed', chunkIndex: 1 }])
  })

  test('204 on a reconnect ends it: nothing is active any more', async () => {
    const { post, ends } = setUp([answered('run-1', [started]), refused(204, null)])
    expect(await readAll(await post())).toEqual([started])
    expect(ends).toEqual([{ chatId: 'chat', chunkIndex: 1, outcome: 'inactive' }])
  })

  test.each([0, -1, Number.NaN])(
    'maxConsecutiveErrors %d counts as 3',
    async (maxConsecutiveErrors) => {
      const { server, post } = setUp(
        [answered('run-1', []), unreachable, unreachable, unreachable],
        { maxConsecutiveErrors },
      )
      await expect(readAll(await post())).rejects.toMatchObject({ code: 'disconnected' })
      expect(server.requests).toHaveLength(4)
    },
  )

  test('a connection that falls silent is replaced', async () => {
    const system = createManualSystem()
    const onCancel = vi.fn()
    const { post } = setUp(
      [answered('run-1', [started], { ending: 'stay-open', onCancel }), streamed([finished])],
      { system },
    )
    const reader = (await post()).getReader()
    await reader.read()
    const next = reader.read()
    await settle()
    system.advance(60_000)
    expect(await next).toEqual({ done: false, value: finished })
    expect(onCancel).toHaveBeenCalledOnce()
  })

  test('an abort during a pause ends it without another request', async () => {
    const system = createManualSystem({ pauses: 'hold' })
    const page = new AbortController()
    const { server, post, ends } = setUp([answered('run-1', [started])], { system })
    const reader = (await post({ abortSignal: page.signal })).getReader()
    await reader.read()
    const next = reader.read()
    await settle()
    expect(system.pauses).toHaveLength(1)
    page.abort()
    expect(await next).toEqual({ done: true, value: undefined })
    expect(server.requests).toHaveLength(1)
    expect(ends).toMatchObject([{ outcome: 'disconnected' }])
  })

  test('the page can show each change of the connection', async () => {
    const { post, changes } = setUp([
      answered('run-1', [started]),
      unreachable,
      streamed([finished]),
    ])
    await readAll(await post())
    expect(changes).toEqual([
      { state: 'open', chatId: 'chat' },
      { state: 'reconnecting', chatId: 'chat', attempt: 1, delayMs: 375 },
      { state: 'reconnecting', chatId: 'chat', attempt: 2, delayMs: 750 },
      { state: 'open', chatId: 'chat' },
      { state: 'closed', chatId: 'chat', outcome: 'finished' },
    ])
  })

  test('the hook sees run, chat, index, URL and headers each time, and may replace the URL', async () => {
    const seen: unknown[] = []
    const { server, post } = setUp(
      [answered('run-1', whole.slice(0, 2)), unreachable, streamed(whole.slice(2))],
      {
        headers: { 'x-session': 's' },
        prepareReconnectToStreamRequest: ({ runId, chatId, startIndex, api, headers }) => {
          seen.push({ runId, chatId, startIndex, api, headers })
          return { api: `https://tide.example${api}?startIndex=99&token=${seen.length}` }
        },
      },
    )
    expect(await readAll(await post())).toEqual(whole)
    const view = {
      runId: 'run-1',
      chatId: 'chat',
      startIndex: 2,
      api: '/api/chat/run-1/stream',
      headers: { 'x-session': 's' },
    }
    expect(seen).toEqual([view, view])
    expect(server.lines.slice(1)).toEqual([
      'GET https://tide.example/api/chat/run-1/stream?token=1&startIndex=2',
      'GET https://tide.example/api/chat/run-1/stream?token=2&startIndex=2',
    ])
    expect(server.requests[1]?.headers).toEqual({ accept: 'text/event-stream', 'x-session': 's' })
  })

  test('a hook that throws fails the chat', async () => {
    const { post } = setUp([answered('run-1', [started])], {
      prepareReconnectToStreamRequest: () => Promise.reject(new Error('no token')),
    })
    await expect(readAll(await post())).rejects.toThrow('no token')
  })
})

describe('a replay', () => {
  test('G28: a server that begins lower than asked does not make the page see chunks twice', async () => {
    for (let k = 1; k < whole.length; k += 1) {
      const { post, ends } = setUp([answered('run-1', whole.slice(0, k)), numbered(whole, 0)])
      expect(await readAll(await post())).toEqual(whole)
      expect(ends).toMatchObject([{ chunkIndex: whole.length }])
    }
  })

  test('a gap is never passed over', async () => {
    const { post, server } = setUp([
      answered('run-1', whole.slice(0, 2)),
      numbered(whole.slice(4), 4),
      numbered(whole.slice(2), 2),
    ])
    expect(await readAll(await post())).toEqual(whole)
    expect(server.lines[2]).toBe('GET /api/chat/run-1/stream?startIndex=2')
  })

  test('frame ids of a server that does not say where it begins are not taken for indexes', async () => {
    const odd = (chunks: readonly UiChunk[]): string[] =>
      chunks.map((chunk) => frameFromChunk(chunk, { index: 7 }))
    const { post } = setUp([
      answered('run-1', odd(whole.slice(0, 2))),
      streamed(odd(whole.slice(2))),
    ])
    expect(await readAll(await post())).toEqual(whole)
  })
})

describe('reconnectToStream', () => {
  test('C8, C11: nothing active is null, and no end is told', async () => {
    const { server, transport, ends, changes } = setUp([refused(204, null)])
    expect(await transport.reconnectToStream({ chatId: 'chat' })).toBeNull()
    expect(server.lines).toEqual(['GET /api/chat/chat/stream?startIndex=0'])
    expect([ends, changes]).toEqual([[], []])
  })

  test('reads the whole message, and later reconnects name the stream', async () => {
    const { server, transport, ends } = setUp([
      answered('run-1.2', whole.slice(0, 3)),
      streamed(whole.slice(3)),
    ])
    const stream = await transport.reconnectToStream({ chatId: 'chat', headers: { 'x-page': 'p' } })
    expect(await readAll(stream)).toEqual(whole)
    expect(server.lines).toEqual([
      'GET /api/chat/chat/stream?startIndex=0',
      'GET /api/chat/run-1.2/stream?startIndex=3',
    ])
    expect(server.requests.map(({ headers }) => headers['x-page'])).toEqual(['p', 'p'])
    expect(ends).toEqual([{ chatId: 'chat', chunkIndex: 7 + 1, outcome: 'finished' }])
  })

  test('C7: the first request is tried again, too', async () => {
    const { transport, system } = setUp([unreachable, refused(503), answered('run-1', whole)])
    expect(await readAll(await transport.reconnectToStream({ chatId: 'chat' }))).toEqual(whole)
    expect(system.pauses).toEqual([375, 750])
  })

  test.each([401, 410])('%i rejects', async (status) => {
    const { transport, ends } = setUp([refused(status)])
    await expect(transport.reconnectToStream({ chatId: 'chat' })).rejects.toMatchObject({ status })
    expect(ends).toMatchObject([{ outcome: 'failed' }])
  })

  test('C11: a chat that the server does not know has nothing to resume', async () => {
    const { transport, ends } = setUp([refused(404)])
    expect(await transport.reconnectToStream({ chatId: 'chat' })).toBeNull()
    expect(ends).toEqual([])
  })

  test('C1: a positive start is the cursor of a reader that has the chunks before it', async () => {
    for (let k = 1; k <= whole.length; k += 1) {
      const { transport, server } = setUp([answered('run-1', whole.slice(k)), refused(204, null)])
      const rest = await readAll(
        await transport.reconnectToStream({ chatId: 'chat', startIndex: k }),
      )
      expect(server.lines[0]).toBe(`GET /api/chat/chat/stream?startIndex=${k}`)
      const missingStart = { type: 'text-start', id: '1' } as const
      const added = k > 1 && k < whole.length - 1 ? [missingStart] : []
      expect(rest).toEqual([...added, ...whole.slice(k)])
    }
  })

  test('C2: a tail from a server that rewinds is delivered from where it says, whole', async () => {
    const { transport, server, system, ends } = setUp(
      [numbered(whole.slice(1, 5), 1), numbered(whole.slice(5), 5)],
      { initialStartIndex: -2 },
    )
    const stream = await transport.reconnectToStream({ chatId: 'run-1' })
    expect(await readAll(stream)).toEqual(whole.slice(1))
    expect(server.lines).toEqual([
      'GET /api/chat/run-1/stream?startIndex=-2',
      'GET /api/chat/run-1/stream?startIndex=5',
    ])
    expect(system.warnings).toEqual([])
    expect(ends).toMatchObject([{ chunkIndex: whole.length }])
  })

  test('a tail longer than the stream begins at 0', async () => {
    const { transport, server } = setUp([
      streamed(whole.slice(0, 3), { headers: { 'x-workflow-stream-tail-index': '2' } }),
      streamed(whole.slice(3)),
    ])
    const stream = await transport.reconnectToStream({ chatId: 'run-1', startIndex: -50 })
    expect(await readAll(stream)).toEqual(whole)
    expect(server.lines[1]).toBe('GET /api/chat/run-1/stream?startIndex=3')
  })

  test('G28: a tail whose beginning is not told is replaced by the whole, not delivered twice', async () => {
    const onCancel = vi.fn()
    const { transport, server, system } = setUp([
      streamed(whole.slice(4), { onCancel, ending: 'stay-open' }),
      streamed(whole.slice(0, 5)),
      streamed(whole.slice(5)),
    ])
    const stream = await transport.reconnectToStream({ chatId: 'run-1', startIndex: -4 })
    expect(await readAll(stream)).toEqual(whole)
    expect(server.lines.map((line) => line.split('=')[1])).toEqual(['-4', '0', '5'])
    expect(onCancel).toHaveBeenCalled()
    expect(system.warnings).toHaveLength(1)
  })

  test('an abort during the first request rejects and is a disconnect', async () => {
    const page = new AbortController()
    const { transport, ends } = setUp([
      () => {
        page.abort()
        throw page.signal.reason
      },
    ])
    const call = transport.reconnectToStream({ chatId: 'chat', abortSignal: page.signal })
    await expect(call).rejects.toMatchObject({ name: 'AbortError' })
    expect(ends).toMatchObject([{ outcome: 'disconnected' }])
  })

  test('tells useChat whether the whole message comes', async () => {
    const runHeader = { 'x-holdfast-run-id': 'run-1' }
    const { transport } = setUp([
      answered('run-1', whole, { headers: runHeader }),
      answered('run-1.2', whole, { headers: runHeader }),
      answered('run-1', whole.slice(4), { headers: { 'x-workflow-stream-tail-index': '7' } }),
    ])
    const seen: boolean[] = [transport.resumeStreamIsReplay]
    for (const startIndex of [0, 0, -4]) {
      await readAll(await transport.reconnectToStream({ chatId: 'chat', startIndex }))
      seen.push(transport.resumeStreamIsReplay)
    }
    expect(seen).toEqual([true, true, false, false])
  })
})
