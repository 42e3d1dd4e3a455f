// The acceptance cases of the tools, by their numbers in the specification.
import { describe, expect, test, vi } from 'vitest'
import { RunRecord } from '@holdfast/core'
import type { ArtifactNamespace, Supervisor } from '@holdfast/core'
import { compileSchema, sha256Hex, utf8Length } from '@holdfast/json'
import { createCatalog } from '@holdfast/workflow'
import { createWorkflowTools, workflowTool, workflowToolNames } from '../src/index.ts'
import type { PrepareRun, ToolSupervisor } from '../src/index.ts'
import { allDefinitions } from './support/definitions.ts'
import { createSession, sessionOne, textOf } from './support/session.ts'
import { describeOnStores } from './support/stores.ts'

describeOnStores(() => {
  const catalog = createCatalog(allDefinitions)

  /** A dependency that must not be touched. */
  function untouchable(what: string): never {
    return new Proxy({} as never, {
      get(_target, property) {
        throw new Error(`${what}.${String(property)} was touched`)
      },
    })
  }

  const deadSupervisor: ToolSupervisor = {
    sessionId: sessionOne,
    start: () => Promise.reject(new Error('touched')),
    resume: () => Promise.reject(new Error('touched')),
    cancel: () => Promise.reject(new Error('touched')),
    history: () => Promise.reject(new Error('touched')),
    output: () => Promise.reject(new Error('touched')),
  }

  describe.each([{ extensions: false }, { extensions: true }])('1. the bundle, %o', (options) => {
    const { tools } = createSession(options)

    test('has exactly the seven names in their order', () => {
      expect(tools.map((tool) => tool.info().name)).toEqual([
        'workflow_definition_list',
        'workflow_run_start',
        'workflow_run_get',
        'workflow_run_list',
        'workflow_run_resume',
        'workflow_run_cancel',
        'workflow_run_history',
      ])
    })

    test('has closed schemas, bounded descriptions, and no legacy words', () => {
      for (const tool of tools) {
        const info = tool.info()
        expect(info.inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
        expect(info.outputSchema).toMatchObject({ type: 'object', additionalProperties: false })
        expect(() => compileSchema(info.inputSchema)).not.toThrow()
        expect(info.description).not.toBe('')
        expect(utf8Length(info.description)).toBeLessThanOrEqual(256)
        const words = JSON.stringify(info)
        expect(words).not.toContain('WorkflowStart')
        expect(words).not.toContain('clause')
        expect(words).not.toContain('"status":')
      }
    })

    test('gives a fresh copy of its information each time', () => {
      for (const tool of tools) {
        const first = tool.info()
        Object.assign(first.inputSchema, { additionalProperties: true })
        Object.assign(first.annotations, { readOnlyHint: 'changed' })
        expect(tool.info().inputSchema['additionalProperties']).toBe(false)
        expect(tool.info().annotations.readOnlyHint).toBeTypeOf('boolean')
      }
    })
  })

  test('1. the arguments are exactly the seed system’s', () => {
    const { tools } = createSession()
    const shape = Object.fromEntries(
      tools.map((tool) => {
        const { name, inputSchema } = tool.info()
        const properties = inputSchema['properties'] as Record<string, Record<string, unknown>>
        const types = Object.entries(properties).map(([key, schema]) => {
          const { description: _words, ...rules } = schema
          return [key, rules]
        })
        return [name, { required: inputSchema['required'] ?? [], ...Object.fromEntries(types) }]
      }),
    )
    const limit = { type: 'integer', minimum: 1, maximum: 100 }
    const string = { type: 'string' }
    expect(shape).toEqual({
      workflow_definition_list: { required: [] },
      workflow_run_start: {
        required: ['definition_name', 'definition_version', 'input'],
        definition_name: string,
        definition_version: string,
        input: { type: 'object' },
        parent_run_id: string,
      },
      workflow_run_get: { required: ['run_id'], run_id: string },
      workflow_run_list: { required: [], after: string, limit },
      workflow_run_resume: {
        required: ['run_id', 'resume'],
        run_id: string,
        resume: { type: 'object' },
      },
      workflow_run_cancel: {
        required: ['run_id'],
        run_id: string,
        reason: { type: 'string', maxLength: 512 },
      },
      workflow_run_history: {
        required: ['run_id'],
        run_id: string,
        after_revision: { type: 'integer', minimum: 0 },
        after_event_id: string,
        limit,
      },
    })
  })

  test('2. a minimal configuration builds seven tools', () => {
    const tools = createWorkflowTools({
      sessionId: sessionOne,
      catalog,
      runs: untouchable('runs'),
      supervisor: deadSupervisor,
    })
    expect(tools).toHaveLength(7)
    for (const name of workflowToolNames) expect(workflowTool(tools, name).info().name).toBe(name)
  })

  describe('3. construction fails closed', () => {
    const config = {
      sessionId: sessionOne,
      catalog,
      runs: untouchable('runs'),
      supervisor: deadSupervisor,
    }
    const without = (method: keyof ToolSupervisor): ToolSupervisor => {
      const { [method]: _left, ...rest } = deadSupervisor
      return rest as ToolSupervisor
    }

    test.each([
      [
        'a supervisor without start',
        { supervisor: without('start') },
        'session-owned start controller',
      ],
      [
        'a supervisor without history',
        { supervisor: without('history') },
        'projected history controller',
      ],
      ['a supervisor without resume', { supervisor: without('resume') }, 'resume'],
      ['a supervisor without cancel', { supervisor: without('cancel') }, 'cancel'],
      ['a supervisor without output', { supervisor: without('output') }, 'output'],
      ['no supervisor', { supervisor: undefined }, 'are required'],
      ['no catalog', { catalog: undefined }, 'are required'],
      ['no runs', { runs: undefined }, 'are required'],
      ['no session', { sessionId: undefined }, 'are required'],
      ['a session that is no UUID', { sessionId: 'mine' }, 'nonzero UUID'],
      ['the zero session', { sessionId: '00000000-0000-0000-0000-000000000000' }, 'nonzero UUID'],
      [
        'another session’s supervisor',
        { supervisor: { ...deadSupervisor, sessionId: '00000000-0000-4000-8000-000000000009' } },
        'another session',
      ],
      ['a bound that is too small', { resultBytes: 100 }, 'resultBytes'],
      ['a bound that is too large', { resultBytes: 32_769 }, 'resultBytes'],
      [
        'an allowed definition that is not registered',
        { allowedDefinitions: [{ name: 'counter_flow', version: 'v9' }] },
        'counter_flow@v9',
      ],
    ])('%s is refused', (_what, change, words) => {
      const broken = { ...config, ...change } as unknown as Parameters<
        typeof createWorkflowTools
      >[0]
      expect(() => createWorkflowTools(broken)).toThrow(
        expect.objectContaining({
          code: 'configuration_invalid',
          message: expect.stringContaining(words) as string,
        }),
      )
    })
  })

  describe('4. arguments are decoded before anything is touched', () => {
    const tools = createWorkflowTools({
      sessionId: sessionOne,
      catalog: untouchable('catalog'),
      runs: untouchable('runs'),
      supervisor: deadSupervisor,
      prepareRun: () => Promise.reject(new Error('touched')),
      newId: () => {
        throw new Error('touched')
      },
    })

    test.each(workflowToolNames)('%s refuses an unknown field', async (name) => {
      await expect(workflowTool(tools, name).invoke('{"unexpected":true}')).rejects.toMatchObject({
        code: 'arguments_invalid',
        message: expect.stringContaining('unknown field') as string,
      })
    })

    test.each(workflowToolNames)('%s refuses what is no single strict object', async (name) => {
      const refusals: readonly (readonly [string, string])[] = [
        ['', 'json_invalid'],
        ['null', 'arguments_invalid'],
        ['[]', 'arguments_invalid'],
        ['{} {}', 'json_trailing_data'],
        ['{"run_id":1,"run_id":2}', 'json_duplicate_key'],
        ['{"__proto__":{}}', 'arguments_invalid'],
        ['{"constructor":1}', 'arguments_invalid'],
        ['{"toString":1}', 'arguments_invalid'],
        ['{"Run_Id":"x"}', 'arguments_invalid'],
        ['['.repeat(262_144), 'json_too_'],
        ['{"run_id":"\\ud800"}', 'json_unicode_invalid'],
        ['{"limit":9007199254740993}', 'json_number_unsafe'],
      ]
      for (const [text, code] of refusals) {
        await expect(workflowTool(tools, name).invoke(text)).rejects.toMatchObject({
          code: expect.stringContaining(code) as string,
        })
      }
    })

    test.each([
      ['workflow_run_get', '{"run_id":null}', 'must not be null'],
      ['workflow_run_get', '{}', 'run_id is required'],
      ['workflow_run_get', '{"run_id":7}', 'must be a string'],
      ['workflow_run_get', '{"run_id":"7"}', 'nonzero UUID'],
      ['workflow_run_get', '{"run_id":"00000000-0000-0000-0000-000000000000"}', 'nonzero UUID'],
      ['workflow_run_list', '{"limit":101}', 'within 1..100'],
      ['workflow_run_list', '{"limit":-1}', 'within 1..100'],
      ['workflow_run_list', '{"limit":1.5}', 'whole number'],
      ['workflow_run_list', '{"limit":"5"}', 'whole number'],
      ['workflow_run_history', `{"run_id":"${sessionOne}","limit":101}`, 'within 1..100'],
      ['workflow_run_history', `{"run_id":"${sessionOne}","after_revision":-1}`, 'within'],
      ['workflow_run_history', `{"run_id":"${sessionOne}","after_event_id":""}`, 'nonzero UUID'],
      [
        'workflow_run_cancel',
        JSON.stringify({ run_id: sessionOne, reason: 'é'.repeat(257) }),
        'exceeds 512 bytes',
      ],
      [
        'workflow_run_cancel',
        JSON.stringify({ run_id: sessionOne, reason: `${' '.repeat(512)}x` }),
        'exceeds 512 bytes',
      ],
      [
        'workflow_run_start',
        '{"definition_name":"a","definition_version":"b"}',
        'input is required',
      ],
      [
        'workflow_run_start',
        '{"definition_name":"a","definition_version":"b","input":[]}',
        'must be a JSON object',
      ],
      ['workflow_run_resume', `{"run_id":"${sessionOne}"}`, 'resume is required'],
      ['workflow_run_resume', `{"run_id":"${sessionOne}","resume":"yes"}`, 'must be a JSON object'],
    ] as const)('%s refuses %s', async (name, text, words) => {
      await expect(workflowTool(tools, name).invoke(text)).rejects.toThrow(words)
    })
  })

  test('5. a safe result has metadata only', async () => {
    const session = createSession()
    const runId = await session.start(
      { name: 'letters_flow', version: 'v1' },
      { any: 'secret input' },
    )
    const record = (await session.store.run(sessionOne, runId))?.record
    for (const run of [
      await session.call('workflow_run_get', { run_id: runId }),
      (await session.call('workflow_run_list', {}))['runs'],
      await session.call('workflow_run_history', { run_id: runId }),
    ]) {
      const words = JSON.stringify(run)
      for (const secret of [
        'secret input',
        '"input',
        'flow_state',
        'stack',
        'model_output',
        sessionOne,
        record?.input.digest ?? 'absent',
        record?.executionId ?? 'absent',
        'namespace',
        'recoveries',
      ]) {
        expect(words).not.toContain(secret)
      }
    }
    expect(await session.call('workflow_run_get', { run_id: runId })).toEqual({
      run_id: runId,
      definition_name: 'letters_flow',
      definition_version: 'v1',
      run_status: 'pending',
      checkpoint_revision: 0,
      activity_cursor: 1,
      created_at: '2023-11-14T22:13:20.000Z',
      updated_at: '2023-11-14T22:13:20.000Z',
    })
  })

  test('6. start stores canonical input under the first minted id and answers at the seed', async () => {
    const minted = ['00000000-0000-7000-8000-00000000000a', '00000000-0000-7000-8000-00000000000b']
    const left = [...minted]
    const session = createSession({ newId: () => left.shift() ?? 'none left' })
    const result = await session.call('workflow_run_start', {
      definition_name: 'letters_flow',
      definition_version: 'v1',
      input: { z: 2, a: 1 },
    })
    expect(result).toMatchObject({ run_id: minted[0] })
    expect(['pending', 'running']).toContain(result['run_status'])
    const run = await session.store.run(sessionOne, textOf(result, 'run_id'))
    const digest = '99168216144c7fed5d4c54916cf98d9c66096280c04a499822a99b6658bd177a'
    expect(run?.record).toMatchObject({ executionId: minted[1], input: { digest, size: 13 } })
    const stored = await session.store.input(sessionOne, digest)
    expect(new TextDecoder().decode(stored)).toBe('{"a":1,"z":2}')
  })

  describe('cancel', () => {
    const counted = () => {
      const cancel = vi.fn<Supervisor['cancel']>()
      const session = createSession({
        around: (supervisor) => ({
          ...supervisor,
          cancel: cancel.mockImplementation((request) => supervisor.cancel(request)),
        }),
      })
      return { session, cancel }
    }

    test('7. of a cancelled run succeeds without calling the supervisor', async () => {
      const { session, cancel } = counted()
      const runId = await session.start()
      await session.move(runId, { status: 'cancelled' })
      expect(await session.call('workflow_run_cancel', { run_id: runId })).toEqual({
        run_id: runId,
        run_status: 'cancelled',
        idempotent: true,
      })
      expect(cancel).not.toHaveBeenCalled()
    })

    test.each(['completed', 'failed'] as const)('8. of a %s run is an error', async (status) => {
      const { session, cancel } = counted()
      const runId = await session.start()
      await session.move(runId, { status: 'running' })
      await session.move(runId, { status })
      expect(await session.refusal('workflow_run_cancel', { run_id: runId })).toMatchObject({
        code: 'run_ended',
        message: expect.stringContaining(status) as string,
      })
      expect(cancel).not.toHaveBeenCalled()
    })

    test('asks the supervisor with the trimmed reason, or a fixed one', async () => {
      const { session, cancel } = counted()
      const runId = await session.start()
      const result = await session.call('workflow_run_cancel', {
        run_id: runId,
        reason: '  too slow ',
      })
      expect(result).toEqual({ run_id: runId, run_status: 'pending', idempotent: false })
      await session.call('workflow_run_cancel', { run_id: runId, reason: '   ' })
      await session.call('workflow_run_cancel', { run_id: runId })
      expect(cancel.mock.calls.map(([request]) => request)).toEqual(
        ['too slow', 'cancel requested', 'cancel requested'].map((reason) => ({
          runId,
          reason,
          by: { kind: 'model' },
        })),
      )
    })
  })

  describe('PrepareRun', () => {
    const other = '00000000-0000-4000-8000-0000000000ff'
    const prepared = (prepareRun: PrepareRun) => {
      const start = vi.fn<Supervisor['start']>()
      const session = createSession({
        prepareRun,
        around: (supervisor) => ({
          ...supervisor,
          start: start.mockImplementation((...call) => supervisor.start(...call)),
        }),
      })
      return { session, start }
    }
    const given = {
      definition_name: 'counter_flow',
      definition_version: 'v1',
      input: { count: 1 },
    }
    const zeros = '0'.repeat(64)
    const changes: readonly (readonly [string, (draft: RunRecord) => Partial<RunRecord>])[] = [
      ['session_id', () => ({ sessionId: other })],
      ['tool_execution_id', () => ({ executionId: other })],
      ['definition_name', (draft) => ({ definition: { ...draft.definition, name: 'else' } })],
      ['definition_version', (draft) => ({ definition: { ...draft.definition, version: 'v2' } })],
      ['id', () => ({ id: other })],
      ['definition_digest', (draft) => ({ definition: { ...draft.definition, digest: zeros } })],
      ['parent_run_id', () => ({ parentRunId: other })],
      ['input', () => ({ input: { digest: zeros, size: 1 } })],
      ['status', () => ({ status: 'running' })],
      ['status_summary', () => ({ statusSummary: 'well' })],
      ['cancel_requested', () => ({ cancelRequested: true })],
      ['checkpoint_revision', () => ({ checkpoint: 1 })],
      ['inbox_read_through', () => ({ inboxReadThrough: 1 })],
      ['stream', () => ({ stream: 1 })],
      ['artifacts', () => ({ artifacts: [{ id: 'a', kind: 'b', digest: zeros, size: 1 }] })],
      ['created_at', () => ({ createdAt: 1 })],
      ['updated_at', () => ({ updatedAt: 1 })],
      ['revision', () => ({ version: 2 as 1 })],
      ['child_of', () => ({ childOf: other })],
      ['retried_from', () => ({ retriedFrom: other })],
      [
        'interrupts',
        () => ({ interrupts: [{ id: 'a', key: 'a', revision: 0, answer: 'anyone', openedAt: 1 }] }),
      ],
      ['error', () => ({ error: { code: 'a', message: 'b', retryable: false } })],
      ['waiting_for', () => ({ waitingFor: 'sleep' })],
      ['parked', () => ({ parked: true })],
      ['wake_at', () => ({ wakeAt: 1 })],
      ['recoveries', () => ({ recoveries: 1 })],
      ['ended_at', () => ({ endedAt: 1 })],
      ['run_metadata', () => ({ surprise: 1 }) as Partial<RunRecord>],
    ]

    test.each(changes)('9. may not change %s, and nothing is created', async (field, change) => {
      const { session, start } = prepared((draft) => ({ ...draft, ...change(draft) }))
      expect(await session.refusal('workflow_run_start', given)).toMatchObject({
        code: 'prepare_run_integrity',
        message: `PrepareRun changed protected run field "${field}"`,
        details: { field },
      })
      expect(start).not.toHaveBeenCalled()
    })

    test('9. may not change the draft in place either, nor return nothing', async () => {
      const inPlace = prepared((draft) => {
        draft.status = 'running'
        return draft
      })
      const silent = prepared(() => undefined as unknown as RunRecord)
      const torn = prepared(({ definition: _left, ...draft }) => draft as RunRecord)
      for (const [{ session, start }, field] of [
        [inPlace, 'status'],
        [silent, 'run_metadata'],
        [torn, 'definition_name'],
      ] as const) {
        expect(await session.refusal('workflow_run_start', given)).toMatchObject({
          details: { field },
        })
        expect(start).not.toHaveBeenCalled()
      }
    })

    test('9. names the first protected field in the fixed order', async () => {
      const { session } = prepared((draft) => ({
        ...draft,
        updatedAt: 1,
        status: 'failed',
        id: other,
      }))
      expect(await session.refusal('workflow_run_start', given)).toMatchObject({
        details: { field: 'id' },
      })
    })

    test('10. may set the five artifact descriptors, which are kept', async () => {
      const artifactNamespace: ArtifactNamespace = {
        sessionId: other,
        runId: other,
        inputKind: 'parent',
        inputSessionId: sessionOne,
        inputRunId: other,
      }
      const { session } = prepared(async (draft) => ({ ...draft, artifactNamespace }))
      const result = await session.call('workflow_run_start', given)
      const run = await session.store.run(sessionOne, textOf(result, 'run_id'))
      expect(run?.record.artifactNamespace).toEqual(artifactNamespace)
    })

    test('10. by default the namespace is the run’s own', async () => {
      const session = createSession()
      const runId = await session.start()
      const run = await session.store.run(sessionOne, runId)
      expect(run?.record.artifactNamespace).toEqual({ sessionId: sessionOne, runId })
    })

    test.each([
      [undefined, 'is missing'],
      [{ sessionId: other, runId: 'mine' }, 'no nonzero UUID'],
      [{ sessionId: other, runId: other, inputKind: 'parent' }, 'incompletely'],
      [{ sessionId: other, runId: other, inputRunId: other }, 'unknown kind'],
      [
        {
          sessionId: other,
          runId: other,
          inputKind: 'odd',
          inputSessionId: other,
          inputRunId: other,
        },
        'unknown kind',
      ],
      [{ sessionId: other, runId: other, more: 1 }, 'unknown fields'],
    ])('a namespace that cannot be kept is refused: %j', async (namespace, words) => {
      const artifactNamespace = namespace as ArtifactNamespace
      const { session, start } = prepared((draft) => ({ ...draft, artifactNamespace }))
      expect(await session.refusal('workflow_run_start', given)).toMatchObject({
        code: 'prepare_run_integrity',
        message: expect.stringContaining(words) as string,
      })
      expect(start).not.toHaveBeenCalled()
    })

    test('an error of the host’s own goes through; a foreign one is closed off', async () => {
      const secret = new Error('postgres://user:password@db')
      const { session } = prepared(() => Promise.reject(secret))
      const error = await session.refusal('workflow_run_start', given)
      expect(error).toMatchObject({ code: 'internal', cause: secret })
      expect(error.message).not.toContain('password')
    })

    test('is shown the run as it will be, and its input only by digest', async () => {
      const seen: RunRecord[] = []
      const { session } = prepared((draft) => {
        seen.push(draft)
        return draft
      })
      await session.call('workflow_run_start', given)
      expect(seen).toHaveLength(1)
      expect(seen[0]).toMatchObject({
        sessionId: sessionOne,
        status: 'pending',
        input: { digest: sha256Hex(new TextEncoder().encode('{"count":1}')), size: 11 },
        createdAt: session.system.now(),
      })
      expect(compileSchema(RunRecord).validate(seen[0])).toMatchObject({ ok: true })
    })
  })
})
