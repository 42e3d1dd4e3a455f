// `workflow_run_start`: section 8.2 and R1.
import { describe, expect, test, vi } from 'vitest'
import { HoldfastError } from '@holdfast/core'
import type { Supervisor } from '@holdfast/core'
import { createSession, sessionOne, textOf } from './support/session.ts'
import { describeOnStores } from './support/stores.ts'

describeOnStores(() => {
  const given = {
    definition_name: 'counter_flow',
    definition_version: 'v1',
    input: { count: 1 },
  }
  const elsewhere = '00000000-0000-7000-8000-0000000000ff'

  /** A session whose supervisor's start can be watched and replaced. */
  function watchedStart(replace?: (own: Supervisor) => Supervisor['start'], more = {}) {
    const start = vi.fn<Supervisor['start']>()
    const session = createSession({
      ...more,
      around: (own) => {
        start.mockImplementation(replace?.(own) ?? ((...call) => own.start(...call)))
        return { ...own, start }
      },
    })
    return { session, start }
  }

  describe('a start that is refused creates nothing', () => {
    test.each([
      ['an unknown name', { ...given, definition_name: 'counter_glow' }, 'definition_unknown'],
      ['an unknown version', { ...given, definition_version: 'v2' }, 'definition_unknown'],
      ['a version in other case', { ...given, definition_version: 'V1' }, 'definition_unknown'],
      ['an input that does not fit', { ...given, input: { count: 'one' } }, 'input_invalid'],
      ['an input with a field too many', { ...given, input: { count: 1, x: 1 } }, 'input_invalid'],
      ['a parent that is no id', { ...given, parent_run_id: 'mother' }, 'id_invalid'],
      ['a parent that does not exist', { ...given, parent_run_id: elsewhere }, 'run_not_found'],
    ])('%s', async (_what, call, code) => {
      const { session, start } = watchedStart()
      expect(await session.refusal('workflow_run_start', call)).toMatchObject({ code })
      expect(start).not.toHaveBeenCalled()
      expect((await session.store.runs(sessionOne)).items).toEqual([])
    })

    test('says what is wrong with an input without repeating it', async () => {
      const { session } = watchedStart()
      const call = { ...given, input: { count: 'my secret' } }
      const error = await session.refusal('workflow_run_start', call)
      expect(error.message).toContain('/count')
      expect(JSON.stringify([error.message, error.details])).not.toContain('my secret')
    })

    test('an input over 256 KiB, 32 levels or 4,096 properties', async () => {
      const { session, start } = watchedStart()
      const letters = { definition_name: 'letters_flow', definition_version: 'v1' }
      const deep = JSON.parse(`${'['.repeat(32)}${']'.repeat(32)}`) as unknown
      const wide = Object.fromEntries(
        Array.from({ length: 4_096 }, (_value, index) => [`k${index}`, 1]),
      )
      for (const [any, code] of [
        ['x'.repeat(262_144), 'json_too_large'],
        [deep, 'json_too_deep'],
        [wide, 'json_too_many_properties'],
      ] as const) {
        expect(
          await session.refusal('workflow_run_start', { ...letters, input: { any } }),
        ).toMatchObject({ code })
      }
      expect(start).not.toHaveBeenCalled()
    })

    test('the largest input that is allowed is taken', async () => {
      const { session } = watchedStart()
      const any = 'x'.repeat(262_144 - '{"any":""}'.length)
      const runId = await session.start({ name: 'letters_flow', version: 'v1' }, { any })
      expect((await session.store.run(sessionOne, runId))?.record.input.size).toBe(262_144)
    })
  })

  test('a parent of the session is recorded; the empty text is none', async () => {
    const { session } = watchedStart()
    const parent = await session.start()
    const child = await session.call('workflow_run_start', {
      ...given,
      parent_run_id: parent.toUpperCase(),
    })
    expect(child).toMatchObject({ parent_run_id: parent })
    const orphan = await session.call('workflow_run_start', { ...given, parent_run_id: '' })
    expect(orphan).not.toHaveProperty('parent_run_id')
  })

  test('ids are minted in order, run first, and a bad one starts nothing', async () => {
    for (const ids of [
      ['', elsewhere],
      [elsewhere, 'execution'],
    ]) {
      const left = [...ids]
      const { session, start } = watchedStart(undefined, { newId: () => left.shift() ?? '' })
      expect(await session.refusal('workflow_run_start', given)).toMatchObject({ code: 'internal' })
      expect(start).not.toHaveBeenCalled()
    }
  })

  describe('an unknown outcome', () => {
    const unknown = new HoldfastError('store_outcome_unknown', { message: 'Nobody knows.' })

    test('of a start that was written is the run', async () => {
      const { session } = watchedStart((own) => async (...call) => {
        await own.start(...call)
        throw unknown
      })
      expect(await session.call('workflow_run_start', given)).toMatchObject({
        run_status: 'pending',
      })
      expect((await session.store.runs(sessionOne)).items).toHaveLength(1)
    })

    test('of a start that cannot be seen names the run', async () => {
      const { session, start } = watchedStart(() => () => Promise.reject(unknown))
      const error = await session.refusal('workflow_run_start', given)
      const id = start.mock.calls[0]?.[0].id
      expect(error).toMatchObject({ code: 'store_outcome_unknown', details: { run_id: id } })
      expect(error.message).toContain(id)
    })

    test('of a foreign failure names the run and keeps its words to itself', async () => {
      const cause = new Error('postgres://user:password@db')
      const { session, start } = watchedStart(() => () => Promise.reject(cause))
      const error = await session.refusal('workflow_run_start', given)
      expect(error).toMatchObject({
        code: 'internal',
        cause,
        details: { run_id: start.mock.calls[0]?.[0].id },
      })
      expect(error.message).not.toContain('password')
    })

    test('a definite refusal names no run', async () => {
      const full = new HoldfastError('store_full', { message: 'Full.' })
      const { session } = watchedStart(() => () => Promise.reject(full))
      const error = await session.refusal('workflow_run_start', given)
      expect(error).toBe(full)
      expect(error.details).not.toHaveProperty('run_id')
    })
  })

  describe('a caller that gives up', () => {
    test('before the call starts nothing', async () => {
      const { session, start } = watchedStart()
      const signal = AbortSignal.abort()
      expect(await session.refusal('workflow_run_start', given, { signal })).toMatchObject({
        code: 'aborted',
      })
      expect(start).not.toHaveBeenCalled()
    })

    test('during the call gets an error that names the run, which goes on', async () => {
      const controller = new AbortController()
      const { session, start } = watchedStart((own) => async (draft, input, options) => {
        await own.start(draft, input, options)
        controller.abort()
        throw new HoldfastError('aborted', { message: 'The start was aborted.' })
      })
      const error = await session.refusal('workflow_run_start', given, {
        signal: controller.signal,
      })
      const id = start.mock.calls[0]?.[0].id
      expect(error).toMatchObject({ code: 'aborted', details: { run_id: id } })
      expect(await session.store.run(sessionOne, id ?? '')).toBeDefined()
    })
  })

  describe('R1. a retried start', () => {
    test('without a key makes a second run', async () => {
      const { session } = watchedStart()
      expect(await session.start()).not.toBe(await session.start())
    })

    test('with the key of a durable agent’s call is the same run, extensions or not', async () => {
      for (const extensions of [false, true]) {
        const prepareRun = vi.fn((draft) => draft)
        const { session, start } = watchedStart(undefined, { extensions, prepareRun })
        const invocation = { idempotencyKey: 'step 3, call 1' }
        const first = await session.call('workflow_run_start', given, invocation)
        const again = await session.call('workflow_run_start', given, invocation)
        expect(again).toEqual(first)
        expect(start.mock.calls[0]?.[2]).toMatchObject(invocation)
        expect(prepareRun).toHaveBeenCalledOnce()
        expect((await session.store.runs(sessionOne)).items).toHaveLength(1)
      }
    })

    test('at the same time, twice, is one run', async () => {
      const { session } = watchedStart()
      const invocation = { idempotencyKey: 'once' }
      const results = await Promise.all(
        Array.from({ length: 8 }, () => session.call('workflow_run_start', given, invocation)),
      )
      expect(new Set(results.map((run) => textOf(run, 'run_id'))).size).toBe(1)
    })

    test('with the same key and other input is refused', async () => {
      const { session } = watchedStart()
      const invocation = { idempotencyKey: 'one' }
      await session.call('workflow_run_start', given, invocation)
      const other = { ...given, input: { count: 2 } }
      expect(await session.refusal('workflow_run_start', other, invocation)).toMatchObject({
        code: 'idempotency_key_reused',
      })
    })

    test('with the same key and input but another definition is refused', async () => {
      const { session } = watchedStart()
      const invocation = { idempotencyKey: 'one' }
      const empty = { definition_version: 'v1', input: {} }
      await session.call(
        'workflow_run_start',
        { ...empty, definition_name: 'letters_flow' },
        invocation,
      )
      expect(
        await session.refusal(
          'workflow_run_start',
          { ...empty, definition_name: 'targeted_flow' },
          invocation,
        ),
      ).toMatchObject({ code: 'idempotency_key_reused' })
    })

    test('a key of any length is taken', async () => {
      const { session } = watchedStart()
      const invocation = { idempotencyKey: 'k'.repeat(5_000) }
      const first = await session.call('workflow_run_start', given, invocation)
      expect(await session.call('workflow_run_start', given, invocation)).toEqual(first)
    })

    test('the model’s own key works with extensions, and is unknown without', async () => {
      const keyed = { ...given, idempotency_key: 'report for May' }
      const plain = createSession()
      expect(await plain.refusal('workflow_run_start', keyed)).toMatchObject({
        code: 'arguments_invalid',
      })
      const session = createSession({ extensions: true })
      const first = await session.call('workflow_run_start', keyed)
      expect(await session.call('workflow_run_start', keyed)).toEqual(first)
    })

    test('the model’s own key cannot find a run that the host started by that key', async () => {
      const session = createSession({ extensions: true })
      const id = session.system.runId()
      const input = new TextEncoder().encode('{"count":1}')
      const draft = { id, definition: { name: 'counter_flow', version: 'v1' } }
      await session.supervisor.start(draft, input, { idempotencyKey: 'order-1' })
      const run = await session.call('workflow_run_start', { ...given, idempotency_key: 'order-1' })
      expect(run['run_id']).not.toBe(id)
    })
  })
})
