// The tools over the real engine on a store: what the hand-written supervisor cannot show.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { JsonObject, SessionId } from '@holdfast/core'
import { createEngine } from '@holdfast/engine'
import { createMemoryStore } from '@holdfast/store-memory'
import { defineWorkflow } from '@holdfast/workflow'
import { createWorkflowTools, workflowTool } from '../src/index.ts'
import type { WorkflowToolName, WorkflowToolsConfig } from '../src/index.ts'
import { checkedResult, sessionOne, sessionTwo, textOf } from './support/session.ts'

const closed = { type: 'object', additionalProperties: false } as const
const approval = {
  ...closed,
  properties: { approved: { type: 'boolean' } },
  required: ['approved'],
} as const

/** Opens once, for a step that a test wants to hold. */
function createGate() {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

function desk(config: Partial<WorkflowToolsConfig> = {}) {
  const gate = createGate()
  const charged: string[] = []
  const definitions = [
    defineWorkflow({
      name: 'gated_flow',
      version: 'v1',
      description: 'Stands in a step until the gate opens.',
      input: { ...closed, properties: { z: { type: 'integer' }, a: { type: 'integer' } } },
      steps: ['wait', 'count'],
      outputForModels: true,
      async run(context) {
        await context.step('wait', async ({ signal }) => {
          const stopped = new Promise<void>((resolve) => {
            signal.addEventListener('abort', () => resolve(), { once: true })
          })
          await Promise.race([gate.opened, stopped])
        })
        return context.step('count', () => ({ counted: 2 }))
      },
    }),
    defineWorkflow({
      name: 'asking_flow',
      version: 'v1',
      description: 'Asks whoever may answer, and then a person.',
      input: closed,
      resume: approval,
      async run(context) {
        await context.interrupt('anyone', { answer: 'anyone', reason: 'Go on?' })
        await context.step('charge', ({ idempotencyKey }) => void charged.push(idempotencyKey))
        await context.interrupt('person', { reason: 'Really?' })
        return null
      },
    }),
    defineWorkflow({
      name: 'failing_flow',
      version: 'v1',
      description: 'Fails.',
      input: closed,
      run: (context) =>
        context.step(
          'fail',
          () => {
            throw new Error('postgres://user:password@db')
          },
          { retries: 0 },
        ),
    }),
  ]
  const store = createMemoryStore()
  const engine = createEngine({ store, definitions })
  onTestFinished(async () => {
    gate.open()
    await engine.close()
    await store.close()
  })
  const bundle = (sessionId: SessionId) =>
    createWorkflowTools({
      sessionId,
      catalog: engine.catalog,
      runs: store,
      supervisor: engine.supervisors.session(sessionId),
      watcher: store,
      extensions: true,
      ...config,
    })
  const tools = bundle(sessionOne)
  const call = async (name: WorkflowToolName, given: object, invocation = {}) => {
    const tool = workflowTool(tools, name)
    return checkedResult(
      tool,
      (await tool.invoke(JSON.stringify(given), invocation)).content[0].text,
    )
  }
  const start = async (definition_name: string, input = {}, invocation = {}) => {
    const given = { definition_name, definition_version: 'v1', input }
    return textOf(await call('workflow_run_start', given, invocation), 'run_id')
  }
  /** The run once it has ended or asks something. */
  const settled = (run_id: string): Promise<JsonObject> =>
    call('workflow_run_get', { run_id, wait_ms: 30_000 })
  return { gate, charged, store, engine, bundle, call, start, settled }
}

describe('over the engine', () => {
  test('6. start is acknowledged at the seed while the step still stands', async () => {
    const { gate, store, call, settled } = desk()
    const given = { definition_name: 'gated_flow', definition_version: 'v1', input: { z: 2, a: 1 } }
    const started = await call('workflow_run_start', given)
    expect(['pending', 'running']).toContain(started['run_status'])
    const runId = textOf(started, 'run_id')
    const digest = '99168216144c7fed5d4c54916cf98d9c66096280c04a499822a99b6658bd177a'
    expect(new TextDecoder().decode(await store.input(sessionOne, digest))).toBe('{"a":1,"z":2}')
    gate.open()
    expect(await settled(runId)).toMatchObject({
      run_status: 'completed',
      output: { counted: 2 },
      progress: { completed_steps: 2, total_steps: 2 },
    })
    const { entries } = await call('workflow_run_history', { run_id: runId })
    expect(entries).toMatchObject([
      { kind: 'run_started' },
      { kind: 'step_completed', step_label: 'wait', completed_steps: 1 },
      { kind: 'step_completed', step_label: 'count', completed_steps: 2 },
      { kind: 'run_completed' },
    ])
  })

  test('a start whose caller gives up goes on', async () => {
    const { gate, call, start, settled } = desk()
    const controller = new AbortController()
    const runId = await start('gated_flow', {}, { signal: controller.signal })
    controller.abort()
    gate.open()
    expect(await settled(runId)).toMatchObject({ run_status: 'completed' })
    expect(await call('workflow_run_list', { run_status: ['completed'] })).toMatchObject({
      runs: [{ run_id: runId }],
    })
  })

  test('7, 8. cancel stops a run, repeats harmlessly, and is an error once one has completed', async () => {
    const { gate, call, start, settled } = desk()
    const stopped = await start('gated_flow')
    expect(await call('workflow_run_cancel', { run_id: stopped, reason: 'enough' })).toMatchObject({
      run_id: stopped,
      idempotent: false,
    })
    expect(await settled(stopped)).toMatchObject({ run_status: 'cancelled' })
    expect(await call('workflow_run_cancel', { run_id: stopped })).toEqual({
      run_id: stopped,
      run_status: 'cancelled',
      idempotent: true,
    })
    gate.open()
    const completed = await start('gated_flow')
    await settled(completed)
    await expect(call('workflow_run_cancel', { run_id: completed })).rejects.toMatchObject({
      code: 'run_ended',
    })
  })

  test('10. the artifact namespace that the host chose is kept', async () => {
    const artifactNamespace = { sessionId: sessionTwo, runId: sessionTwo }
    const { store, start } = desk({ prepareRun: (draft) => ({ ...draft, artifactNamespace }) })
    const runId = await start('gated_flow')
    expect((await store.run(sessionOne, runId))?.record.artifactNamespace).toEqual(
      artifactNamespace,
    )
  })

  test('a model answers what anyone may, and then waits for the person', async () => {
    const { charged, engine, call, start, settled } = desk()
    const run_id = await start('asking_flow')
    expect(await settled(run_id)).toMatchObject({
      run_status: 'interrupted',
      interrupts: [{ answer: 'anyone', reason: 'Go on?', schema: approval }],
    })
    const resume = { approved: true }
    await expect(
      call('workflow_run_resume', { run_id, resume: { approved: 1 } }),
    ).rejects.toMatchObject({
      code: 'input_invalid',
    })
    await call('workflow_run_resume', { run_id, resume })
    expect(await settled(run_id)).toMatchObject({
      interrupts: [{ answer: 'person', reason: 'Really?' }],
    })
    expect(charged).toHaveLength(1)
    await expect(call('workflow_run_resume', { run_id, resume })).rejects.toMatchObject({
      code: 'interrupt_needs_person',
    })
    const supervisor = engine.supervisors.session(sessionOne)
    await supervisor.resume({ runId: run_id, payload: resume, by: { kind: 'person' } })
    expect(await settled(run_id)).toMatchObject({ run_status: 'completed' })
    const { entries } = await call('workflow_run_history', { run_id })
    expect(JSON.stringify(entries)).not.toContain('approved')
  })

  test('R5. many answers at once: the rest of the run happens once', async () => {
    const { charged, call, start, settled } = desk()
    const run_id = await start('asking_flow')
    await settled(run_id)
    const answers = await Promise.allSettled(
      Array.from({ length: 16 }, () =>
        call('workflow_run_resume', { run_id, resume: { approved: true } }),
      ),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await settled(run_id)).toMatchObject({ interrupts: [{ answer: 'person' }] })
    expect(charged).toHaveLength(1)
  })

  test('R1. a start that a durable agent repeats is the same run', async () => {
    const { gate, start, settled } = desk()
    const invocation = { idempotencyKey: 'step 1, call 1' }
    const runs = await Promise.all([1, 2, 3].map(() => start('gated_flow', {}, invocation)))
    expect(new Set(runs).size).toBe(1)
    gate.open()
    await settled(runs[0] ?? '')
    expect(await start('gated_flow', {}, invocation)).toBe(runs[0])
    await expect(start('gated_flow', { a: 1 }, invocation)).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    })
  })

  test('a model cannot act on its own run, nor on one above it', async () => {
    const { call, start } = desk()
    const parent_run_id = await start('asking_flow')
    const given = { definition_name: 'gated_flow', definition_version: 'v1', input: {} }
    const child = await call('workflow_run_start', { ...given, parent_run_id })
    const invocation = { callerRunId: textOf(child, 'run_id') }
    for (const run_id of [child['run_id'], parent_run_id]) {
      await expect(call('workflow_run_cancel', { run_id }, invocation)).rejects.toMatchObject({
        code: 'own_run',
      })
    }
  })

  test('a failure shows a safe error', async () => {
    const { start, settled, call } = desk()
    const run_id = await start('failing_flow')
    const run = await settled(run_id)
    expect(run).toMatchObject({
      run_status: 'failed',
      error: { code: expect.any(String) as string },
    })
    expect(JSON.stringify(await call('workflow_run_history', { run_id }))).not.toContain('password')
  })

  test('another session sees nothing of it', async () => {
    const { bundle, start } = desk()
    const run_id = await start('gated_flow')
    const missing = '00000000-0000-7000-8000-00000000dead'
    const theirs = bundle(sessionTwo)
    for (const name of [
      'workflow_run_get',
      'workflow_run_cancel',
      'workflow_run_history',
    ] as const) {
      const [other, nobodys] = await Promise.all(
        [run_id, missing].map((id) =>
          workflowTool(theirs, name)
            .invoke(JSON.stringify({ run_id: id }))
            .then(
              () => 'an answer',
              (error: Error) => error.message.replaceAll(id, 'the id'),
            ),
        ),
      )
      expect(other).toBe(nobodys)
      expect(other).toContain('No run the id')
    }
  })
})
