// MCP at the order desk, with the official client: over HTTP against a desk's real process, and over
// stdio with a real process beside it and alone.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { sessionIdFor } from '@holdfast/core'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, openBrowser, runOf, says } from './browser.ts'
import { endAll, startDesk } from './desk-process.ts'

const entry = fileURLToPath(new URL('../../server/mcp-main.ts', import.meta.url))
const nodeArguments = ['--conditions=@holdfast/source', entry]
const counter = { definition_name: 'counter_flow', definition_version: 'v1', input: { count: 3 } }

let folder: string
let clients: Client[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-mcp-'))
})
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()))
  clients = []
  await endAll()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const environmentOf = (name: string): Record<string, string> => ({
  HOLDFAST_DB: join(folder, `${name}.db`),
})

/** What the browser's cookie holds: the token of its session. */
const tokenOf = (browser: Browser): string => browser.cookie()?.split('=')[1] ?? ''

async function overHttp(origin: string, headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', origin), {
    requestInit: { headers },
  })
  await client.connect(transport)
  clients.push(client)
  return client
}

async function overStdio(environment: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: nodeArguments,
      env: { PATH: process.env['PATH'] ?? '', ...environment },
    }),
  )
  clients.push(client)
  return client
}

/** The structured content of a call that succeeds. */
async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: given })
  expect(result.isError, JSON.stringify(result.content)).toBeUndefined()
  return result.structuredContent as Record<string, unknown>
}

/** The words of a call that fails. */
async function refusal(client: Client, name: string, given: Record<string, unknown>) {
  const result = await client.callTool({ name, arguments: given })
  expect(result.isError).toBe(true)
  return JSON.stringify(result.content)
}

/** Starts a count, answers what it asks, and waits for its end: all as a model does. */
async function counted(client: Client): Promise<string> {
  const { run_id } = await call(client, 'workflow_run_start', counter)
  const settled = { run_id, wait_ms: 30_000 }
  expect(await call(client, 'workflow_run_get', settled)).toMatchObject({
    run_status: 'interrupted',
  })
  await call(client, 'workflow_run_resume', { run_id, resume: { increment: 4 } })
  expect(await call(client, 'workflow_run_get', settled)).toMatchObject({
    run_status: 'completed',
    output: { count: 8 },
  })
  return String(run_id)
}

describe('over HTTP', () => {
  test('a program is in the session of its token, or of a browser’s cookie, and in no other', async () => {
    const desk = startDesk(environmentOf('http'))
    const origin = await desk.ready
    const ann = openBrowser(origin)
    await ann.say('refund', says('refund order 1002'))
    const refund = await runOf(ann, 'refund_order', 'interrupted')

    const annsEditor = await overHttp(origin, { authorization: `Bearer ${tokenOf(ann)}` })
    expect((await annsEditor.listTools()).tools).toHaveLength(7)
    const { definitions } = await call(annsEditor, 'workflow_definition_list')
    expect(JSON.stringify(definitions)).not.toContain('order_desk')
    const counting = await counted(annsEditor)
    expect(await ann.json(`/api/runs/${counting}`)).toMatchObject({ run_status: 'completed' })
    const answer = { run_id: refund, resume: { approved: true } }
    expect(await refusal(annsEditor, 'workflow_run_resume', answer)).toContain(
      'interrupt_needs_person',
    )

    const annsPage = await overHttp(origin, { cookie: ann.cookie() ?? '' })
    expect(await call(annsPage, 'workflow_run_get', { run_id: refund })).toMatchObject({
      run_status: 'interrupted',
    })

    const bob = openBrowser(origin)
    await bob.fetch('/api/chat')
    const bobsEditor = await overHttp(origin, { authorization: `Bearer ${tokenOf(bob)}` })
    expect(await call(bobsEditor, 'workflow_run_list')).toEqual({ runs: [] })
    expect(await refusal(bobsEditor, 'workflow_run_get', { run_id: refund })).toContain(
      'run_not_found',
    )

    const ping = (headers: Record<string, string>): Promise<Response> =>
      fetch(new URL('/mcp', origin), {
        method: 'POST',
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
      })
    const forged = [
      {},
      { authorization: 'Bearer' },
      { authorization: `Bearer ${tokenOf(ann).slice(0, -4)}AAAA` },
      { authorization: `Basic ${tokenOf(ann)}` },
      { cookie: 'holdfast_session=x' },
      // A token that is none is not made good by a cookie.
      { authorization: 'Bearer x', cookie: ann.cookie() ?? '' },
    ]
    for (const headers of forged) {
      const response = await ping(headers)
      expect(response.status).toBe(401)
      expect(response.headers.getSetCookie()).toEqual([])
    }
    expect((await ping({ cookie: ann.cookie() ?? '' })).status).toBe(200)
    const elsewhere = { cookie: ann.cookie() ?? '', origin: 'http://evil.test' }
    expect((await ping(elsewhere)).status).toBe(403)
    expect((await ping({ cookie: ann.cookie() ?? '', origin })).status).toBe(200)
    desk.kill('SIGTERM')
    expect(await desk.ended).toMatchObject({ code: 0, stderr: expect.any(String) as string })
  })
})

describe('over stdio', () => {
  test('beside a desk both work at once: what starts here is carried out there', async () => {
    const environment = environmentOf('beside')
    const desk = startDesk(environment)
    const origin = await desk.ready
    const ann = openBrowser(origin)
    await ann.say('refund', says('refund order 1002'))
    const refund = await runOf(ann, 'refund_order', 'interrupted')
    const editor = await overStdio({ ...environment, HOLDFAST_TOKEN: tokenOf(ann) })
    expect((await editor.listTools()).tools).toHaveLength(7)
    const counting = await counted(editor)
    expect(await ann.json(`/api/runs/${counting}`)).toMatchObject({ run_status: 'completed' })
    // And the other way: what is decided in the page is seen here, without asking again and again.
    const seen = call(editor, 'workflow_run_history', {
      run_id: refund,
      wait_ms: 30_000,
      after_revision: (await call(editor, 'workflow_run_get', { run_id: refund }))[
        'activity_cursor'
      ],
    })
    await ann.post(`/api/runs/${refund}/resume`, { resume: { approved: false } })
    expect((await seen)['entries']).not.toEqual([])
    const { run_id } = await call(editor, 'workflow_run_start', counter)
    await call(editor, 'workflow_run_get', { run_id, wait_ms: 30_000 })
    await call(editor, 'workflow_run_cancel', { run_id })
    expect(await call(editor, 'workflow_run_get', { run_id, wait_ms: 30_000 })).toMatchObject({
      run_status: 'cancelled',
    })
    desk.kill('SIGTERM')
    expect(await desk.ended).toMatchObject({ code: 0 })
  })

  test('alone it carries out what it starts, and a later one finds it', async () => {
    const environment = environmentOf('alone')
    const first = await overStdio(environment)
    expect(first.getServerVersion()).toMatchObject({ name: 'holdfast-order-desk' })
    const run_id = await counted(first)
    await first.close()
    const second = await overStdio(environment)
    expect(await call(second, 'workflow_run_get', { run_id })).toMatchObject({
      run_status: 'completed',
    })
  })

  test('the token that it prints is its own session’s, over HTTP too', async () => {
    const environment = environmentOf('token')
    const print = promisify(execFile)
    const { stdout } = await print(process.execPath, [...nodeArguments, '--token'], {
      env: environment,
    })
    expect(stdout).toMatch(new RegExp(`^${sessionIdFor('mcp')}\\.[\\w-]{43}\\n$`))
    const desk = startDesk(environment)
    const program = await overHttp(await desk.ready, { authorization: `Bearer ${stdout.trim()}` })
    const run_id = await counted(program)
    const editor = await overStdio(environment)
    expect(await call(editor, 'workflow_run_get', { run_id })).toMatchObject({ run_id })
  })

  test.each([
    ['a forged token', [], { HOLDFAST_TOKEN: 'x.y' }, /HOLDFAST_TOKEN/],
    ['an argument that is none', ['--session=ann'], {}, /--token/],
  ])('%s is refused with one line, and nothing on stdout', async (_, more, extra, line) => {
    const failed = await promisify(execFile)(process.execPath, [...nodeArguments, ...more], {
      env: { ...environmentOf('refused'), ...extra },
    }).catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect((failed as { readonly stderr: string }).stderr).toMatch(line)
    expect((failed as { readonly stderr: string }).stderr.trim().split('\n')).toHaveLength(1)
  })
})
