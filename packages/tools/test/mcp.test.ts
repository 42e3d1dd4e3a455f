// MCP with the official client, over memory and over real HTTP.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { HoldfastError, JsonValue } from '@holdfast/core'
import { createMcpHandler, createMcpServer } from '../src/mcp.ts'
import type { McpHandlerOptions } from '../src/mcp.ts'
import { workflowToolNames } from '../src/index.ts'
import { serve } from './support/http-server.ts'
import { asking, question } from './support/questions.ts'
import { createSession, sessionTwo } from './support/session.ts'
import type { Session } from './support/session.ts'

const counter = { definition_name: 'counter_flow', definition_version: 'v1', input: { count: 1 } }
const missing = '00000000-0000-7000-8000-00000000dead'

/** Bearers and their sessions. */
function endpoint(
  sessions: Readonly<Record<string, Session>>,
  options: Partial<McpHandlerOptions> = {},
) {
  return createMcpHandler({
    authorize(request) {
      const bearer = request.headers.get('authorization')?.replace('Bearer ', '') ?? ''
      const session = sessions[bearer]
      return session === undefined
        ? undefined
        : { sessionId: session.sessionId, tools: session.tools }
    },
    ...options,
  })
}

async function overHttp(session: Session): Promise<Client> {
  const server = await serve((request) => endpoint({ ann: session }).handle(request))
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(server.url, {
    requestInit: { headers: { authorization: 'Bearer ann' } },
  })
  await client.connect(transport)
  onTestFinished(async () => {
    await client.close()
    await server.close()
  })
  return client
}

async function overMemory(session: Session, onError?: (error: HoldfastError) => void) {
  const [here, there] = InMemoryTransport.createLinkedPair()
  const server = createMcpServer({
    tools: session.tools,
    info: { name: 'desk', version: '2', title: 'Desk' },
    instructions: 'Do not poll.',
    ...(onError === undefined ? {} : { onError }),
  })
  await server.connect(there)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(here)
  onTestFinished(() => client.close())
  return client
}

const transports = [
  { over: 'memory', connect: (session: Session) => overMemory(session) },
  { over: 'HTTP', connect: overHttp },
]

describe.each(transports)('the official client over $over', ({ connect }) => {
  test('sees the seven tools with schemas and annotations', async () => {
    const session = createSession({ extensions: true })
    const client = await connect(session)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(workflowToolNames)
    for (const [index, tool] of tools.entries()) {
      const { annotations, inputSchema, outputSchema, description } =
        session.tools[index as 0].info()
      expect(tool).toEqual({
        name: tool.name,
        description,
        inputSchema,
        outputSchema,
        annotations,
      })
    }
  })

  test('starts, reads, answers, and stops runs; its own check of structured content holds', async () => {
    const session = createSession()
    const client = await connect(session)
    await client.listTools()
    const started = await client.callTool({ name: 'workflow_run_start', arguments: counter })
    const { run_id } = started.structuredContent as { readonly run_id: string }
    expect(started.isError).toBeUndefined()
    expect(textOfResult(started)).toBe(JSON.stringify(started.structuredContent))
    for (const name of ['workflow_run_get', 'workflow_run_history', 'workflow_run_cancel']) {
      const { structuredContent } = await client.callTool({ name, arguments: { run_id } })
      expect(structuredContent).toMatchObject({ run_id })
    }
    const asked = await asking(session, question('q1'))
    const resumed = await client.callTool({
      name: 'workflow_run_resume',
      arguments: { run_id: asked, resume: { approved: true } },
    })
    expect(resumed.structuredContent).toMatchObject({ run_status: 'running' })
    for (const name of ['workflow_definition_list', 'workflow_run_list']) {
      expect((await client.callTool({ name })).structuredContent).toBeTypeOf('object')
    }
  })

  test('gets a failure as a tool error in words for the model', async () => {
    const client = await connect(createSession())
    const result = await client.callTool({
      name: 'workflow_run_get',
      arguments: { run_id: missing },
    })
    expect(result.isError).toBe(true)
    expect(result.structuredContent).toBeUndefined()
    expect(textOfResult(result)).toMatch(/^run_not_found: .*workflow_run_list/)
  })

  test('cannot answer for a person', async () => {
    const session = createSession()
    const client = await connect(session)
    const run_id = await asking(session, question('q1', { answer: 'person' }))
    const result = await client.callTool({
      name: 'workflow_run_resume',
      arguments: { run_id, resume: { approved: true } },
    })
    expect(textOfResult(result)).toMatch(/^interrupt_needs_person: /)
  })

  test('cannot name a session: no argument does', async () => {
    const client = await connect(createSession())
    for (const name of workflowToolNames) {
      const result = await client.callTool({ name, arguments: { session_id: sessionTwo } })
      expect(textOfResult(result)).toMatch(/^arguments_invalid: .*unknown field "session_id"/)
    }
  })

  test('is refused a tool that does not exist, and a method', async () => {
    const client = await connect(createSession())
    await expect(client.callTool({ name: 'workflow_run_purge' })).rejects.toMatchObject({
      code: -32_602,
    })
    await expect(client.callTool({ name: '__proto__' })).rejects.toMatchObject({ code: -32_602 })
    await expect(client.listPrompts()).rejects.toThrow(/prompts|Method not found/)
  })
})

test('the server says who it is, and tells the host of failures with their cause', async () => {
  const told: string[] = []
  const client = await overMemory(createSession(), (error) => void told.push(error.code))
  expect(client.getServerVersion()).toMatchObject({ name: 'desk', version: '2', title: 'Desk' })
  expect(client.getInstructions()).toBe('Do not poll.')
  expect(client.getServerCapabilities()).toEqual({ tools: {} })
  await client.callTool({ name: 'workflow_run_get', arguments: { run_id: missing } })
  expect(told).toEqual(['run_not_found'])
})

test('what a parser may have altered is refused where the SDK has parsed it', async () => {
  const client = await overMemory(createSession())
  const result = await client.callTool({
    name: 'workflow_run_list',
    arguments: { limit: 2 ** 53 },
  })
  expect(textOfResult(result)).toMatch(/^json_number_unsafe: /)
})

test('a call that its client gives up is told so', async () => {
  const session = createSession({ extensions: true })
  const client = await overMemory(session)
  const run_id = await session.start()
  const stop = new AbortController()
  const waiting = client.callTool(
    { name: 'workflow_run_get', arguments: { run_id, wait_ms: 30_000 } },
    undefined,
    { signal: stop.signal },
  )
  stop.abort()
  await expect(waiting).rejects.toThrow(/abort/i)
  expect(session.system.timerCount).toBe(0)
})

describe('over HTTP', () => {
  const post = (body: string, headers: Record<string, string> = {}): Request =>
    new Request('http://desk.test/mcp', {
      method: 'POST',
      body,
      headers: {
        authorization: 'Bearer ann',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
    })
  const call = (name: string, given: string): string =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${given}}}`

  async function answerTo(request: Request, options: Partial<McpHandlerOptions> = {}) {
    const response = await endpoint({ ann: createSession() }, options).handle(request)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  test('nobody is nobody, whatever is asked; nothing is read', async () => {
    for (const headers of [{ authorization: '' }, { authorization: 'Bearer bob' }]) {
      const { status, headers: given, text } = await answerTo(post('{', headers))
      expect(status).toBe(401)
      expect(given.get('www-authenticate')).toBe('Bearer')
      expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', id: null })
    }
  })

  test('each request is its own session’s, on the same handler', async () => {
    const [ann, bob] = [createSession(), createSession({ sessionId: sessionTwo })]
    const handler = endpoint({ ann, bob })
    const run = await ann.start()
    const asked = call('workflow_run_get', JSON.stringify({ run_id: run }))
    const [annsAnswer, bobsAnswer] = await Promise.all([
      handler.handle(post(asked)),
      handler.handle(post(asked, { authorization: 'Bearer bob' })),
    ])
    expect(await annsAnswer.json()).toMatchObject({
      result: { structuredContent: { run_id: run } },
    })
    expect(await bobsAnswer.json()).toMatchObject({ result: { isError: true } })
  })

  test.each(['GET', 'DELETE', 'PUT'])('%s is not allowed', async (method) => {
    const request = new Request('http://desk.test/mcp', {
      method,
      headers: { authorization: 'Bearer ann' },
    })
    const { status, headers } = await answerTo(request)
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'POST' })
  })

  test.each([
    ['a body that is no JSON', '{', /json_invalid/],
    ['two values', '{}{}', /json_trailing_data/],
    ['a key twice', '{"jsonrpc":"2.0","jsonrpc":"2.0"}', /json_duplicate_key/],
    [
      'a key twice in the arguments',
      call('workflow_run_list', '{"limit":1,"limit":2}'),
      /json_duplicate_key/,
    ],
    [
      'a number that a double would alter',
      call('workflow_run_list', '{"limit":9007199254740993}'),
      /json_number_unsafe/,
    ],
    ['a lone surrogate', call('workflow_run_list', '{"\\ud800":1}'), /json_unicode_invalid/],
    ['a depth of 131,072', '['.repeat(131_072), /json_too_deep/],
    ['a batch', '[]', /one JSON-RPC message/],
    ['a text', '"ping"', /one JSON-RPC message/],
    ['an object that is no message', '{}', /JSON-RPC message/],
  ])('%s is refused with 400', async (_, body, words) => {
    const { status, text } = await answerTo(post(body))
    expect(status).toBe(400)
    expect(text).toMatch(words)
    expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', id: null })
  })

  test('a key `__proto__` is an unknown field, and harmless', async () => {
    const body = call('workflow_run_list', '{"__proto__":{"limit":1}}')
    const { text } = await answerTo(post(body))
    expect(text).toContain('unknown field')
    expect(({} as { limit?: unknown }).limit).toBeUndefined()
  })

  test('a body over its bound is refused with 413, declared or not', async () => {
    const large = ' '.repeat(300_000)
    expect((await answerTo(post(large))).status).toBe(413)
    const streamed = new Request('http://desk.test/mcp', {
      method: 'POST',
      body: new Blob([large]).stream(),
      headers: post('').headers,
      ...{ duplex: 'half' },
    })
    expect((await answerTo(streamed)).status).toBe(413)
  })

  test('the largest input is taken', async () => {
    const given = JSON.stringify({
      definition_name: 'letters_flow',
      definition_version: 'v1',
      input: { any: 'x'.repeat(262_144 - 10) },
    })
    const { status, text } = await answerTo(post(call('workflow_run_start', given)))
    expect(status).toBe(200)
    expect(JSON.parse(text)).toMatchObject({ result: { structuredContent: {} } })
  })

  test('pages of other origins and names that are not ours are refused with 403', async () => {
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    const status = async (headers: Record<string, string>, options = {}): Promise<number> =>
      (await answerTo(post(ping, headers), options)).status
    expect(await status({ origin: 'http://desk.test' })).toBe(200)
    expect(await status({ origin: 'http://evil.test' })).toBe(403)
    expect(await status({ origin: 'null' })).toBe(403)
    const trusting = { allowedOrigins: ['http://page.test'] }
    expect(await status({ origin: 'http://page.test' }, trusting)).toBe(200)
    expect(await status({}, { allowedHosts: ['desk.test'] })).toBe(200)
    expect(await status({}, { allowedHosts: ['127.0.0.1:3000'] })).toBe(403)
  })

  test('calls of one session that wait are bounded, and a caller that goes away makes room', async () => {
    const ann = createSession({ extensions: true })
    const bob = createSession({ sessionId: sessionTwo, extensions: true })
    const handler = endpoint({ ann, bob }, { callsAtOnce: 1 })
    const run_id = await ann.start()
    const gone = new AbortController()
    const given: JsonValue = { run_id, wait_ms: 30_000 }
    const waiting = handler.handle(
      new Request(post(call('workflow_run_get', JSON.stringify(given))), { signal: gone.signal }),
    )
    await expect.poll(() => ann.system.timerCount).toBe(1)
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    const refused = await handler.handle(post(ping))
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    const bobs = await handler.handle(post(ping, { authorization: 'Bearer bob' }))
    expect(bobs.status).toBe(200)
    gone.abort()
    await waiting
    expect((await handler.handle(post(ping))).status).toBe(200)
    await expect.poll(() => ann.system.timerCount).toBe(0)
  })

  test('a host that fails is a plain 500', async () => {
    const { status, text } = await answerTo(post('{}'), {
      authorize: () => Promise.reject(new Error('postgres://user:password@db')),
    })
    expect(status).toBe(500)
    expect(text).not.toContain('password')
  })

  test('needs to know who a request is from', () => {
    expect(() => createMcpHandler({} as McpHandlerOptions)).toThrow(/authorize/)
    for (const callsAtOnce of [0, 1.5, 1_025]) {
      expect(() => endpoint({}, { callsAtOnce })).toThrow(/callsAtOnce/)
    }
  })
})

function textOfResult(result: Awaited<ReturnType<Client['callTool']>>): string {
  const [block] = result.content as readonly { readonly text: string }[]
  return block?.text ?? ''
}
