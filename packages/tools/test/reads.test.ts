// What the read tools show, and that they never show more than fits: sections 8.1, 8.3, 8.4, 8.7, R3.
import { describe, expect, test } from 'vitest'
import type { Activity, AnyWorkflowDefinition, JsonObject, JsonValue } from '@holdfast/core'
import { utf8Length } from '@holdfast/json'
import { defineWorkflow } from '@holdfast/workflow'
import type { JournalEntry } from '@holdfast/workflow'
import { asking, question } from './support/questions.ts'
import { createSession, sessionOne, textOf } from './support/session.ts'
import { describeOnStores } from './support/stores.ts'

describeOnStores(() => {
  const digest = 'd'.repeat(64)
  /** Six bytes of JSON for each of its bytes. */
  const control = (length: number): string => '\u0001'.repeat(length)

  function rowsOf(result: JsonObject, name: string): readonly JsonObject[] {
    return result[name] as readonly JsonObject[]
  }

  describe('workflow_definition_list', () => {
    test('shows names, versions, schemas and whether answers are taken, in catalog order', async () => {
      const session = createSession()
      const result = await session.call('workflow_definition_list', {})
      expect(result['truncated']).toBe(false)
      expect(
        rowsOf(result, 'definitions').map(({ name, version, resume_supported }) => [
          name,
          version,
          resume_supported,
        ]),
      ).toEqual([
        ['counter_flow', 'v1', false],
        ['letters_flow', 'v1', true],
        ['targeted_flow', 'v1', true],
      ])
      expect(rowsOf(result, 'definitions')[0]).toEqual({
        name: 'counter_flow',
        version: 'v1',
        description: 'Counts.',
        resume_supported: false,
        input_schema: {
          type: 'object',
          additionalProperties: false,
          properties: { count: { type: 'integer' } },
          required: ['count'],
        },
      })
      expect(rowsOf(result, 'definitions')[1]).toHaveProperty('resume_schema.required', [
        'approved',
      ])
    })

    const many = (count: number, filler = 0): readonly AnyWorkflowDefinition[] =>
      Array.from({ length: count }, (_value, index) =>
        defineWorkflow({
          name: `flow_${String(index).padStart(4, '0')}`,
          version: 'v1',
          description: 'One of many.',
          input: {
            type: 'object',
            additionalProperties: false,
            properties: { text: { type: 'string', description: 'x'.repeat(filler) } },
          },
          run: () => null,
        }),
      )

    test('stops at a hundred, and says so', async () => {
      const session = createSession({ definitions: many(101) })
      const result = await session.call('workflow_definition_list', {})
      expect(rowsOf(result, 'definitions')).toHaveLength(100)
      expect(result['truncated']).toBe(true)
      const exactly = createSession({ definitions: many(100) })
      expect(await exactly.call('workflow_definition_list', {})).toMatchObject({ truncated: false })
    })

    test('stops at 256 KiB, and says so', async () => {
      const session = createSession({ definitions: many(10, 60_000) })
      const result = await session.call('workflow_definition_list', {})
      expect(rowsOf(result, 'definitions')).toHaveLength(4)
      expect(result['truncated']).toBe(true)
    })

    test('with extensions is paged without loss or repeat, shortened pages too', async () => {
      for (const [count, filler] of [
        [230, 0],
        [10, 60_000],
      ] as const) {
        const session = createSession({ definitions: many(count, filler), extensions: true })
        const names: unknown[] = []
        let after: JsonValue | undefined
        do {
          const given = { limit: 100, ...(after === undefined ? {} : { after }) }
          const page = await session.call('workflow_definition_list', given)
          names.push(...rowsOf(page, 'definitions').map(({ name }) => name))
          expect(page['truncated']).toBe(page['next'] !== undefined)
          after = page['next']
        } while (after !== undefined)
        expect(names).toEqual(many(count).map(({ name }) => name))
      }
    })

    test('with extensions refuses a cursor that is none', async () => {
      const session = createSession({ extensions: true })
      for (const after of ['', 'counter_flow', 'a@b@c']) {
        expect(await session.refusal('workflow_definition_list', { after })).toMatchObject({
          code: 'arguments_invalid',
        })
      }
    })
  })

  describe('workflow_run_get', () => {
    test('shows all that a model needs to act', async () => {
      const session = createSession()
      const payload = { order: 1002, total: 240 }
      const runId = await asking(
        session,
        question('q1', { answer: 'person', reason: 'Refund?', payload }),
      )
      await session.move(runId, {
        record: {
          statusSummary: 'half way',
          artifacts: [{ id: 'report', kind: 'pdf', digest, size: 3 }],
          cancelRequested: true,
        },
        head: {
          completed_steps: 2,
          total_steps: 8,
          progress: { completed: 1, total: 4, message: 'reading' },
        },
      })
      expect(await session.call('workflow_run_get', { run_id: runId })).toMatchObject({
        run_id: runId,
        run_status: 'interrupted',
        status_summary: 'half way',
        cancel_requested: true,
        checkpoint_revision: 3,
        activity_cursor: 4,
        progress: {
          completed_steps: 2,
          total_steps: 8,
          completed: 1,
          total: 4,
          message: 'reading',
        },
        interrupts: [{ id: 'q1', answer: 'person', reason: 'Refund?', payload }],
        artifacts: [{ id: 'report', kind: 'pdf', digest, size: 3 }],
      })
    })

    test('shows the definition’s schema for a question that has none of its own', async () => {
      const session = createSession()
      const runId = await asking(session, question('q1'))
      expect(await session.call('workflow_run_get', { run_id: runId })).toMatchObject({
        interrupts: [{ id: 'q1', schema: { required: ['approved'] } }],
      })
      expect(JSON.stringify(await session.call('workflow_run_list', {}))).not.toContain('approved')
    })

    test('shows why a run waits and why it failed', async () => {
      const session = createSession()
      const runId = await session.start()
      await session.move(runId, { status: 'running', record: { waitingFor: 'sleep' } })
      expect(await session.call('workflow_run_get', { run_id: runId })).toMatchObject({
        waiting_for: 'sleep',
      })
      const error = { code: 'step_failed', message: 'The step failed.', retryable: true }
      await session.move(runId, { status: 'failed', record: { error } })
      const run = await session.call('workflow_run_get', { run_id: runId })
      expect(run).toMatchObject({ run_status: 'failed', error })
      expect(run).not.toHaveProperty('waiting_for')
    })

    const completedWith = async (name: 'letters_flow' | 'targeted_flow', output: JsonValue) => {
      const session = createSession()
      const runId = await session.start({ name, version: 'v1' }, {})
      await session.move(runId, { status: 'running' })
      await session.move(runId, {
        status: 'completed',
        entries: [
          {
            kind: 'run-ended',
            at: 1,
            status: 'completed',
            output: { json: output },
            undelivered: [],
            superseded: [],
            inFlight: [],
          },
        ],
      })
      return session.call('workflow_run_get', { run_id: runId })
    }

    test('shows an output only where the definition lets models see it', async () => {
      expect(await completedWith('letters_flow', { receipt: 7 })).toMatchObject({
        output: { receipt: 7 },
      })
      expect(await completedWith('targeted_flow', { receipt: 7 })).not.toHaveProperty('output')
    })

    test('an output of null is an output', async () => {
      expect(await completedWith('letters_flow', null)).toHaveProperty('output', null)
    })

    test('R3. leaves out an output that is too large, and says so', async () => {
      const run = await completedWith('letters_flow', 'x'.repeat(40_000))
      expect(run).not.toHaveProperty('output')
      expect(run['truncated']).toEqual(['output'])
    })

    test('R3. leaves out schemas, payloads, artifacts and output in this order, as far as needed', async () => {
      const schema = { type: 'object', description: 's'.repeat(12_000) }
      const payload = 'p'.repeat(12_000)
      const artifacts = Array.from({ length: 60 }, (_value, index) => ({
        id: `a${index}${'i'.repeat(60)}`,
        kind: 'k',
        digest,
        size: 1,
      }))
      const cases: readonly (readonly [object, object, readonly string[] | undefined])[] = [
        [{ schema }, {}, undefined],
        [{ schema, payload }, { artifacts }, ['interrupt_schemas']],
        [
          { schema, payload: payload.repeat(2) },
          { artifacts },
          ['interrupt_schemas', 'interrupt_payloads'],
        ],
      ]
      for (const [parts, record, truncated] of cases) {
        const session = createSession()
        const runId = await asking(session, question('q1', parts))
        await session.move(runId, { record })
        const run = await session.call('workflow_run_get', { run_id: runId })
        expect(run['truncated']).toEqual(truncated)
        expect(run).toMatchObject({ interrupts: [{ id: 'q1' }] })
      }
    })

    test('R3. leaves out artifacts when they alone are too many', async () => {
      const session = createSession()
      const runId = await session.start()
      const artifacts = Array.from({ length: 128 }, (_value, index) => ({
        id: `${index}`.padEnd(128, 'i'),
        kind: 'k'.repeat(128),
        digest,
        size: 1,
      }))
      await session.move(runId, { record: { artifacts } })
      const run = await session.call('workflow_run_get', { run_id: runId })
      expect(run['truncated']).toEqual(['artifacts'])
    })

    test('R3. stays within its bound whatever the record holds', async () => {
      const interrupts = Array.from({ length: 64 }, (_value, index) =>
        question(control(60) + String(index), { key: 'k', reason: control(30) }),
      )
      for (const resultBytes of [16_384, 32_768]) {
        const session = createSession({ resultBytes })
        const runId = await session.start({ name: 'letters_flow', version: 'v1' }, {})
        await session.move(runId, {
          status: 'running',
          interrupts,
          record: {
            statusSummary: control(1_024),
            error: { code: control(100), message: control(2_000), retryable: false },
          },
          head: { completed_steps: 1, progress: { completed: 1, message: control(2_000) } },
        })
        const text = (
          await session.tool('workflow_run_get').invoke(JSON.stringify({ run_id: runId }))
        ).content[0].text
        expect(utf8Length(text)).toBeLessThanOrEqual(resultBytes)
        const run = await session.call('workflow_run_get', { run_id: runId })
        expect(run['truncated']).toEqual(['interrupts'])
      }
    })

    test('a lone surrogate in a record still gives valid JSON', async () => {
      const session = createSession()
      const runId = await session.start()
      await session.move(runId, { record: { statusSummary: 'half\ud800' } })
      expect(await session.call('workflow_run_get', { run_id: runId })).toMatchObject({
        status_summary: 'half\ufffd',
      })
    })
  })

  describe('workflow_run_list', () => {
    test('is ascending by id, bounded, and pages cover all runs once', async () => {
      const session = createSession()
      const started: string[] = []
      for (let count = 0; count < 5; count += 1) started.push(await session.start())
      const seen: string[] = []
      let after: JsonValue | undefined
      let pages = 0
      do {
        const page = await session.call('workflow_run_list', {
          limit: 2,
          ...(after === undefined ? {} : { after }),
        })
        seen.push(...rowsOf(page, 'runs').map((run) => textOf(run, 'run_id')))
        after = page['next']
        pages += 1
      } while (after !== undefined)
      expect(seen).toEqual(started.toSorted())
      expect(pages).toBe(3)
    })

    test('of nothing is an empty list', async () => {
      expect(await createSession().call('workflow_run_list', {})).toEqual({ runs: [] })
    })

    test('a limit of 0 is the default, and a cursor need not exist', async () => {
      const session = createSession()
      for (let count = 0; count < 51; count += 1) await session.start()
      const page = await session.call('workflow_run_list', { limit: 0 })
      expect(rowsOf(page, 'runs')).toHaveLength(50)
      const beyond = { after: 'ffffffff-ffff-7fff-bfff-ffffffffffff' }
      expect(await session.call('workflow_run_list', beyond)).toEqual({ runs: [] })
    })

    test('R3. a page that would be too large is shortened, and nothing is lost', async () => {
      const session = createSession()
      const started: string[] = []
      for (let count = 0; count < 30; count += 1) {
        const runId = await session.start()
        started.push(runId)
        const artifacts = Array.from({ length: count === 7 ? 128 : 5 }, (_value, index) => ({
          id: `${index}`.padEnd(128, 'i'),
          kind: 'k'.repeat(128),
          digest,
          size: 1,
        }))
        await session.move(runId, { record: { artifacts, statusSummary: 's'.repeat(1_024) } })
      }
      const seen: string[] = []
      let after: JsonValue | undefined
      do {
        const page = await session.call('workflow_run_list', {
          limit: 100,
          ...(after === undefined ? {} : { after }),
        })
        expect(rowsOf(page, 'runs').length).toBeGreaterThan(0)
        seen.push(...rowsOf(page, 'runs').map((run) => textOf(run, 'run_id')))
        after = page['next']
      } while (after !== undefined)
      expect(seen).toEqual(started.toSorted())
    })

    test('with extensions is filtered and ordered', async () => {
      const session = createSession({ extensions: true })
      const parent = await session.start()
      const child = await session.startUnder(parent)
      const other = await session.start({ name: 'letters_flow', version: 'v1' }, {})
      await session.move(other, { status: 'running' })
      const ids = async (given: object): Promise<readonly unknown[]> =>
        rowsOf(await session.call('workflow_run_list', given), 'runs').map(({ run_id }) => run_id)
      expect(await ids({ run_status: ['running', 'failed'] })).toEqual([other])
      expect(await ids({ definition_name: 'letters_flow' })).toEqual([other])
      expect(await ids({ parent_run_id: parent })).toEqual([child])
      expect(await ids({ order: 'descending' })).toEqual(
        [parent, child, other].toSorted().toReversed(),
      )
      for (const bad of [
        { run_status: [] },
        { run_status: ['done'] },
        { run_status: ['failed', 'failed'] },
        { run_status: 'failed' },
        { order: 'random' },
      ]) {
        expect(await session.refusal('workflow_run_list', bad)).toMatchObject({
          code: 'arguments_invalid',
        })
      }
    })
  })

  describe('workflow_run_history', () => {
    const step = (path: string): JournalEntry => ({
      kind: 'step-completed',
      at: 1_700_000_000_000,
      path,
      label: path,
      attempt: 1,
      value: { none: true },
    })

    test('answers for every status, from the seed on', async () => {
      const session = createSession()
      const runId = await session.start()
      expect(await session.call('workflow_run_history', { run_id: runId })).toMatchObject({
        run_id: runId,
        entries: [
          { revision: 0, kind: 'run_started', run_status: 'running', message: 'Workflow started' },
        ],
      })
    })

    test('shows steps with their label and number', async () => {
      const session = createSession()
      const runId = await session.start()
      await session.move(runId, { status: 'running', entries: [step('load')], completedSteps: 1 })
      const entries = rowsOf(
        await session.call('workflow_run_history', { run_id: runId }),
        'entries',
      )
      expect(entries[1]).toMatchObject({
        revision: 1,
        kind: 'step_completed',
        step_label: 'load',
        completed_steps: 1,
        occurred_at: '2023-11-14T22:13:20.000Z',
      })
      expect(entries[0]).not.toHaveProperty('completed_steps')
    })

    const readAll = async (
      session: ReturnType<typeof createSession>,
      runId: string,
      limit: number,
    ) => {
      const ids: string[] = []
      let cursor: object = {}
      for (;;) {
        const page = await session.call('workflow_run_history', { run_id: runId, limit, ...cursor })
        const { next_revision, next_event_id } = page
        ids.push(...rowsOf(page, 'entries').map((entry) => textOf(entry, 'event_id')))
        if (next_revision === undefined) return ids
        cursor = {
          after_revision: next_revision,
          ...(next_event_id === undefined ? {} : { after_event_id: next_event_id }),
        }
      }
    }

    test('pages of any size lose nothing and repeat nothing, also inside a revision', async () => {
      const session = createSession()
      const runId = await session.start()
      await session.move(runId, {
        status: 'running',
        entries: [step('a'), step('b'), step('c')],
        completedSteps: 3,
      })
      await session.move(runId, { entries: [step('d')], completedSteps: 4 })
      const whole = await readAll(session, runId, 100)
      expect(whole).toHaveLength(5)
      for (const limit of [1, 2, 3, 4]) expect(await readAll(session, runId, limit)).toEqual(whole)
    })

    /** Activities so large that far fewer than a page fit. */
    const large = (perRevision: number, count: number): readonly Activity[] =>
      Array.from({ length: count }, (_value, index) => ({
        eventId: `00000000-0000-5000-8000-${String(index).padStart(12, '0')}`,
        sessionId: sessionOne,
        runId: sessionOne,
        definition: { name: 'counter_flow', version: 'v1' },
        revision: Math.floor(index / perRevision),
        kind: 'step_completed',
        status: 'running',
        stepLabel: control(128),
        message: control(512),
        occurredAt: 1,
      }))

    test.each([1, 3, 100])(
      'R3. a page that would be too large is shortened, and nothing is lost: %i activities a revision',
      async (perRevision) => {
        const all = large(perRevision, 100)
        const session = createSession({
          around: (own) => ({
            ...own,
            history: async (_runId, { afterRevision = 0, afterEventId } = {}) => {
              const from = all.filter(({ revision }) => revision >= afterRevision)
              const skip = from.findIndex(({ eventId }) => eventId === afterEventId)
              return { activities: from.slice(skip + 1), tailRevision: 100 }
            },
          }),
        })
        expect(await readAll(session, sessionOne, 100)).toEqual(all.map(({ eventId }) => eventId))
        const { next_revision, next_event_id } = await session.call('workflow_run_history', {
          run_id: sessionOne,
        })
        expect(next_revision).toBeTypeOf('number')
        expect(next_event_id === undefined).toBe(perRevision < 100)
      },
    )

    test('with extensions says where a reader goes on', async () => {
      const session = createSession({ extensions: true })
      const runId = await session.start()
      expect(await session.call('workflow_run_history', { run_id: runId })).toMatchObject({
        tail_revision: 1,
      })
    })
  })
})
