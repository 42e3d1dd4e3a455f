import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, openBrowser, type RawRequest, says, sendRaw, textOf } from './browser.ts'
import { type Desk, openDesk } from './desk.ts'
import { expectError } from './error-answer.ts'

const json = { 'content-type': 'application/json' }
const run = `/api/runs/${randomUUID()}`
const message = says('look up order 1001')
const turn = { id: 'c1', messages: [message], trigger: 'submit-message' }
const mebibyte = 1024 * 1024

interface Bad extends Omit<RawRequest, 'path'> {
  readonly what: string
  readonly path?: string
  readonly status: number
  readonly code: string
}

/** Where a body of JSON is read. */
const bodyPaths = ['/api/chat', `${run}/resume`, `${run}/cancel`]

const bodies: readonly Bad[] = bodyPaths.flatMap((path): readonly Bad[] => {
  const post = { path, method: 'POST', headers: json }
  const refused = (what: string, body: string, code: string): Bad => ({
    ...post,
    what: `${what} to ${path.replace(run, '/api/runs/{id}')}`,
    body,
    status: 400,
    code,
  })
  const otherType = (what: string, headers: Readonly<Record<string, string>>): Bad => ({
    ...refused(what, '{}', 'content_type_unsupported'),
    headers,
    status: 415,
  })
  const tooLarge = (what: string, more: Partial<RawRequest>): Bad => ({
    ...refused(what, '', 'body_too_large'),
    status: 413,
    ...more,
  })
  return [
    refused('half of a value', '{"id":', 'json_invalid'),
    refused('no JSON', 'id=c1', 'json_invalid'),
    refused('a comment', '{} // yes', 'json_trailing_data'),
    refused('two values', '{} {}', 'json_trailing_data'),
    refused('a key twice', '{"id":"a","id":"b"}', 'json_duplicate_key'),
    refused('a lone surrogate', '{"id":"\\udc00"}', 'json_unicode_invalid'),
    refused('a number that no double holds', '{"id":1e999}', 'json_number_unsafe'),
    refused('100,000 arrays', '['.repeat(100_000), 'json_too_deep'),
    refused('a list', '[]', 'arguments_invalid'),
    refused('null', 'null', 'arguments_invalid'),
    otherType('text', { 'content-type': 'text/plain' }),
    otherType('a form', { 'content-type': 'application/x-www-form-urlencoded' }),
    otherType('no content type', {}),
    otherType('JSON in another charset', { 'content-type': 'application/json; charset=utf-16' }),
    otherType('a compressed body', { ...json, 'content-encoding': 'gzip' }),
    tooLarge('4 MiB and a byte', { body: `"${'x'.repeat(4 * mebibyte - 1)}"` }),
    tooLarge('4 MiB and a byte in chunks', {
      body: `"${'x'.repeat(4 * mebibyte - 1)}"`,
      isChunked: true,
    }),
    tooLarge('a gigabyte that is only announced', { body: '{', declaredLength: 1024 * mebibyte }),
  ]
})

const bytesThatAreNoText: Bad = {
  what: 'bytes that are no UTF-8',
  method: 'POST',
  headers: json,
  body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  status: 400,
  code: 'json_unicode_invalid',
}

const bodyOf = (what: string, body: object, status: number, code: string, path?: string): Bad => ({
  what,
  method: 'POST',
  headers: json,
  body: JSON.stringify(body),
  status,
  code,
  ...(path === undefined ? {} : { path }),
})

const turns: readonly Bad[] = [
  bodyOf('a turn without a chat', { ...turn, id: undefined }, 400, 'id_invalid'),
  bodyOf('a chat id that climbs', { ...turn, id: '../../etc/passwd' }, 400, 'id_invalid'),
  bodyOf('a chat id with SQL', { ...turn, id: "x'; drop table run;--" }, 400, 'id_invalid'),
  bodyOf('a chat id that is too long', { ...turn, id: 'x'.repeat(65) }, 400, 'id_invalid'),
  bodyOf('a trigger of its own', { ...turn, trigger: 'delete' }, 400, 'arguments_invalid'),
  bodyOf('no message', { ...turn, messages: [] }, 422, 'message_invalid'),
  bodyOf('messages that are none', { ...turn, messages: [1] }, 422, 'message_invalid'),
  bodyOf(
    'a system message',
    { ...turn, messages: [{ ...message, role: 'system' }] },
    422,
    'message_invalid',
  ),
  bodyOf('an empty text', { ...turn, messages: [says(' ')] }, 422, 'message_invalid'),
  bodyOf(
    'a script for a file',
    {
      ...turn,
      messages: [{ ...message, parts: [{ type: 'file', mediaType: 'a/b', url: 'javascript:1' }] }],
    },
    422,
    'message_invalid',
  ),
  bodyOf(
    'a message of 2 MiB',
    { ...turn, messages: [says('x'.repeat(2 * mebibyte))] },
    413,
    'limit_exceeded',
  ),
  bodyOf(
    'an answer that is no object',
    { resume: 'yes' },
    400,
    'arguments_invalid',
    `${run}/resume`,
  ),
  bodyOf(
    'an answer with more in it',
    { resume: {}, by: 'person' },
    400,
    'arguments_invalid',
    `${run}/resume`,
  ),
  bodyOf('a reason that is no text', { reason: 7 }, 400, 'arguments_invalid', `${run}/cancel`),
]

const unknown: readonly Bad[] = [
  {
    what: 'the stream of no chat',
    path: '/api/chat/nobody/stream',
    status: 404,
    code: 'stream_not_found',
  },
  {
    what: 'the stream of no run',
    path: `/api/chat/${randomUUID()}/stream`,
    status: 404,
    code: 'stream_not_found',
  },
  {
    what: 'the stream of no stream',
    path: `/api/chat/${randomUUID()}.2/stream`,
    status: 404,
    code: 'stream_not_found',
  },
  {
    what: 'stopping no chat',
    path: '/api/chat/nobody/cancel',
    method: 'POST',
    status: 404,
    code: 'stream_not_found',
  },
  {
    what: 'the messages of no chat',
    path: '/api/chat/nobody/messages',
    status: 404,
    code: 'chat_not_found',
  },
  {
    what: 'forgetting no chat',
    path: '/api/chat/nobody',
    method: 'DELETE',
    status: 404,
    code: 'chat_not_found',
  },
  bodyOf(
    'answering anew in no chat',
    { id: 'nobody', trigger: 'regenerate-message', messages: [] },
    404,
    'chat_not_found',
  ),
  { what: 'no run', path: run, status: 404, code: 'run_not_found' },
  { what: 'the history of no run', path: `${run}/history`, status: 404, code: 'run_not_found' },
  bodyOf('an answer to no run', { resume: {} }, 404, 'run_not_found', `${run}/resume`),
  {
    what: 'cancelling no run',
    path: `${run}/cancel`,
    method: 'POST',
    status: 404,
    code: 'run_not_found',
  },
  {
    what: 'an id that is none',
    path: '/api/runs/1%20or%201=1',
    status: 404,
    code: 'run_not_found',
  },
  {
    what: 'an id with a zero byte',
    path: '/api/chat/a%00b/messages',
    status: 404,
    code: 'chat_not_found',
  },
  {
    what: 'an id of 8,000 letters',
    path: `/api/chat/${'x'.repeat(8_000)}/stream`,
    status: 404,
    code: 'stream_not_found',
  },
  {
    what: 'a path that cannot be decoded',
    path: '/api/chat/%zz/stream',
    status: 400,
    code: 'arguments_invalid',
  },
  { what: 'a path below a stream', path: '/api/chat/a/stream/b', status: 404, code: 'not_found' },
  {
    what: 'an unknown part of a chat',
    path: '/api/chat/a/secrets',
    status: 404,
    code: 'not_found',
  },
  { what: 'an unknown part of a run', path: `${run}/state`, status: 404, code: 'not_found' },
  { what: 'an unknown part of the API', path: '/api/admin', status: 404, code: 'not_found' },
  { what: 'a file that is not there', path: '/assets/none.js', status: 404, code: 'not_found' },
  { what: 'a file above the page', path: '/../../package.json', status: 404, code: 'not_found' },
  { what: 'the database', path: '/..%2fdesk.db', status: 404, code: 'not_found' },
  {
    what: 'a file above the page, encoded',
    path: '/%2e%2e/%2e%2e/etc/hosts.js',
    status: 404,
    code: 'not_found',
  },
]

const methods: readonly Bad[] = [
  ['/api/chat', 'PUT'],
  ['/api/chat/c1', 'GET'],
  ['/api/chat/c1/stream', 'POST'],
  ['/api/chat/c1/cancel', 'GET'],
  ['/api/chat/c1/messages', 'DELETE'],
  ['/api/runs', 'POST'],
  [run, 'DELETE'],
  [`${run}/history`, 'POST'],
  [`${run}/resume`, 'GET'],
  [`${run}/cancel`, 'GET'],
].map(([path = '', method = '']) => ({
  what: `${method} ${path.replace(run, '/api/runs/{id}')}`,
  path,
  method,
  status: 405,
  code: 'method_not_allowed',
}))

const queries: readonly Bad[] = [
  ...['abc', '1.5', '', 'NaN', '1e3', '0x1', '--1', '9'.repeat(30), `-${'9'.repeat(30)}`].map(
    (index) => ({
      what: `startIndex=${index}`,
      path: `/api/chat/c1/stream?startIndex=${index}`,
      status: 400,
      code: 'arguments_invalid',
    }),
  ),
  {
    what: 'a Last-Event-ID that is no index',
    path: '/api/chat/c1/stream',
    headers: { 'last-event-id': 'x' },
    status: 400,
    code: 'arguments_invalid',
  },
  ...['0', '-1', 'all', '100000'].flatMap((limit) =>
    ['/api/chat', '/api/runs', '/api/chat/c1/messages'].map((path) => ({
      what: `${path}?limit=${limit}`,
      path: `${path}?limit=${limit}`,
      status: 400,
      code: 'arguments_invalid',
    })),
  ),
  ...['after=x', 'order=random', 'status=lost', 'definition='].map((query) => ({
    what: `/api/runs?${query}`,
    path: `/api/runs?${query}`,
    status: 400,
    code: 'arguments_invalid',
  })),
  {
    what: 'a list after no chat',
    path: '/api/chat?after=%00',
    status: 400,
    code: 'arguments_invalid',
  },
]

describe('bad input', () => {
  let desk: Desk
  /** Has the chat `c1`, and looks after each request whether the server goes on. */
  let regular: Browser

  beforeAll(async () => {
    desk = await openDesk()
    regular = openBrowser(desk.origin)
    await regular.say('c1', says('look up order 1001'))
  })
  afterAll(() => desk.close())

  test.each([...bodies, bytesThatAreNoText, ...turns, ...unknown, ...methods])(
    '$what is refused with $status $code, and the server goes on',
    async ({ path = '/api/chat', status, code, ...raw }) => {
      const { headers, text, ...rest } = await sendRaw(desk.origin, { path, ...raw })
      const contentType = String(headers['content-type'])
      expectError({ status: rest.status, contentType, text }, status, code)
      if (status === 405) expect(headers['allow']).toMatch(/^[A-Z, ]+$/)
      expect((await regular.fetch('/api/info')).status).toBe(200)
    },
  )

  test.each(queries)('$what is refused with $status $code', async (query) => {
    const { path = '', headers = {}, status, code } = query
    // Asked for a chat that there is, so that only the query is wrong. A session may ask 20 times a second.
    const cookie = regular.cookie() ?? ''
    const response = await untilLetIn(() =>
      sendRaw(desk.origin, { path, headers: { ...headers, cookie } }),
    )
    const contentType = String(response.headers['content-type'])
    expectError({ status: response.status, contentType, text: response.text }, status, code)
  })

  test('a negative startIndex counts from the end, and a huge one has nothing to send', async () => {
    const browser = openBrowser(desk.origin)
    await browser.say('counted', says('count to 5'))
    const { runId } = (await browser.json('/api/chat/counted/messages')) as { runId: string }
    const read = async (index: string): Promise<readonly string[]> => {
      const response = await browser.fetch(`/api/chat/${runId}/stream?startIndex=${index}`)
      expect(response.ok).toBe(true)
      return (await response.text()).split('\n\n').filter((frame) => frame.includes('data: {'))
    }
    const whole = await read('0')
    expect(whole.length).toBeGreaterThan(8)
    const tail = await read('-1')
    expect(tail.length).toBeGreaterThan(0)
    expect(whole.slice(-tail.length)).toStrictEqual(tail)
    expect(await read('-999999999')).toStrictEqual(whole)
    expect(await read('999999999')).toStrictEqual([])
    expect(await read(String(whole.length))).toStrictEqual([])
  })

  test('after all of it a chat is answered, and nothing of it was the server’s fault', async () => {
    const { message } = await openBrowser(desk.origin).say('after', says('count to 12'))
    expect(textOf(message)).toBe('1 2 3 4 5 6 7 8 9 10 11 12')
    expect(desk.log.records.filter(({ level }) => level === 'error')).toStrictEqual([])
  })
})

/** Asks again when there were too many requests in this second. */
async function untilLetIn<Response extends { readonly status: number }>(
  ask: () => Promise<Response>,
): Promise<Response> {
  for (;;) {
    const response = await ask()
    if (response.status !== 429) return response
  }
}
