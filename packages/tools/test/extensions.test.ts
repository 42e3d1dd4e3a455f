// The optional arguments, and R2: a model need not poll.
import { describe, expect, test } from 'vitest'
import type { Watcher } from '@holdfast/core'
import { utf8Length } from '@holdfast/json'
import { longestWaitMs } from '../src/index.ts'
import { asking, question } from './support/questions.ts'
import { createSession } from './support/session.ts'

test('without them, none of their arguments is known', async () => {
  const session = createSession()
  const runId = await session.start()
  for (const [name, given] of [
    ['workflow_definition_list', { limit: 1 }],
    ['workflow_run_get', { run_id: runId, wait_ms: 1 }],
    ['workflow_run_list', { order: 'descending' }],
    ['workflow_run_list', { run_status: ['running'] }],
    ['workflow_run_resume', { run_id: runId, resume: {}, interrupt_id: 'q1' }],
    ['workflow_run_history', { run_id: runId, wait_ms: 1 }],
  ] as const) {
    expect(await session.refusal(name, given)).toMatchObject({ code: 'arguments_invalid' })
  }
  expect(await session.call('workflow_run_get', { run_id: runId })).not.toHaveProperty('advice')
})

describe('R2. waiting', () => {
  test('descriptions and results tell the model not to poll', async () => {
    const session = createSession({ extensions: true })
    for (const name of ['workflow_run_get', 'workflow_run_history'] as const) {
      expect(session.tool(name).info().description).toContain('Do not poll')
    }
    for (const tool of session.tools) {
      expect(utf8Length(tool.info().description)).toBeLessThanOrEqual(256)
    }
    const runId = await session.start()
    const adviceOf = async (id: string) =>
      (await session.call('workflow_run_get', { run_id: id }))['advice']
    expect(await adviceOf(runId)).toContain('wait_ms')
    expect(await adviceOf(await asking(session, question('q1')))).toContain('workflow_run_resume')
    const person = question('q1', { answer: 'person' })
    expect(await adviceOf(await asking(session, person))).toContain('A person must answer')
    await session.move(runId, { status: 'cancelled' })
    expect(await adviceOf(runId)).toBeUndefined()
  })

  test('get returns as soon as the run ends', async () => {
    const session = createSession({ extensions: true })
    const runId = await session.start()
    const waiting = session.call('workflow_run_get', { run_id: runId, wait_ms: 30_000 })
    await session.system.settle()
    await session.move(runId, { status: 'running' })
    await session.system.settle()
    expect(session.system.timerCount).toBe(1)
    await session.move(runId, { status: 'completed' })
    expect(await waiting).toMatchObject({ run_status: 'completed' })
    expect(session.system.timerCount).toBe(0)
  })

  test('get returns as soon as the run asks something', async () => {
    const session = createSession({ extensions: true })
    const runId = await session.start()
    const waiting = session.call('workflow_run_get', { run_id: runId, wait_ms: 30_000 })
    await session.system.settle()
    await session.move(runId, { status: 'running', interrupts: [question('q1')] })
    expect(await waiting).toMatchObject({ run_status: 'running', interrupts: [{ id: 'q1' }] })
  })

  test('get of a run that was asked to stop waits for its end, not for its question', async () => {
    const session = createSession({ extensions: true })
    const run_id = await asking(session, question('q1', { answer: 'person' }))
    await session.call('workflow_run_cancel', { run_id })
    const waiting = session.call('workflow_run_get', { run_id, wait_ms: 1_000 })
    await session.system.settle()
    expect(session.system.timerCount).toBe(1)
    await session.move(run_id, { status: 'cancelled', interrupts: [] })
    expect(await waiting).toMatchObject({ run_status: 'cancelled' })
  })

  test('get returns at its bound with what there is, and that is no error', async () => {
    const session = createSession({ extensions: true })
    const runId = await session.start()
    const waiting = session.call('workflow_run_get', { run_id: runId, wait_ms: 5_000 })
    await session.system.settle()
    await session.system.advance(4_999)
    expect(session.system.timerCount).toBe(1)
    await session.system.advance(1)
    expect(await waiting).toMatchObject({ run_status: 'pending' })
    expect(session.system.timerCount).toBe(0)
  })

  test('get does not wait for a run that has ended, or asks already', async () => {
    const session = createSession({ extensions: true })
    const asked = await asking(session, question('q1'))
    const ended = await session.start()
    await session.move(ended, { status: 'cancelled' })
    for (const runId of [asked, ended]) {
      await session.call('workflow_run_get', { run_id: runId, wait_ms: 30_000 })
    }
    expect(session.system.timerCount).toBe(0)
  })

  test('history returns as soon as there is an entry behind the cursor', async () => {
    const session = createSession({ extensions: true })
    const runId = await session.start()
    const given = { run_id: runId, after_revision: 1, wait_ms: 30_000 }
    const waiting = session.call('workflow_run_history', given)
    await session.system.settle()
    await session.move(runId, {
      status: 'running',
      entries: [{ kind: 'cancel-requested', at: 1, reason: 'r', inbox: 0 }],
    })
    expect(await waiting).toMatchObject({
      entries: [{ revision: 1, kind: 'run_cancel_requested' }],
    })
    expect(session.system.timerCount).toBe(0)
  })

  test('history of an ended run does not wait for more', async () => {
    const session = createSession({ extensions: true })
    const runId = await session.start()
    await session.move(runId, { status: 'cancelled' })
    const given = { run_id: runId, after_revision: 9, wait_ms: 30_000 }
    expect(await session.call('workflow_run_history', given)).toMatchObject({
      entries: [],
      tail_revision: 2,
    })
  })

  test('a caller that gives up ends the wait', async () => {
    const session = createSession({ extensions: true })
    const runId = await session.start()
    for (const name of ['workflow_run_get', 'workflow_run_history'] as const) {
      const controller = new AbortController()
      const given = {
        run_id: runId,
        wait_ms: 30_000,
        ...(name === 'workflow_run_get' ? {} : { after_revision: 1 }),
      }
      const waiting = session.refusal(name, given, { signal: controller.signal })
      await session.system.settle()
      controller.abort()
      expect(await waiting).toMatchObject({ code: 'aborted' })
      expect(session.system.timerCount).toBe(0)
    }
  })

  test('another session’s run is not waited for', async () => {
    const session = createSession({ extensions: true })
    const given = { run_id: '00000000-0000-7000-8000-0000000000ff', wait_ms: 30_000 }
    for (const name of ['workflow_run_get', 'workflow_run_history'] as const) {
      expect(await session.refusal(name, given)).toMatchObject({ code: 'run_not_found' })
    }
    expect(session.system.timerCount).toBe(0)
  })

  test.each([-1, longestWaitMs + 1, 1.5, '5'])('wait_ms of %j is refused', async (wait_ms) => {
    const session = createSession({ extensions: true })
    const runId = await session.start()
    expect(await session.refusal('workflow_run_get', { run_id: runId, wait_ms })).toMatchObject({
      code: 'arguments_invalid',
    })
  })

  test('without a watcher there is no wait_ms, and the advice says so', async () => {
    const session = createSession({ extensions: true, watches: false })
    const runId = await session.start()
    expect(await session.refusal('workflow_run_get', { run_id: runId, wait_ms: 1 })).toMatchObject({
      code: 'arguments_invalid',
    })
    const run = await session.call('workflow_run_get', { run_id: runId })
    expect(run['advice']).not.toContain('wait_ms')
  })

  const broken: readonly (readonly [string, Watcher])[] = [
    ['ends', { watch: async function* () {} }],
    [
      'fails',
      {
        watch: () => ({
          [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('gone')) }),
        }),
      },
    ],
  ]

  test.each(broken)('a watch that %s ends the wait with what there is', async (_what, watcher) => {
    const session = createSession({ extensions: true, watcher })
    const runId = await session.start()
    expect(
      await session.call('workflow_run_get', { run_id: runId, wait_ms: 30_000 }),
    ).toMatchObject({
      run_status: 'pending',
    })
    expect(session.system.timerCount).toBe(0)
  })

  test('a watch that never tells anything, nor listens to its signal, is bounded too', async () => {
    const silent: Watcher = {
      watch: () => ({
        [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }),
      }),
    }
    const session = createSession({ extensions: true, watcher: silent })
    const runId = await session.start()
    const waiting = session.call('workflow_run_get', { run_id: runId, wait_ms: 1_000 })
    await session.system.settle()
    await session.system.advance(1_000)
    expect(await waiting).toMatchObject({ run_status: 'pending' })
  })
})
