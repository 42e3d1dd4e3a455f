// Acceptance cases 21 to 41: what a run is started with, and what is kept of it.
import { describe, expect, test } from 'vitest'
import { decodeRunRecord, encodeRunRecord, isTransitionAllowed } from '@holdfast/core'
import type { JsonValue, RunRecord, RunStatus } from '@holdfast/core'
import { sha256Hex } from '@holdfast/json'
import { defineWorkflow } from '@holdfast/workflow'
import { createEngine } from '../../src/index.ts'
import { anyJson, createWorld, noInput, sessionId, untilStatus } from '../harness.ts'

const encoder = new TextEncoder()
const other = '00000000-0000-4000-8000-000000000002'
const counted = {
  type: 'object',
  additionalProperties: false,
  required: ['a', 'z'],
  properties: { a: { type: 'integer' }, z: { type: 'integer' } },
} as const

const adds = defineWorkflow({
  name: 'adds',
  version: 'v1',
  description: 'Adds.',
  input: counted,
  summarize: ({ output }) => `sum ${JSON.stringify(output)} `.repeat(500),
  run: (ctx, input) => ctx.step('add', () => input.a + input.z),
})
const asks = defineWorkflow({
  name: 'asks',
  version: 'v1',
  description: '',
  input: noInput,
  resume: anyJson,
  run: (ctx) => ctx.interrupt<JsonValue>('ask'),
})

describe('a start', () => {
  test('21: refuses unknown fields; with a valid input the result, summary and history are right', async () => {
    const world = createWorld()
    const { session } = world.engine([adds])
    await expect(session.start(adds, { a: 1, z: 2, b: 3 } as never)).rejects.toMatchObject({
      code: 'input_invalid',
    })
    const run = await session.start(adds, { z: 2, a: 1 })
    expect(await run.result()).toBe(3)
    const { record } = await run.status()
    expect(record.statusSummary).toMatch(/^sum 3 sum 3 /)
    expect((await run.history()).activities.map(({ kind }) => kind)).toEqual([
      'run_started',
      'step_completed',
      'run_completed',
    ])
  })

  test('25: a summary of 5,000 bytes is cut to 1,024', async () => {
    const world = createWorld()
    const { session } = world.engine([adds])
    const run = await session.start(adds, { z: 2, a: 1 })
    await run.result()
    const { record } = await run.status()
    expect(encoder.encode(record.statusSummary ?? '').length).toBe(1_024)
  })

  test('27: the same bytes are one input of the session; another session has none', async () => {
    const world = createWorld()
    const { session, store } = world.engine([adds])
    const runs = [
      await session.start(adds, { z: 2, a: 1 }),
      await session.start(adds, { a: 1, z: 2 }),
    ]
    const [first, second] = await Promise.all(runs.map(async (run) => (await run.status()).record))
    expect(second?.input).toEqual(first?.input)
    const digest = first?.input.digest ?? ''
    expect(new TextDecoder().decode(await store.input(sessionId, digest))).toBe('{"a":1,"z":2}')
    expect(await store.input(other, digest)).toBeUndefined()
  })

  test('28: an input that was altered fails its run, and is never given to the definition', async () => {
    const world = createWorld()
    let given = 0
    const definition = defineWorkflow({
      name: 'takes_any',
      version: 'v1',
      description: '',
      input: anyJson,
      run: () => (given += 1),
    })
    const client = createEngine({
      store: world.database.open({ mode: 'client' }),
      definitions: [definition],
      system: world.system,
    })
    const altered = ['{"value":2}', '{"value":1} ', '{']
    for (const bytes of altered) {
      const run = await client.session(sessionId).start(definition, { value: 1 })
      const store = world.database.open()
      const engine = createEngine({
        store: { ...store, input: async () => encoder.encode(bytes) },
        definitions: [definition],
        system: world.system,
      })
      await untilStatus(world, run, 'failed', 300)
      expect((await run.status()).record.error).toMatchObject({ code: 'record_corrupt' })
      await engine.close()
      await store.close()
    }
    expect(given).toBe(0)
  })

  test('29: refuses the nil session, and inputs that are empty, two values, no object or too large', async () => {
    const world = createWorld()
    const { engine, session } = world.engine([adds])
    expect(() => engine.session('00000000-0000-0000-0000-000000000000')).toThrow(
      expect.objectContaining({ code: 'id_invalid' }),
    )
    const texts = [
      '',
      '{"a":1,"z":2}{}',
      '[]',
      'null',
      '{"a":1,"a":1,"z":2}',
      `{"a":1,"z":2}${' '.repeat(262_144)}`,
    ]
    for (const text of texts) {
      const draft = {
        id: world.system.runId(),
        definition: { name: adds.name, version: adds.version },
      }
      await expect(session.supervisor.start(draft, encoder.encode(text))).rejects.toHaveProperty(
        'code',
      )
    }
    expect((await session.runs()).items).toEqual([])
  })
})

describe('an answer', () => {
  test('22: with a field too many is refused, and the question stays open', async () => {
    const world = createWorld()
    const { session } = world.engine([asks])
    const run = await session.start(asks, {})
    await untilStatus(world, run, 'interrupted')
    await expect(run.resume({ value: 1, more: 2 })).rejects.toMatchObject({ code: 'input_invalid' })
    expect((await run.status()).record.interrupts).toHaveLength(1)
    await run.resume({ value: 1 })
    expect(await run.result()).toEqual({ value: 1 })
  })

  test('23: to the question of one run is refused by another', async () => {
    const world = createWorld()
    const { session } = world.engine([asks])
    const [one, two] = [await session.start(asks, {}), await session.start(asks, {})]
    for (const run of [one, two]) await untilStatus(world, run, 'interrupted')
    const interruptId = (await two.status()).record.interrupts[0]?.id ?? ''
    await expect(one.resume({ value: 1 }, { interruptId })).rejects.toMatchObject({
      code: 'interrupt_not_found',
    })
    expect((await one.status()).unread).toEqual([])
  })
})

describe('a run’s row', () => {
  const namespace = {
    sessionId: other,
    runId: '00000000-0000-4000-8000-0000000000aa',
    inputKind: 'bootstrap',
    inputSessionId: other,
    inputRunId: '00000000-0000-4000-8000-0000000000ab',
  } as const

  async function started() {
    const world = createWorld()
    const { session, store } = world.engine([asks])
    const parent = await session.start(asks, {})
    const draft = {
      id: world.system.runId(),
      definition: { name: 'asks', version: 'v1' },
      parentRunId: parent.id,
      executionId: 'call-1',
      artifactNamespace: namespace,
    }
    const { run } = await session.supervisor.start(draft, encoder.encode('{}'))
    await untilStatus(world, session.run(run.record.id), 'interrupted')
    return { world, session, store, draft, parent }
  }

  test('30, 40: keeps every field that correlates it, also its artifact namespace, and gives copies', async () => {
    const { store, draft, session } = await started()
    const read = await store.run(sessionId, draft.id)
    expect(read?.record).toMatchObject({
      id: draft.id,
      sessionId,
      parentRunId: draft.parentRunId,
      executionId: 'call-1',
      artifactNamespace: namespace,
      definition: { name: 'asks', version: 'v1' },
    })
    if (read !== undefined) Object.assign(read.record, { status: 'failed' })
    expect((await session.run(draft.id).status()).record.status).toBe('interrupted')
    // It is fixed at creation.
    const claim = await store.claimSession(sessionId)
    const now = await store.run(sessionId, draft.id)
    if (now === undefined) throw new Error('no run')
    await expect(
      store.commit({
        sessionId,
        fence: { epoch: claim.epoch },
        writes: [
          {
            kind: 'run-swap',
            expectedRevision: now.revision,
            record: { ...now.record, artifactNamespace: { sessionId, runId: draft.id } },
          },
        ],
      }),
    ).rejects.toMatchObject({ facts: { reason: 'run-identity' } })
  })

  test('31, 39: is JSON and holds references, never input, output or what was answered', async () => {
    const world = createWorld()
    const { session } = world.engine([adds])
    const run = await session.start(adds, { a: 1_111, z: 2_222 })
    await run.result()
    const { record } = await run.status()
    const text = encodeRunRecord({ ...record, statusSummary: '' })
    expect(JSON.parse(text)).toMatchObject({ id: run.id })
    for (const secret of ['1111', '2222', '3333']) expect(text).not.toContain(secret)
  })

  test('32, 33: is created once, and swapped only from the revision that it has', async () => {
    const { store, draft, session, world } = await started()
    await expect(session.supervisor.start(draft, encoder.encode('{}'))).rejects.toMatchObject({
      code: 'run_exists',
    })
    const claim = await store.claimSession(sessionId)
    const now = await store.run(sessionId, draft.id)
    if (now === undefined) throw new Error('no run')
    const { record, revision, journalNext } = now
    const fence = { epoch: claim.epoch }
    const swap = (expectedRevision: number, next: RunRecord) =>
      store.commit({
        sessionId,
        fence,
        writes: [{ kind: 'run-swap', expectedRevision, record: next }],
      })
    await expect(swap(revision - 1, record)).rejects.toMatchObject({
      facts: { reason: 'run-revision' },
    })
    await expect(
      store.commit({
        sessionId,
        fence,
        writes: [
          { kind: 'journal-append', runId: draft.id, revision: journalNext - 1, data: '[]' },
        ],
      }),
    ).rejects.toMatchObject({ facts: { reason: 'journal-revision' } })
    await world.system.settle()
    expect((await store.run(sessionId, draft.id))?.revision).toBe(revision)
  })

  test('34: moves between statuses as the table says, all 36 pairs', () => {
    const statuses: readonly RunStatus[] = [
      'pending',
      'running',
      'interrupted',
      'completed',
      'cancelled',
      'failed',
    ]
    const allowed = new Map<RunStatus, string>([
      ['pending', 'running cancelled failed'],
      ['running', 'interrupted completed cancelled failed'],
      ['interrupted', 'running cancelled failed'],
    ])
    for (const from of statuses) {
      for (const to of statuses) {
        const isAllowed = from === to || (allowed.get(from) ?? '').split(' ').includes(to)
        expect(isTransitionAllowed(from, to)).toBe(isAllowed)
      }
    }
  })

  test('35: is listed in its session alone, by id, in pages, bounded', async () => {
    const world = createWorld()
    const { engine, session } = world.engine([asks])
    const ids: string[] = []
    for (let count = 0; count < 5; count += 1) ids.push((await session.start(asks, {})).id)
    await engine.session(other).start(asks, {})
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await session.runs({ limit: 2, ...(after === undefined ? {} : { after }) })
      expect(page.items.length).toBeLessThanOrEqual(2)
      seen.push(...page.items.map(({ record }) => record.id))
      after = page.next
    } while (after !== undefined)
    expect(seen).toEqual(ids.toSorted())
    await expect(session.runs({ limit: 101 })).rejects.toHaveProperty('code')
    await expect(
      engine
        .session(other)
        .run(ids[0] ?? '')
        .status(),
    ).rejects.toMatchObject({
      code: 'run_not_found',
    })
  })

  test('36, 38, 41: that is no strict record is refused: other fields, versions, ids, digests, no namespace', async () => {
    const { store, draft } = await started()
    const record = (await store.run(sessionId, draft.id))?.record
    if (record === undefined) throw new Error('no run')
    const { artifactNamespace: _namespace, ...without } = record
    const bad: readonly object[] = [
      { ...record, more: 1 },
      { ...record, version: 0 },
      { ...record, id: 'nil' },
      { ...record, input: { digest: 'short', size: 2 } },
      { ...record, status: 'odd' },
      without,
    ]
    for (const value of bad) {
      expect(() => decodeRunRecord(JSON.stringify(value))).toThrow(
        expect.objectContaining({ code: 'record_corrupt' }),
      )
    }
    expect(() => decodeRunRecord(JSON.stringify({ ...record, version: 2 }))).toThrow(
      expect.objectContaining({ code: 'record_from_newer_version' }),
    )
    expect(() => decodeRunRecord(`${encodeRunRecord(record)}{}`)).toThrow(
      expect.objectContaining({ code: 'record_corrupt' }),
    )
    expect(sha256Hex(encoder.encode('{}'))).toBe(record.input.digest)
  })
})
