// The code of docs/guides/tools.md.
import { expect, test } from 'vitest'
import { askModel, countTo } from './guide.examples.ts'
import { mcpEndpoint } from './mcp.examples.ts'
import { scriptedModel } from './support/scripted-model.ts'
import { createSession } from './support/session.ts'

test('alone, in twenty lines', async () => {
  expect(await countTo(3)).toMatchObject({ run_status: 'completed', output: { counted: 3 } })
})

test('in the AI SDK', async () => {
  const { tools } = createSession()
  const model = scriptedModel([{ toolName: 'workflow_run_list', input: '{}' }])
  const { steps } = await askModel(model, tools, 'What runs?')
  expect(steps.flatMap(({ toolResults }) => toolResults)).toMatchObject([{ output: { runs: [] } }])
})

test('over MCP: who cannot be told is refused', async () => {
  const { store, supervisor, sessionId } = createSession()
  const { handle } = mcpEndpoint(
    {
      catalog: { list: () => [], find: () => undefined } as never,
      runs: store,
      supervisors: { session: () => supervisor },
    },
    (request) => (request.headers.get('x-user') === 'ann' ? sessionId : undefined),
  )
  const ask = (headers: Record<string, string>): Promise<Response> =>
    handle(
      new Request('http://desk.test/mcp', {
        method: 'POST',
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
      }),
    )
  expect((await ask({})).status).toBe(401)
  expect(await (await ask({ 'x-user': 'ann' })).text()).toContain('workflow_run_start')
})
