// The tools over a supervisor and a list of runs written by hand: no engine, no store of ours.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { runNotFound, runRecordVersion, sessionIdFor } from '@holdfast/core'
import type { RunReader, StoredRun, Supervisor } from '@holdfast/core'
import { createCatalog, defineWorkflow } from '@holdfast/workflow'
import { createWorkflowTools } from '@holdfast/tools'
import { createMcpHandler } from '@holdfast/tools/mcp'
import { toolsOf } from '#readme/tools'

const counterFlow = defineWorkflow({
  name: 'counter_flow',
  version: 'v1',
  description: 'Counts.',
  input: {
    type: 'object',
    properties: { count: { type: 'integer' } },
    required: ['count'],
    additionalProperties: false,
  },
  run: () => null,
})
const catalog = createCatalog([counterFlow])
const sessionId = sessionIdFor('ann')
const known = new Map<string, StoredRun>()
const inputs: string[] = []

const runs: RunReader = {
  run: async (_session, runId) => known.get(runId),
  runs: async () => ({ items: [...known.values()] }),
  runByIdempotencyKey: async () => undefined,
}
const supervisor: Supervisor = {
  sessionId,
  async start({ id, definition: { name, version } }, input) {
    const { digest } = catalog.resolve(name, version)
    const record: StoredRun['record'] = {
      version: runRecordVersion,
      id,
      sessionId,
      definition: { name, version, digest },
      input: { digest: createHash('sha256').update(input).digest('hex'), size: input.byteLength },
      artifactNamespace: { sessionId, runId: id },
      status: 'pending',
      parked: false,
      interrupts: [],
      artifacts: [],
      stream: 0,
      inboxReadThrough: 0,
      recoveries: 0,
      createdAt: 1,
      updatedAt: 1,
    }
    const run: StoredRun = { record, revision: 1, journalNext: 1, inboxNext: 0, unread: [] }
    known.set(id, run)
    inputs.push(new TextDecoder().decode(input))
    return { run, created: true }
  },
  resume: ({ runId }) => Promise.reject(runNotFound(runId)),
  resumeMany: ({ runId }) => Promise.reject(runNotFound(runId)),
  send: ({ runId }) => Promise.reject(runNotFound(runId)),
  cancel: ({ runId }) => Promise.reject(runNotFound(runId)),
  history: (runId) => Promise.reject(runNotFound(runId)),
  output: async () => undefined,
}

const { text, toolSet } = await toolsOf(catalog, runs, supervisor)
const started: { readonly run_id: string; readonly run_status: string } = JSON.parse(text)
assert.equal(started.run_status, 'pending')
assert.ok(known.has(started.run_id))
assert.deepEqual(inputs, ['{"count":1}'])
assert.equal(Object.keys(toolSet).length, 7)

// Over MCP, by whose SDK the package does not come: it is the host's.
const mcp = createMcpHandler({
  authorize: () => ({
    sessionId,
    tools: createWorkflowTools({ sessionId, catalog, runs, supervisor }),
  }),
})
const answer = await mcp.handle(
  new Request('http://localhost/mcp', {
    method: 'POST',
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
  }),
)
assert.match(await answer.text(), /workflow_run_history/)
