// `workflow_run_resume`: section 8.5 and 0.8.
import { describe, expect, test, vi } from 'vitest'
import type { Supervisor } from '@holdfast/core'
import { asking, question } from './support/questions.ts'
import { createSession } from './support/session.ts'
import type { Session } from './support/session.ts'
import { describeOnStores } from './support/stores.ts'

describeOnStores(() => {
  const yes = { approved: true }

  function watched(options = {}) {
    const resume = vi.fn<Supervisor['resume']>()
    const session = createSession({
      ...options,
      around: (own) => ({
        ...own,
        resume: resume.mockImplementation((request) => own.resume(request)),
      }),
    })
    return { session, resume }
  }

  test('an accepted answer shows the run as running at once', async () => {
    const { session, resume } = watched()
    const runId = await asking(session, question('q1'))
    expect(await session.call('workflow_run_get', { run_id: runId })).toMatchObject({
      run_status: 'interrupted',
      interrupts: [{ id: 'q1', answer: 'anyone' }],
    })
    const run = await session.call('workflow_run_resume', { run_id: runId, resume: yes })
    expect(run).toMatchObject({ run_id: runId, run_status: 'running' })
    expect(run).not.toHaveProperty('interrupts')
    expect(resume.mock.calls[0]?.[0]).toEqual({ runId, payload: yes, by: { kind: 'model' } })
  })

  test('a question of a run that is still running can be answered', async () => {
    const { session } = watched()
    const runId = await session.start({ name: 'letters_flow', version: 'v1' }, {})
    await session.move(runId, { status: 'running', interrupts: [question('q1')] })
    expect(await session.call('workflow_run_resume', { run_id: runId, resume: yes })).toMatchObject(
      {
        run_status: 'running',
      },
    )
  })

  describe('is refused, and the supervisor not called, for', () => {
    test.each([
      ['a pending run', undefined, 'run_not_interrupted'],
      ['a completed run', 'completed', 'run_ended'],
      ['a failed run', 'failed', 'run_ended'],
      ['a cancelled run', 'cancelled', 'run_ended'],
    ] as const)('%s', async (_what, status, code) => {
      const { session, resume } = watched()
      const runId = await session.start()
      if (status !== undefined) {
        await session.move(runId, { status: 'running' })
        await session.move(runId, { status })
      }
      const error = await session.refusal('workflow_run_resume', { run_id: runId, resume: {} })
      expect(error).toMatchObject({ code, message: expect.stringContaining(runId) as string })
      expect(resume).not.toHaveBeenCalled()
    })

    test('a second answer', async () => {
      const { session } = watched()
      const runId = await asking(session, question('q1'))
      await session.call('workflow_run_resume', { run_id: runId, resume: yes })
      expect(
        await session.refusal('workflow_run_resume', { run_id: runId, resume: yes }),
      ).toMatchObject({
        code: 'run_not_interrupted',
      })
    })

    test('an answer with a field too many, or of another type', async () => {
      const { session, resume } = watched()
      const runId = await asking(session, question('q1'))
      for (const answer of [{ approved: true, x: 1 }, { approved: 'my secret' }, {}]) {
        const error = await session.refusal('workflow_run_resume', {
          run_id: runId,
          resume: answer,
        })
        expect(error.code).toBe('input_invalid')
        expect(error.message).toContain('invalid workflow input (resume)')
        expect(error.message).not.toContain('my secret')
      }
      expect(resume).not.toHaveBeenCalled()
    })

    test('a definition without a resume schema', async () => {
      const { session, resume } = watched()
      const runId = await session.start()
      await session.move(runId, { status: 'running', interrupts: [question('q1')] })
      expect(
        await session.refusal('workflow_run_resume', { run_id: runId, resume: {} }),
      ).toMatchObject({
        code: 'resume_unsupported',
        message: expect.stringContaining('resume is not supported') as string,
      })
      expect(resume).not.toHaveBeenCalled()
    })

    test('a definition that is not registered any more', async () => {
      const { session } = watched()
      const runId = await asking(session, question('q1', { payload: 'hidden' }))
      const later = createSession({ store: session.store, definitions: [] })
      expect(
        await later.refusal('workflow_run_resume', { run_id: runId, resume: yes }),
      ).toMatchObject({
        code: 'definition_unknown',
      })
      const run = await later.call('workflow_run_get', { run_id: runId })
      expect(run).toMatchObject({ interrupts: [{ id: 'q1' }] })
      expect(JSON.stringify(run)).not.toContain('hidden')
      expect(await later.call('workflow_run_cancel', { run_id: runId })).toMatchObject({
        idempotent: false,
      })
    })
  })

  test('the question’s own schema goes before the definition’s', async () => {
    const { session } = watched()
    const schema = {
      type: 'object',
      additionalProperties: false,
      properties: { colour: { enum: ['red'] } },
      required: ['colour'],
    }
    const runId = await asking(session, question('q1', { schema }))
    expect(await session.call('workflow_run_get', { run_id: runId })).toMatchObject({
      interrupts: [{ schema }],
    })
    expect(
      await session.refusal('workflow_run_resume', { run_id: runId, resume: yes }),
    ).toMatchObject({
      code: 'input_invalid',
    })
    await session.call('workflow_run_resume', { run_id: runId, resume: { colour: 'red' } })
  })

  describe('a question whose schema the run’s row had no room for', () => {
    const schema = {
      type: 'object',
      additionalProperties: false,
      properties: { colour: { enum: ['red'] } },
      required: ['colour'],
    }
    const dropped = async (session: Session): Promise<string> => {
      const runId = await session.start({ name: 'letters_flow', version: 'v1' }, {})
      const opened = (interruptId: string) => ({
        kind: 'interrupt-opened' as const,
        at: 1,
        path: interruptId,
        label: 'approve',
        interruptId,
        answer: 'anyone' as const,
      })
      await session.move(runId, { status: 'running' })
      await session.move(runId, {
        status: 'interrupted',
        interrupts: [question('q1', { revision: 2 })],
        entries: [opened('other'), { ...opened('q1'), schema }],
      })
      return runId
    }

    test('is checked against the journaled one, which is shown too', async () => {
      const { session, resume } = watched()
      const run_id = await dropped(session)
      expect(await session.call('workflow_run_get', { run_id })).toMatchObject({
        interrupts: [{ id: 'q1', schema }],
      })
      expect(await session.refusal('workflow_run_resume', { run_id, resume: yes })).toMatchObject({
        code: 'input_invalid',
      })
      expect(resume).not.toHaveBeenCalled()
      await session.call('workflow_run_resume', { run_id, resume: { colour: 'red' } })
      expect(resume).toHaveBeenCalledOnce()
    })

    test('is left to the supervisor where the journal cannot be read', async () => {
      const { session } = watched()
      const run_id = await dropped(session)
      const { store } = session
      const resume = vi.fn(session.supervisor.resume)
      const other = createSession({
        store,
        runs: {
          run: (...request) => store.run(...request),
          runs: (...request) => store.runs(...request),
          runByIdempotencyKey: (...request) => store.runByIdempotencyKey(...request),
        },
        around: (given) => ({ ...given, resume }),
      })
      await other.call('workflow_run_resume', { run_id, resume: { colour: 'red' } })
      expect(resume).toHaveBeenCalledOnce()
    })
  })

  describe('several open questions', () => {
    test('are named when none is', async () => {
      const { session, resume } = watched()
      const runId = await asking(session, question('q1'), question('q2'))
      expect(
        await session.refusal('workflow_run_resume', { run_id: runId, resume: yes }),
      ).toMatchObject({
        code: 'ambiguous_interrupt',
        message: expect.stringMatching(/q1, q2/) as string,
        details: { interrupts: ['q1', 'q2'] },
      })
      expect(resume).not.toHaveBeenCalled()
    })

    test('are told apart by interrupt_id with extensions, in any order', async () => {
      const { session } = watched({ extensions: true })
      const runId = await asking(session, question('q1'), question('q2'))
      const answer = (interrupt_id: string) => ({ run_id: runId, resume: yes, interrupt_id })
      expect(await session.refusal('workflow_run_resume', answer('q3'))).toMatchObject({
        code: 'interrupt_not_found',
      })
      expect(await session.call('workflow_run_resume', answer('q2'))).toMatchObject({
        run_status: 'interrupted',
        interrupts: [{ id: 'q1' }],
      })
      expect(await session.call('workflow_run_resume', answer('q1'))).toMatchObject({
        run_status: 'running',
      })
    })

    test('are told apart by interrupt_id in the payload, where the schema has it', async () => {
      const { session, resume } = watched()
      const runId = await session.start({ name: 'targeted_flow', version: 'v1' }, {})
      await session.move(runId, { status: 'running', interrupts: [question('q1'), question('q2')] })
      const payload = { interrupt_id: 'q2', approved: true }
      await session.call('workflow_run_resume', { run_id: runId, resume: payload })
      expect(resume.mock.calls[0]?.[0]).toMatchObject({ interruptId: 'q2', payload })
    })
  })

  test('R5. many answers at once: one is accepted, the others are refused', async () => {
    const { session } = watched()
    const runId = await asking(session, question('q1'))
    const results = await Promise.allSettled(
      Array.from({ length: 16 }, () =>
        session.call('workflow_run_resume', { run_id: runId, resume: yes }),
      ),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const inbox = await session.store.logPage(session.sessionId, `inbox/${runId}`, {
      from: 0,
      limit: 100,
    })
    expect(inbox.entries).toHaveLength(1)
  })

  describe('a call that a durable agent repeats after a crash', () => {
    test('finds its answer accepted, while it is unread, and after the run went on or ended', async () => {
      const { session } = watched()
      const runId = await asking(session, question('q1'))
      const given = { run_id: runId, resume: yes }
      const invocation = { idempotencyKey: 'step 4, call 1' }
      await session.call('workflow_run_resume', given, invocation)
      expect(await session.call('workflow_run_resume', given, invocation)).toMatchObject({
        run_status: 'running',
      })
      await session.move(runId, { status: 'running', interrupts: [] })
      expect(await session.call('workflow_run_resume', given, invocation)).toMatchObject({
        run_status: 'running',
      })
      await session.move(runId, { status: 'completed' })
      expect(await session.call('workflow_run_resume', given, invocation)).toMatchObject({
        run_status: 'completed',
      })
    })

    test('does not answer the next question in its place', async () => {
      const { session } = watched()
      const runId = await asking(session, question('q1'))
      const given = { run_id: runId, resume: yes }
      const invocation = { idempotencyKey: 'step 4, call 1' }
      await session.call('workflow_run_resume', given, invocation)
      await session.move(runId, { status: 'running', interrupts: [question('q2')] })
      await session.call('workflow_run_resume', given, invocation)
      expect(await session.call('workflow_run_get', { run_id: runId })).toMatchObject({
        interrupts: [{ id: 'q2' }],
      })
    })

    test('of which nothing is known is refused as any other', async () => {
      const { session } = watched()
      const runId = await session.start()
      const given = { run_id: runId, resume: {} }
      expect(
        await session.refusal('workflow_run_resume', given, { idempotencyKey: 'k' }),
      ).toMatchObject({
        code: 'run_not_interrupted',
      })
    })
  })
})
