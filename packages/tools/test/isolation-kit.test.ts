// The isolation kit over the bundle and over MCP.
import { describeIsolation } from '@holdfast/conformance'
import type { IsolationActor, IsolationIds, IsolationWorld } from '@holdfast/conformance'
import { isHoldfastError } from '@holdfast/core'
import type { JsonObject } from '@holdfast/core'
import { createMcpHandler } from '../src/mcp.ts'
import type { WorkflowToolName } from '../src/index.ts'
import { asking, question } from './support/questions.ts'
import { createSession, sessionOne, sessionTwo } from './support/session.ts'
import type { Session } from './support/session.ts'

const counter = { definition_name: 'counter_flow', definition_version: 'v1', input: { count: 1 } }
const secret = 'of the owner alone'

/** Every tool that takes an id, in every argument that takes one. */
const calls: readonly (readonly [WorkflowToolName, (run: string) => JsonObject])[] = [
  ['workflow_run_get', (run_id) => ({ run_id })],
  ['workflow_run_get', (run_id) => ({ run_id, wait_ms: 0 })],
  ['workflow_run_history', (run_id) => ({ run_id })],
  ['workflow_run_history', (run_id) => ({ run_id, after_revision: 1, limit: 1 })],
  ['workflow_run_resume', (run_id) => ({ run_id, resume: { approved: true } })],
  ['workflow_run_resume', (run_id) => ({ run_id, resume: { no: 1 }, interrupt_id: 'q1' })],
  ['workflow_run_cancel', (run_id) => ({ run_id, reason: 'because' })],
  ['workflow_run_start', (parent_run_id) => ({ ...counter, parent_run_id })],
]

type Ask = (actor: IsolationActor, name: WorkflowToolName, given: JsonObject) => Promise<string>

async function world(
  makeAsk: (sessions: Readonly<Partial<Record<IsolationActor, Session>>>) => Ask,
): Promise<IsolationWorld> {
  const owner = createSession({ extensions: true, sessionId: sessionOne })
  const { store } = owner
  const stranger = createSession({ extensions: true, sessionId: sessionTwo, store })
  const run = await asking(owner, question('q1', { reason: secret, payload: { secret } }))
  const ask = makeAsk({ owner, stranger })
  return {
    owned: { run },
    missing: { run: '00000000-0000-7000-8000-00000000dead' },
    secrets: [secret],
    async state() {
      const [runs, inbox] = await Promise.all([
        store.runs(sessionOne),
        store.logPage(sessionOne, `inbox/${run}`, { from: 0, limit: 100 }),
      ])
      return JSON.stringify({ runs, inbox })
    },
    probes: [
      ...calls.map(([name, given]) => ({
        name: `${name} ${Object.keys(given('')).join(' ')}`,
        // A reason of a cancel, and an answer that does not fit, are told apart from what is missing.
        ask: (actor: IsolationActor, ids: IsolationIds) =>
          ask(actor, name, given(ids['run'] ?? '')),
      })),
      {
        name: 'workflow_run_list',
        kind: 'list',
        ask: (actor) => ask(actor, 'workflow_run_list', {}),
      },
      {
        name: 'workflow_run_list by parent, from a cursor',
        kind: 'list',
        ask: (actor) => ask(actor, 'workflow_run_list', { order: 'descending', limit: 100 }),
      },
    ],
    close: () => store.close(),
  }
}

describeIsolation('the bundle', () =>
  world((sessions) => async (actor, name, given) => {
    const session = sessions[actor]
    // There is no bundle without a session, so nobody has no tool to call.
    if (session === undefined) return 'no bundle'
    try {
      return (await session.tool(name).invoke(JSON.stringify(given))).content[0].text
    } catch (error) {
      if (!isHoldfastError(error)) throw error
      const { code, message, details, retryable } = error
      return JSON.stringify({ code, message, details, retryable })
    }
  }),
)

describeIsolation('the MCP server', () =>
  world((sessions) => {
    const handler = createMcpHandler({
      authorize(request) {
        const session = sessions[(request.headers.get('x-user') ?? '') as IsolationActor]
        return session === undefined
          ? undefined
          : { sessionId: session.sessionId, tools: session.tools }
      },
    })
    return async (actor, name, given) => {
      const response = await handler.handle(
        new Request('http://desk.test/mcp', {
          method: 'POST',
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: { name, arguments: given },
          }),
          headers: {
            'x-user': actor,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
          },
        }),
      )
      const headers = [...response.headers].map(([header, value]) => `${header}: ${value}`)
      return [response.status, ...headers, await response.text()].join('\n')
    }
  }),
)
