import { ErrorCode } from '@holdfast/core'
import { createCatalog } from '@holdfast/workflow'
import { describe, expect, test } from 'vitest'
import { createChatHandler, createRunsHandler, httpAnswers } from '../src/index.ts'
import { ann, createWorld, errorOf, origin, runIdOfResponse, submit, user } from './chat-world.ts'

const hello = user('m1', 'hello')
const json = { 'content-type': 'application/json' }

interface Bad {
  readonly what: string
  readonly path?: string
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly status: number
  readonly code: string
}

function badMessage(what: string, message: unknown, more: Partial<Bad> = {}): Bad {
  return {
    what,
    body: { id: 'c1', messages: [message] },
    status: 422,
    code: 'message_invalid',
    ...more,
  }
}

const table: readonly Bad[] = [
  { what: 'no JSON', body: '{"id":', status: 400, code: 'json_invalid' },
  { what: 'an empty body', body: '', status: 400, code: 'json_invalid' },
  { what: 'an array', body: '[]', status: 400, code: 'arguments_invalid' },
  { what: 'a key twice', body: '{"id":"a","id":"b"}', status: 400, code: 'json_duplicate_key' },
  { what: 'more after the value', body: '{} {}', status: 400, code: 'json_trailing_data' },
  {
    what: 'a number no double holds',
    body: '{"n":12345678901234567890}',
    status: 400,
    code: 'json_number_unsafe',
  },
  { what: 'a lone surrogate', body: '{"a":"\\ud800"}', status: 400, code: 'json_unicode_invalid' },
  {
    what: 'nested too deep',
    body: '['.repeat(100) + ']'.repeat(100),
    status: 400,
    code: 'json_too_deep',
  },
  {
    what: 'no content type',
    body: '{}',
    headers: { 'content-type': 'text/plain' },
    status: 415,
    code: 'content_type_unsupported',
  },
  {
    what: 'another charset',
    body: '{}',
    headers: { 'content-type': 'application/json; charset=latin1' },
    status: 415,
    code: 'content_type_unsupported',
  },
  {
    what: 'a compressed body',
    body: '{}',
    headers: { ...json, 'content-encoding': 'gzip' },
    status: 415,
    code: 'content_type_unsupported',
  },
  {
    what: 'a body above the limit',
    body: `{"id":"${'x'.repeat(5_000_000)}"}`,
    status: 413,
    code: 'body_too_large',
  },
  { what: 'no id', body: { messages: [hello] }, status: 400, code: 'id_invalid' },
  {
    what: 'an id of another kind',
    body: { id: 7, messages: [hello] },
    status: 400,
    code: 'id_invalid',
  },
  ...['', 'a/b', '..', 'é', 'x'.repeat(65), '__proto__ '].map((id) => ({
    what: `the chat id ${JSON.stringify(id.slice(0, 10))}`,
    body: { id, messages: [hello] },
    status: 400,
    code: 'id_invalid',
  })),
  {
    what: 'an unknown trigger',
    body: { ...submit('c1', hello), trigger: 'else' },
    status: 400,
    code: 'arguments_invalid',
  },
  {
    what: 'a message id with a slash',
    body: { ...submit('c1', hello), messageId: 'a/b' },
    status: 400,
    code: 'id_invalid',
  },
  { what: 'no messages', body: { id: 'c1' }, status: 422, code: 'message_invalid' },
  { what: 'an empty list', body: submit('c1'), status: 422, code: 'message_invalid' },
  badMessage('messages that are no objects', 'hello'),
  badMessage('a system message', { ...hello, role: 'system' }),
  badMessage('no message id', { role: 'user', parts: hello.parts }),
  badMessage('a bad message id', { ...hello, id: 'a b' }),
  badMessage('no parts', { id: 'm1', role: 'user' }),
  badMessage('empty parts', { id: 'm1', role: 'user', parts: [] }),
  badMessage('blank text', user('m1', ' \n')),
  badMessage('too many parts', { ...hello, parts: Array(65).fill(hello.parts[0]) }),
  badMessage('a text part without text', { ...hello, parts: [{ type: 'text' }] }),
  badMessage('a part of another kind', { ...hello, parts: [{ type: 'tool-pay', input: {} }] }),
  badMessage('a file without type', { ...hello, parts: [{ type: 'file', url: 'data:,x' }] }),
  badMessage('a file with a script for URL', {
    ...hello,
    parts: [{ type: 'file', mediaType: 'text/plain', url: 'javascript:alert(1)' }],
  }),
  badMessage('a message above its limit', user('m1', 'x'.repeat(1_100_000)), {
    status: 413,
    code: 'limit_exceeded',
  }),
  badMessage('an approval without a decision', {
    id: 'r1',
    role: 'assistant',
    parts: [{ type: 'tool-x', toolCallId: 't', state: 'approval-responded', approval: {} }],
  }),
  {
    what: 'a decision in a chat that does not exist',
    body: submit('c9', { id: 'r1', role: 'assistant', parts: [] }),
    status: 404,
    code: 'chat_not_found',
  },
  ...['1.5', 'x', '', '1e3', '99999999999999999999', '0x10', '+1'].map((index) => ({
    what: `startIndex=${index}`,
    path: `/api/chat/{run}/stream?startIndex=${encodeURIComponent(index)}`,
    method: 'GET',
    status: 400,
    code: 'arguments_invalid',
  })),
  ...['x', '-1', '1.5'].map((id) => ({
    what: `Last-Event-ID ${id}`,
    path: '/api/chat/{run}/stream',
    method: 'GET',
    headers: { 'last-event-id': id },
    status: 400,
    code: 'arguments_invalid',
  })),
  ...['nothing', '..%2f..', '{run}.1', '{run}.01', '{run}.3', '{run}.x'].map((id) => ({
    what: `the stream ${id}`,
    path: `/api/chat/${id}/stream`,
    method: 'GET',
    status: 404,
    code: 'stream_not_found',
  })),
  {
    what: 'a path that cannot be decoded',
    path: '/api/chat/%ff/stream',
    method: 'GET',
    status: 400,
    code: 'arguments_invalid',
  },
  {
    what: 'an unknown resource',
    path: '/api/chat/c1/else',
    method: 'GET',
    status: 404,
    code: 'not_found',
  },
  {
    what: 'a longer path',
    path: '/api/chat/c1/stream/x',
    method: 'GET',
    status: 404,
    code: 'not_found',
  },
  { what: 'PUT', path: '/api/chat', method: 'PUT', status: 405, code: 'method_not_allowed' },
  {
    what: 'POST to a stream',
    path: '/api/chat/c1/stream',
    method: 'POST',
    status: 405,
    code: 'method_not_allowed',
  },
  {
    what: 'GET of a cancel',
    path: '/api/chat/c1/cancel',
    method: 'GET',
    status: 405,
    code: 'method_not_allowed',
  },
  ...['0', '101', 'x', '-1'].map((limit) => ({
    what: `limit=${limit}`,
    path: `/api/chat?limit=${limit}`,
    method: 'GET',
    status: 400,
    code: 'arguments_invalid',
  })),
  {
    what: 'a cursor that is none',
    path: '/api/chat?after=x',
    method: 'GET',
    status: 400,
    code: 'arguments_invalid',
  },
]

describe('bad input is refused with its status, and the server goes on', () => {
  for (const { what, path = '/api/chat', method = 'POST', body, headers, status, code } of table) {
    test(`${status} ${code}: ${what}`, async () => {
      const world = createWorld()
      const runId = runIdOfResponse(await world.post(submit('known', hello)))
      const response = await world.fetch(path.replace('{run}', runId), {
        method,
        headers: headers ?? (body === undefined ? {} : json),
        ...(body === undefined
          ? {}
          : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      expect({ status: response.status, body: JSON.parse(text) }).toEqual({
        status,
        body: { error: { code, message: expect.any(String) } },
      })
      expect(Object.keys(JSON.parse(text))).toEqual(['error'])
      expect((await world.store.runs(ann)).items).toHaveLength(1)
      expect((await world.fetch('/api/chat/known/messages')).status).toBe(200)
    })
  }

  test('401 unauthenticated: no session', async () => {
    const world = createWorld()
    const response = await world.fetch('/api/chat', { as: '' })
    expect(response.status).toBe(401)
    expect((await errorOf(response)).code).toBe('unauthenticated')
  })

  test('a host’s own refusal is sent as it is', async () => {
    const world = createWorld({ authorize: () => new Response('closed', { status: 418 }) })
    expect((await world.fetch('/api/chat')).status).toBe(418)
  })

  test('405 says what is allowed', async () => {
    const response = await createWorld().fetch('/api/chat', { method: 'PATCH' })
    expect(response.headers.get('allow')).toBe('GET, POST')
  })

  test('409 chat_id_taken: the id of a run', async () => {
    const world = createWorld()
    const runId = runIdOfResponse(await world.post(submit('c1', hello)))
    for (const id of [runId, runId.toUpperCase()]) {
      const response = await world.post(submit(id, hello))
      expect(response.status).toBe(409)
      expect((await errorOf(response)).code).toBe('chat_id_taken')
    }
  })

  test('a chat may be named by a UUID that is no run’s', async () => {
    const world = createWorld()
    const id = '0190a0a0-1111-7000-8000-000000000001'
    const runId = runIdOfResponse(await world.post(submit(id, hello)))
    expect((await world.fetch(`/api/chat/${id}/stream`)).headers.get('x-workflow-run-id')).toBe(
      runId,
    )
  })

  test('a body whose length is not told is bounded while it is read', async () => {
    const world = createWorld()
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1
        controller.enqueue(new Uint8Array(65_536).fill(32))
      },
    })
    const request = new Request(`${origin}/api/chat`, {
      method: 'POST',
      headers: { ...json, 'x-user': 'ann' },
      body: endless,
      duplex: 'half',
    } as RequestInit)
    const response = await world.handler.handle(request)
    expect(response?.status).toBe(413)
    expect(pulled).toBeLessThan(70)
  })

  test('429 rate_limited: more than 20 a second, of one session only', async () => {
    const world = createWorld({ limits: { requestsPerSecond: 20 } })
    const statuses: number[] = []
    for (let at = 0; at < 21; at += 1) statuses.push((await world.fetch('/api/chat')).status)
    expect(statuses).toEqual([...Array<number>(20).fill(200), 429])
    const refused = await world.fetch('/api/chat')
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await errorOf(refused)).code).toBe('rate_limited')
    expect((await world.fetch('/api/chat', { as: 'bob' })).status).toBe(200)
    await world.system.advance(50)
    expect((await world.fetch('/api/chat')).status).toBe(200)
    expect((await world.fetch('/api/chat')).status).toBe(429)
  })

  test('nothing of the inside is told: a bug, a broken store, an unknown definition', async () => {
    for (const [error, status, code] of [
      [new Error('postgres://user:password@host'), 500, 'internal'],
      [Object.assign(new Error('disk 7'), { code: 'store_closed' }), 500, 'internal'],
    ] as const) {
      const world = createWorld({
        agent: () => {
          throw error
        },
      })
      const response = await world.post(submit('c1', hello))
      expect(response.status).toBe(status)
      const text = await response.text()
      expect(text).toContain(code)
      expect(text).not.toContain(error.message)
      expect(world.log.records.some(({ cause }) => cause === error)).toBe(true)
    }
  })

  test('a store that is closed is unavailable for now', async () => {
    const world = createWorld()
    await world.store.close()
    const response = await world.post(submit('c1', hello))
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    expect((await errorOf(response)).code).toBe('store_unavailable')
  })

  test('every code has its answer, and what is hidden is a failure of the server', () => {
    expect(Object.keys(httpAnswers).toSorted()).toEqual(Object.values(ErrorCode).toSorted())
    for (const { status, told } of Object.values(httpAnswers)) {
      expect(status).toBeGreaterThanOrEqual(400)
      if (!told) expect(status).toBeGreaterThanOrEqual(500)
    }
  })

  test('a path outside of the base is not answered', async () => {
    const world = createWorld()
    for (const path of ['/api/chats', '/api/chat2/x/stream', '/', '/api']) {
      expect((await world.fetch(path)).status).toBe(599)
    }
  })

  test('options that cannot be are refused when the handler is made', () => {
    const world = createWorld()
    const options = {
      authorize: () => undefined,
      store: world.store,
      supervisors: world.runs,
      agent: { name: 'assistant', version: 'v1' },
    }
    expect(() => createChatHandler({ ...options, basePath: 'api' })).toThrow('basePath')
    expect(() => createChatHandler({ ...options, limits: { bodyBytes: 0 } })).toThrow('bodyBytes')
    expect(() => createChatHandler({ ...options, limits: { readerBufferChunks: 1e9 } })).toThrow(
      'readerBufferChunks',
    )
  })
})

describe('bad input to the runs', () => {
  const bad: readonly (readonly [string, string, string | undefined, number, string])[] = [
    ['GET', '?limit=0', undefined, 400, 'arguments_invalid'],
    ['GET', '?after=x', undefined, 400, 'arguments_invalid'],
    ['GET', '?order=up', undefined, 400, 'arguments_invalid'],
    ['GET', '?status=done', undefined, 400, 'arguments_invalid'],
    ['GET', '?definition=', undefined, 400, 'arguments_invalid'],
    ['POST', '', '{}', 405, 'method_not_allowed'],
    ['DELETE', '/{run}', undefined, 405, 'method_not_allowed'],
    ['GET', '/{run}/else', undefined, 404, 'not_found'],
    ['GET', '/nothing', undefined, 404, 'run_not_found'],
    ['POST', '/{run}/resume', '{}', 400, 'arguments_invalid'],
    ['POST', '/{run}/resume', '{"resume":1}', 400, 'arguments_invalid'],
    ['POST', '/{run}/resume', '{"resume":{},"by":"host"}', 400, 'arguments_invalid'],
    ['POST', '/{run}/resume', '{"resume":{},"interrupt_id":7}', 400, 'arguments_invalid'],
    ['POST', '/{run}/resume', '{"resume":{}}', 409, 'run_not_interrupted'],
    ['POST', '/{run}/resume', '{"resume":{},"interrupt_id":"x"}', 404, 'interrupt_not_found'],
    ['POST', '/{run}/cancel', '{"reason":7}', 400, 'arguments_invalid'],
    ['POST', '/{run}/cancel', '{"now":true}', 400, 'arguments_invalid'],
  ]
  for (const [method, path, body, status, code] of bad) {
    test(`${status} ${code}: ${method} ${path} ${body ?? ''}`, async () => {
      const world = createWorld()
      const runId = runIdOfResponse(await world.post(submit('c1', hello)))
      const runs = createRunsHandler({
        authorize: () => ({ sessionId: ann }),
        store: world.store,
        supervisors: world.runs,
        catalog: createCatalog([]),
      })
      const response = await runs.handle(
        new Request(`${origin}/api/runs${path.replace('{run}', runId)}`, {
          method,
          ...(body === undefined ? {} : { body, headers: json }),
        }),
      )
      expect(response?.status).toBe(status)
      expect(await response?.json()).toMatchObject({ error: { code } })
    })
  }
})
