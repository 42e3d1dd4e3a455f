import type { UiChunk } from '@holdfast/chat-protocol'
import { renderMessage } from '@holdfast/chat-protocol'
import type { UIMessage } from 'ai'
import { describe, expect, test, vi } from 'vitest'
import {
  answered,
  finished,
  readAll,
  refused,
  started,
  streamed,
  textMessage,
  unreachable,
} from './scripted-fetch.ts'
import { question, setUp } from './setup.ts'

const delta = { type: 'text-delta', id: '1', delta: 'low' } as const
const start = { type: 'text-start', id: '1' } as const
const end = { type: 'text-end', id: '1' } as const

describe('sendMessages, acceptance', () => {
  test('8.6 #1: a POST is made and its chunks are delivered', async () => {
    const said = [started, start, delta, finished]
    const { server, post, ends } = setUp([answered('run-1', said)])
    expect(await readAll(await post())).toEqual(said)
    expect(server.lines).toEqual(['POST /api/chat'])
    expect(ends).toEqual([{ chatId: 'chat', chunkIndex: 4, outcome: 'finished' }])
  })

  test('8.6 #2: an answer that names no stream is an error', async () => {
    const { post, ends } = setUp([streamed([finished])])
    await expect(post()).rejects.toMatchObject({
      code: 'run_id_missing',
      message: 'Workflow run ID not found in "x-workflow-run-id" response header.',
    })
    expect(ends).toEqual([{ chatId: 'chat', chunkIndex: 0, outcome: 'failed' }])
  })

  test('8.6 #3: a malformed frame ends its connection, and what follows it there is ignored', async () => {
    const { server, post } = setUp([
      answered('run-1', [started, 'data: {"type":\n\n', { ...delta, delta: 'ignored' }, finished]),
      streamed([start, delta, finished]),
    ])
    expect(await readAll(await post())).toEqual([started, start, delta, finished])
    expect(server.lines).toEqual(['POST /api/chat', 'GET /api/chat/run-1/stream?startIndex=1'])
  })

  test('8.6 #4: a stream that ends without a finish is read on where it was left', async () => {
    const { server, post, ends } = setUp([
      answered('run-2', [started]),
      streamed([start, delta, finished]),
    ])
    expect(await readAll(await post({ chatId: 'chat-2' }))).toHaveLength(4)
    expect(server.lines[1]).toBe('GET /api/chat/run-2/stream?startIndex=1')
    expect(ends).toEqual([{ chatId: 'chat-2', chunkIndex: 4, outcome: 'finished' }])
  })

  test('8.6 #5: an orphan delta gets a start', async () => {
    const { post, ends } = setUp([answered('run-1', [delta, end, finished])])
    expect(await readAll(await post())).toEqual([start, delta, end, finished])
    expect(ends).toMatchObject([{ chunkIndex: 3 }])
  })

  test('8.6 #6: reset-step clears the framing, so a reused id is taken', async () => {
    const said = [start, delta, end, { type: 'reset-step' } as const, start, delta, finished]
    const { post } = setUp([answered('run-1', said)])
    expect(await readAll(await post())).toEqual(said)
  })

  test('8.6 #7: a tail of 6 from a server that does not rewind loses what has no beginning', async () => {
    const thought = { type: 'reasoning-delta', id: '9', delta: 'hm' } as const
    const tail: UiChunk[] = [
      thought,
      { type: 'reasoning-end', id: '9' },
      start,
      delta,
      end,
      finished,
    ]
    const { server, system, transport, ends } = setUp(
      [streamed(tail, { headers: { 'x-workflow-stream-tail-index': '9' } })],
      { initialStartIndex: -6 },
    )
    const stream = await transport.reconnectToStream({ chatId: 'run-3' })
    expect(await readAll(stream)).toEqual([start, delta, end, finished])
    expect(server.lines).toEqual(['GET /api/chat/run-3/stream?startIndex=-6'])
    expect(ends).toEqual([{ chatId: 'run-3', chunkIndex: 10, outcome: 'finished' }])
    expect(system.warnings).toHaveLength(1)
  })

  test('8.6 #8: onChatSendMessage sees the headers of the answer and the chat', async () => {
    const onChatSendMessage = vi.fn()
    const { post } = setUp([answered('run-1', [finished])], { onChatSendMessage })
    await readAll(await post())
    const [response, options] = onChatSendMessage.mock.calls[0] ?? []
    expect(response.headers.get('x-workflow-run-id')).toBe('run-1')
    expect(options).toMatchObject({ chatId: 'chat', trigger: 'submit-message' })
  })

  test('8.6 #9: an abort frees the connection of a page that has stopped reading', async () => {
    const onCancel = vi.fn()
    const page = new AbortController()
    const { post, ends, server } = setUp([
      answered('run-1', [started, start, delta, delta], { ending: 'stay-open', onCancel }),
    ])
    const reader = (await post({ abortSignal: page.signal })).getReader()
    await reader.read()
    page.abort()
    expect(onCancel).toHaveBeenCalledOnce()
    expect(await reader.read()).toEqual({ done: true, value: undefined })
    expect(ends).toEqual([{ chatId: 'chat', chunkIndex: 1, outcome: 'disconnected' }])
    expect(server.requests).toHaveLength(1)
  })
})

describe('the POST', () => {
  test('C10: content type, accept, id, trigger, message id and the headers of transport and call are sent', async () => {
    const { server, post } = setUp([answered('run-1', [finished])], {
      headers: async () => ({ 'X-Transport': '1', 'x-both': 'transport' }),
      body: { place: 'pier' },
      credentials: () => 'include' as const,
    })
    await readAll(
      await post({
        trigger: 'regenerate-message',
        messageId: 'question',
        headers: new Headers({ 'X-Both': 'call' }),
        body: { tide: 'low' },
      }),
    )
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      credentials: 'include',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'x-transport': '1',
        'x-both': 'call',
      },
    })
    expect(server.requests[0]?.body).toEqual({
      place: 'pier',
      tide: 'low',
      id: 'chat',
      messages: [question],
      trigger: 'regenerate-message',
      messageId: 'question',
    })
  })

  test('the hook may replace URL, body, headers and credentials; reconnects start from its URL', async () => {
    const prepareSendMessagesRequest = vi.fn(() => ({
      api: '/api/harbour?tenant=a%20b#top',
      body: { only: 'this' },
      headers: { 'x-hook': '1' },
      credentials: 'omit' as const,
    }))
    const { server, post } = setUp([answered('run/1', [started]), streamed([finished])], {
      headers: { 'x-transport': '1' },
      prepareSendMessagesRequest,
    })
    await readAll(await post({ metadata: { from: 'page' } }))
    expect(prepareSendMessagesRequest).toHaveBeenCalledWith(
      expect.objectContaining({
        api: '/api/chat',
        id: 'chat',
        messages: [question],
        requestMetadata: { from: 'page' },
        headers: { 'x-transport': '1' },
      }),
    )
    expect(server.requests[0]).toMatchObject({
      url: '/api/harbour?tenant=a%20b#top',
      body: { only: 'this' },
      credentials: 'omit',
    })
    expect(server.requests[0]?.headers).toEqual({
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'x-hook': '1',
    })
    expect(server.lines[1]).toBe('GET /api/harbour/run%2F1/stream?tenant=a%20b&startIndex=1#top')
  })

  test('a refusal is an error with the status and the start of the body', async () => {
    const { post, ends } = setUp([refused(422, ` ${'x'.repeat(9000)}`)])
    const error = await post().catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'request_failed', status: 422 })
    expect(String(error)).toContain('Failed to fetch chat: 422 xxx')
    expect(String(error).length).toBeLessThan(4200)
    expect(ends).toMatchObject([{ outcome: 'failed' }])
  })

  test('a network error is tried once more, then told as a lost connection', async () => {
    const { server, post, ends } = setUp([unreachable, unreachable])
    const error = await post().catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toMatchObject({
      code: 'disconnected',
      message: expect.stringMatching(/network/i),
    })
    expect(server.requests).toHaveLength(2)
    expect(server.requests[1]?.body).toEqual(server.requests[0]?.body)
    expect(ends).toMatchObject([{ outcome: 'failed' }])
  })

  test.each([
    ['a network error', unreachable, 250],
    ['503', refused(503), 250],
    ['503 with retry-after', refused(503, 'draining', { 'retry-after': '2' }), 2000],
    ['409 with retry-after', refused(409, 'busy', { 'retry-after': '1' }), 1000],
  ])('%s is survived after a pause', async (_name, reply, least) => {
    const { system, post } = setUp([reply, answered('run-1', textMessage('low'))])
    expect(await readAll(await post())).toEqual(textMessage('low'))
    expect(system.pauses).toHaveLength(1)
    expect(system.pauses[0]).toBeGreaterThanOrEqual(least)
  })

  test.each([
    ['409 without retry-after', refused(409)],
    ['retry-after beyond patience', refused(503, 'no', { 'retry-after': '3600' })],
    ['500', refused(500)],
    ['404', refused(404)],
  ])('%s is not tried again', async (_name, reply) => {
    const { server, post } = setUp([reply])
    await expect(post()).rejects.toMatchObject({ code: 'request_failed' })
    expect(server.requests).toHaveLength(1)
  })

  test('a regeneration is not sent twice into the dark, nor anything with retrySend off', async () => {
    const regeneration = setUp([unreachable])
    await expect(regeneration.post({ trigger: 'regenerate-message' })).rejects.toThrow(
      'fetch failed',
    )
    const careful = setUp([unreachable], { retrySend: false })
    await expect(careful.post()).rejects.toThrow('fetch failed')
    expect([regeneration.server.requests.length, careful.server.requests.length]).toEqual([1, 1])
  })

  test('an abort before the answer rejects with its reason and is a disconnect', async () => {
    const page = new AbortController()
    const { post, ends } = setUp([
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason)
          })
          page.abort()
        }),
    ])
    await expect(post({ abortSignal: page.signal })).rejects.toMatchObject({ name: 'AbortError' })
    expect(ends).toEqual([{ chatId: 'chat', chunkIndex: 0, outcome: 'disconnected' }])
  })

  test('a throw of onChatSendMessage fails the call, closes the connection and is told once', async () => {
    const onCancel = vi.fn()
    const { post, ends } = setUp(
      [answered('run-1', [started], { ending: 'stay-open', onCancel })],
      {
        onChatSendMessage: () => {
          throw new Error('not today')
        },
      },
    )
    await expect(post()).rejects.toThrow('not today')
    expect(onCancel).toHaveBeenCalledOnce()
    expect(ends).toMatchObject([{ outcome: 'failed' }])
  })
})

describe('the end', () => {
  test.each([
    [finished, 'finished'],
    [{ type: 'abort', reason: 'stopped' }, 'aborted'],
    [{ type: 'error', errorText: 'An error occurred.' }, 'failed'],
  ] as const)(
    'C9: %j ends it at once, even if the server keeps the connection open',
    async (chunk, outcome) => {
      const onCancel = vi.fn()
      const { server, post, ends } = setUp([
        answered('run-1', [started, chunk], { ending: 'stay-open', onCancel }),
      ])
      expect(await readAll(await post())).toEqual([started, chunk])
      expect(onCancel).toHaveBeenCalled()
      expect(server.requests).toHaveLength(1)
      expect(ends).toEqual([{ chatId: 'chat', chunkIndex: 2, outcome }])
    },
  )

  test('C12: a run that pauses for approval ends its stream, and the page has the request', async () => {
    const said: UiChunk[] = [
      started,
      { type: 'start-step' },
      { type: 'tool-input-available', toolCallId: 'c', toolName: 'dig', input: {} },
      { type: 'tool-approval-request', toolCallId: 'c', approvalId: 'a' },
      { type: 'finish-step' },
      { type: 'finish', finishReason: 'tool-calls' },
    ]
    const { post, ends } = setUp([answered('run-1', said, { ending: 'stay-open' })])
    expect(renderMessage((await readAll(await post())) as UiChunk[])).toMatchObject({
      status: 'finished',
      parts: [{ type: 'step-start' }, { state: 'approval-requested' }],
    })
    expect(ends).toMatchObject([{ outcome: 'finished' }])
  })

  test('the stream closes once onChatEnd has resolved', async () => {
    const order: string[] = []
    const { post } = setUp([answered('run-1', [finished])], {
      onChatEnd: async () => {
        await Promise.resolve()
        await Promise.resolve()
        order.push('told')
      },
    })
    const reader = (await post()).getReader()
    await reader.read()
    await reader.read()
    order.push('closed')
    expect(order).toEqual(['told', 'closed'])
  })

  test('a throw of onChatEnd does no harm', async () => {
    const { post, system } = setUp([answered('run-1', [finished])], {
      onChatEnd: () => Promise.reject(new Error('mine')),
    })
    expect(await readAll(await post())).toEqual([finished])
    expect(system.warnings).toEqual(['onChatEnd threw; the chat went on.'])
  })

  test('a page that cancels its stream disconnects, once', async () => {
    const onCancel = vi.fn()
    const { post, ends } = setUp([
      answered('run-1', [started, start], { ending: 'stay-open', onCancel }),
    ])
    const stream = await post()
    const reader = stream.getReader()
    await reader.read()
    await reader.cancel()
    expect(onCancel).toHaveBeenCalledOnce()
    expect(ends).toEqual([{ chatId: 'chat', chunkIndex: 1, outcome: 'disconnected' }])
  })

  test('an abort while nothing comes ends the stream quietly and does not reconnect', async () => {
    const page = new AbortController()
    const { post, ends, server } = setUp([answered('run-1', [started], { ending: 'stay-open' })])
    const reader = (await post({ abortSignal: page.signal })).getReader()
    await reader.read()
    const next = reader.read()
    page.abort()
    expect(await next).toEqual({ done: true, value: undefined })
    expect(ends).toMatchObject([{ outcome: 'disconnected' }])
    expect(server.requests).toHaveLength(1)
  })

  test('an abort after the end is not told', async () => {
    const page = new AbortController()
    const { post, ends } = setUp([answered('run-1', [finished])])
    await readAll(await post({ abortSignal: page.signal }))
    page.abort()
    expect(ends).toMatchObject([{ outcome: 'finished' }])
  })
})

describe('stop', () => {
  test('C4: asks the server to cancel, and the abort that follows ends the reader without a reconnect', async () => {
    const { server, transport, post, ends } = setUp(
      [answered('run-1', [started, { type: 'abort' }]), refused(200, '{}')],
      { api: '/api/chat/?v=1', headers: { 'x-session': 's' } },
    )
    const stream = await post()
    await transport.stop({ chatId: 'chat', headers: { 'x-page': 'p' } })
    await readAll(stream)
    expect(server.lines).toEqual(['POST /api/chat/?v=1', 'POST /api/chat/chat/cancel?v=1'])
    expect(server.requests[1]?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-session': 's',
      'x-page': 'p',
    })
    expect(ends).toMatchObject([{ outcome: 'aborted' }])
  })

  test('is tried again while the server is away, and takes that the run has ended already', async () => {
    const { server, system, transport } = setUp([unreachable, refused(503), refused(409)])
    await transport.stop({ chatId: 'chat' })
    expect(server.requests).toHaveLength(3)
    expect(system.pauses).toHaveLength(2)
  })

  test('a refusal is told', async () => {
    const { transport } = setUp([refused(404)])
    await expect(transport.stop({ chatId: 'chat' })).rejects.toMatchObject({ status: 404 })
  })

  test.each(['', '.', '..'])('the chat id %j is no part of a path', async (chatId) => {
    const { transport, server } = setUp([])
    await expect(transport.stop({ chatId })).rejects.toMatchObject({ code: 'id_invalid' })
    expect(server.requests).toEqual([])
  })
})

describe('several chats', () => {
  test('of one transport do not disturb each other', async () => {
    const { post, ends } = setUp([
      answered('run-1', textMessage('a')),
      answered('run-2', textMessage('b', 'c')),
    ])
    const [one, two] = await Promise.all([post({ chatId: 'one' }), post({ chatId: 'two' })])
    const both = await Promise.all([readAll(one), readAll(two)])
    expect(both).toEqual([textMessage('a'), textMessage('b', 'c')])
    expect(ends.map(({ chatId, chunkIndex }) => [chatId, chunkIndex])).toEqual(
      expect.arrayContaining([
        ['one', 5],
        ['two', 6],
      ]),
    )
  })
})

test('messages of any kind of the page are sent as they are', async () => {
  const { server, post } = setUp([answered('run-1', [finished])])
  const answer: UIMessage = {
    id: 'answer',
    role: 'assistant',
    parts: [
      {
        type: 'dynamic-tool',
        toolName: 'dig',
        toolCallId: 'c',
        state: 'approval-responded',
        input: {},
        approval: { id: 'a', approved: false, reason: 'no' },
      },
    ],
  }
  await readAll(await post({ messages: [question, answer], messageId: 'answer' }))
  expect(server.requests[0]?.body).toMatchObject({
    trigger: 'submit-message',
    messageId: 'answer',
    messages: [question, answer],
  })
})
