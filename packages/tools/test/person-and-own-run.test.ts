// Section 0.3: what a model cannot do, whatever it sends.
import { describe, expect, test, vi } from 'vitest'
import type { Supervisor } from '@holdfast/core'
import { ancestorsRead } from '../src/session-runs.ts'
import { asking, question } from './support/questions.ts'
import { createSession } from './support/session.ts'
import type { Session } from './support/session.ts'

function watched(options = {}) {
  const resume = vi.fn<Supervisor['resume']>()
  const cancel = vi.fn<Supervisor['cancel']>()
  const session = createSession({
    ...options,
    around: (own) => ({
      ...own,
      resume: resume.mockImplementation((request) => own.resume(request)),
      cancel: cancel.mockImplementation((request) => own.cancel(request)),
    }),
  })
  return { session, resume, cancel }
}

const yes = { approved: true }

describe('a person’s question', () => {
  test('is not answered by a model, whatever it claims', async () => {
    const { session, resume } = watched({ extensions: true })
    const runId = await asking(session, question('q1', { answer: 'person' }))
    for (const [given, invocation] of [
      [{ run_id: runId, resume: yes }, {}],
      [{ run_id: runId, resume: yes, interrupt_id: 'q1' }, {}],
      [{ run_id: runId, resume: yes }, { idempotencyKey: 'k' }],
    ] as const) {
      expect(await session.refusal('workflow_run_resume', given, invocation)).toMatchObject({
        code: 'interrupt_needs_person',
        details: { run_id: runId },
      })
    }
    for (const extra of [{ by: 'person' }, { actor: { kind: 'person' } }, { answer: 'anyone' }]) {
      const given = { run_id: runId, resume: yes, ...extra }
      expect(await session.refusal('workflow_run_resume', given)).toMatchObject({
        code: 'arguments_invalid',
      })
    }
    expect(resume).not.toHaveBeenCalled()
  })

  test('beside one that anyone may answer is left open', async () => {
    const { session, resume } = watched()
    const runId = await asking(session, question('q1', { answer: 'person' }), question('q2'))
    const run = await session.call('workflow_run_resume', { run_id: runId, resume: yes })
    expect(run).toMatchObject({
      run_status: 'interrupted',
      interrupts: [{ id: 'q1', answer: 'person' }],
    })
    expect(resume.mock.calls[0]?.[0]).toEqual({
      runId,
      interruptId: 'q2',
      payload: yes,
      by: { kind: 'model' },
    })
  })

  test('the supervisor is told that a model answers, and in which run it acts', async () => {
    const { session, resume, cancel } = watched()
    const caller = await session.start()
    const runId = await asking(session, question('q1'))
    const invocation = { callerRunId: caller.toUpperCase() }
    await session.call('workflow_run_resume', { run_id: runId, resume: yes }, invocation)
    await session.call('workflow_run_cancel', { run_id: runId }, invocation)
    const by = { kind: 'model', runId: caller }
    expect(resume.mock.calls[0]?.[0]).toMatchObject({ by })
    expect(cancel.mock.calls[0]?.[0]).toMatchObject({ by })
  })
})

describe('the run a model acts in', () => {
  test('cannot be answered or stopped, nor can a run above it', async () => {
    const { session, resume, cancel } = watched()
    const grandparent = await asking(session, question('q1'))
    const parent = await session.startUnder(grandparent)
    const callerRunId = await session.startUnder(parent)
    for (const target of [callerRunId, parent, grandparent]) {
      const refused = { code: 'own_run', details: { run_id: target } }
      const answer = { run_id: target, resume: yes }
      expect(await session.refusal('workflow_run_resume', answer, { callerRunId })).toMatchObject(
        refused,
      )
      const stop = { run_id: target }
      expect(await session.refusal('workflow_run_cancel', stop, { callerRunId })).toMatchObject(
        refused,
      )
    }
    expect(resume).not.toHaveBeenCalled()
    expect(cancel).not.toHaveBeenCalled()
  })

  test('nor the run that started it as a child', async () => {
    const plain = createSession()
    const parent = await plain.start()
    const callerRunId = await plain.start()
    const { store } = plain
    const session = createSession({
      store,
      runs: {
        runs: (...request) => store.runs(...request),
        runByIdempotencyKey: (...request) => store.runByIdempotencyKey(...request),
        async run(sessionId, runId) {
          const run = await store.run(sessionId, runId)
          if (run === undefined || runId !== callerRunId) return run
          return { ...run, record: { ...run.record, childOf: parent } }
        },
      },
    })
    const stop = { run_id: parent }
    expect(await session.refusal('workflow_run_cancel', stop, { callerRunId })).toMatchObject({
      code: 'own_run',
    })
    expect(await session.call('workflow_run_cancel', stop)).toMatchObject({ idempotent: false })
  })

  test('runs below it and beside it may be stopped', async () => {
    const { session } = watched()
    const callerRunId = await session.startUnder(await session.start())
    const child = await session.startUnder(callerRunId)
    const unrelated = await session.start()
    for (const runId of [child, unrelated]) {
      const stopped = session.call('workflow_run_cancel', { run_id: runId }, { callerRunId })
      await expect(stopped).resolves.toMatchObject({ idempotent: false })
    }
  })

  test('a tree that is deeper than what is looked at is refused, not searched', async () => {
    const { session } = watched()
    const target = await session.start()
    let callerRunId = await session.start()
    for (let depth = 0; depth < ancestorsRead; depth += 1) {
      callerRunId = await session.startUnder(callerRunId)
    }
    const stop = { run_id: target }
    expect(await session.refusal('workflow_run_cancel', stop, { callerRunId })).toMatchObject({
      code: 'own_run',
    })
  })

  test('a caller that is no id is a mistake of the host’s, and acts on nothing', async () => {
    const { session, cancel } = watched()
    const runId = await session.start()
    const invocation = { callerRunId: 'chat' }
    expect(
      await session.refusal('workflow_run_cancel', { run_id: runId }, invocation),
    ).toMatchObject({
      code: 'id_invalid',
    })
    expect(cancel).not.toHaveBeenCalled()
  })
})

describe('agents and harnesses', () => {
  const names = async (session: Session): Promise<readonly unknown[]> => {
    const { definitions } = await session.call('workflow_definition_list', {})
    return (definitions as readonly { readonly name: string }[]).map(({ name }) => name)
  }

  test('are neither listed nor started, and read as what does not exist', async () => {
    const session = createSession()
    expect(await names(session)).toEqual(['counter_flow', 'letters_flow', 'targeted_flow'])
    const refusals = await Promise.all(
      ['chat_agent', 'coding_harness', 'no_such_flow'].map((definition_name) =>
        session.refusal('workflow_run_start', {
          definition_name,
          definition_version: 'v1',
          input: {},
        }),
      ),
    )
    for (const { code, message, details } of refusals) {
      expect({ code, message, details }).toEqual({
        code: 'definition_unknown',
        message: 'unknown workflow definition',
        details: {},
      })
    }
  })

  test('are offered when the host lists them, and then nothing else is', async () => {
    const session = createSession({ allowedDefinitions: [{ name: 'chat_agent', version: 'v1' }] })
    expect(await names(session)).toEqual(['chat_agent'])
    await session.start({ name: 'chat_agent', version: 'v1' }, {})
    const given = { definition_name: 'counter_flow', definition_version: 'v1', input: { count: 1 } }
    expect(await session.refusal('workflow_run_start', given)).toMatchObject({
      code: 'definition_unknown',
    })
  })

  test('their runs can be seen, but neither answered nor stopped', async () => {
    const { session, resume, cancel } = watched()
    const runId = await session.hostRun('chat_agent')
    await session.move(runId, { status: 'running' })
    const schema = { type: 'object' }
    const interrupts = [question('q1', { payload: { toolName: 'pay', input: 'secret' }, schema })]
    await session.move(runId, { status: 'interrupted', interrupts })
    const run = await session.call('workflow_run_get', { run_id: runId })
    expect(run).toMatchObject({ definition_name: 'chat_agent', interrupts: [{ id: 'q1' }] })
    expect(JSON.stringify(run)).not.toContain('secret')
    expect(
      await session.refusal('workflow_run_resume', { run_id: runId, resume: yes }),
    ).toMatchObject({
      code: 'not_permitted',
    })
    expect(await session.refusal('workflow_run_cancel', { run_id: runId })).toMatchObject({
      code: 'not_permitted',
    })
    expect(resume).not.toHaveBeenCalled()
    expect(cancel).not.toHaveBeenCalled()
  })
})
