import { isStoreConflict } from '@holdfast/core'
import type { Commit, RunStatus, SessionId, Store, StoredRun, StoreWrite } from '@holdfast/core'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runRecord } from './store-fixture.ts'
import type { StoreDatabase, StoreTarget } from './store-target.ts'

const sessions = [
  '0190a1b2-0000-7000-8000-0000000000a1',
  '0190a1b2-0000-7000-8000-0000000000a2',
] as const
const runs = [
  '0190a1b2-0000-7000-8000-000000000001',
  '0190a1b2-0000-7000-8000-000000000002',
  '0190a1b2-0000-7000-8000-000000000003',
] as const
const statuses = [
  'pending',
  'running',
  'interrupted',
  'completed',
  'cancelled',
  'failed',
] as const satisfies readonly RunStatus[]
const logs = [...runs.slice(0, 2).map((id) => `inbox/${id}`), 'chat/1'] as const
const keys = ['a', 'b', 'message/'] as const
const streams = runs.flatMap((id) => [id, `${id}.2`])

const text = fc.string({ maxLength: 5, unit: 'grapheme' })

/** Any sequence of commits has the same receipts, conflicts and reads as on the reference store. */
export function describeModel(
  target: StoreTarget,
  reference: StoreTarget,
  runsOfProperty = 30,
): void {
  describe('any sequence of commits', () => {
    it('means the same as on the reference store', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step(), { minLength: 1, maxLength: 30, size: 'max' }),
          async (steps) => {
            const databases: StoreDatabase[] = []
            try {
              for (const one of [target, reference]) databases.push(await one.create())
              const [actual, expected] = await Promise.all(
                databases.map((database) => play(database, steps)),
              )
              expect(actual).toEqual(expected)
            } finally {
              for (const database of databases) await database.destroy()
            }
          },
        ),
        { numRuns: runsOfProperty },
      )
    }, 120_000)
  })
}

type Step =
  /** Commits of one moment; which of them are refused depends on their order. */
  | { readonly kind: 'commits'; readonly commits: readonly Planned[] }
  | { readonly kind: 'claim'; readonly session: number }
  | { readonly kind: 'release'; readonly session: number }

interface Planned {
  readonly session: number
  readonly fenced: 'current' | 'earlier' | 'none'
  readonly commitId: string | undefined
  readonly writes: readonly Plan[]
}

function step(): fc.Arbitrary<Step> {
  const session = fc.nat({ max: sessions.length - 1 })
  const planned = fc.record({
    session,
    fenced: fc.constantFrom('current', 'current', 'current', 'current', 'earlier', 'none'),
    commitId: fc.option(fc.constantFrom('c1', 'c2', 'c3'), { nil: undefined, freq: 4 }),
    writes: fc.array(write(), { minLength: 1, maxLength: 3 }),
  }) as fc.Arbitrary<Planned>
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('commits' as const),
        commits: fc.array(planned, { minLength: 1, maxLength: 5 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('claim' as const), session }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), session }) },
  )
}

/** What a write is made from: the state of its session as of the step before. */
interface Known {
  readonly sessionId: SessionId
  readonly runs: ReadonlyMap<string, StoredRun>
  readonly streams: ReadonlyMap<string, number>
  readonly logs: ReadonlyMap<string, number>
  readonly documents: ReadonlyMap<string, number>
}

type Plan = (known: Known) => StoreWrite

/** Writes that mostly fit the state, so that most are accepted, and sometimes miss it by one. */
function write(): fc.Arbitrary<Plan> {
  const run = fc.constantFrom(...runs)
  const off = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, -1)
  const digest = fc.constantFrom('a1'.repeat(32), 'b2'.repeat(32))
  const streamId = fc.constantFrom(...streams)
  const key = fc.constantFrom(...keys)
  const log = fc.constantFrom(...logs)
  const change = fc.record(
    {
      status: fc.constantFrom(...statuses),
      parked: fc.boolean(),
      inboxReadThrough: fc.nat({ max: 2 }),
      stream: fc.nat({ max: 2 }),
      updatedAt: fc.nat({ max: 3_000 }),
      wakeAt: fc.constantFrom(500, 1_500),
    },
    { requiredKeys: [] },
  )
  const near = (value: number | undefined, by: number): number => Math.max(0, (value ?? 0) + by)

  const create = fc
    .tuple(run, digest, fc.option(key, { nil: undefined }))
    .map(([runId, input, idempotencyKey]): Plan => ({ sessionId }) => ({
      kind: 'run-create',
      record: runRecord(sessionId, runId, { input: { digest: input, size: 2 } }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    }))
  const swap = fc
    .tuple(run, change, off, off)
    .map(([runId, changes, by, created]): Plan => ({ sessionId, runs: known }) => {
      const before = known.get(runId)
      const record = before?.record ?? runRecord(sessionId, runId)
      return {
        kind: 'run-swap',
        record: { ...record, ...changes, createdAt: record.createdAt + created },
        expectedRevision: near(before?.revision, by),
      }
    })
  const end = fc
    .tuple(run, fc.constantFrom('completed', 'failed', 'cancelled'))
    .map(([runId, status]): Plan => ({ sessionId, runs: known }) => ({
      kind: 'run-swap',
      record: { ...(known.get(runId)?.record ?? runRecord(sessionId, runId)), status },
      expectedRevision: known.get(runId)?.revision ?? 1,
    }))
  const purge = run.map((runId): Plan => () => ({ kind: 'run-purge', runId }))
  const input = fc
    .tuple(digest, fc.uint8Array({ maxLength: 4 }))
    .map(([name, bytes]): Plan => () => ({ kind: 'input-put', digest: name, bytes }))
  const blob = fc
    .tuple(run, digest, fc.uint8Array({ maxLength: 4 }))
    .map(([runId, name, bytes]): Plan => () => ({ kind: 'blob-put', runId, digest: name, bytes }))
  const journal = fc
    .tuple(run, off, text, fc.option(fc.record({ step: fc.nat() }), { nil: undefined }))
    .map(([runId, by, data, head]): Plan => ({ runs: known }) => ({
      kind: 'journal-append',
      runId,
      revision: near(known.get(runId)?.journalNext, by),
      data,
      ...(head === undefined ? {} : { head }),
    }))
  const chunk = fc.record(
    { data: text, tag: fc.constantFrom('t', 'u') },
    { requiredKeys: ['data'] },
  )
  const stream = fc
    .tuple(streamId, off, fc.array(chunk, { maxLength: 3 }))
    .map(([id, by, chunks]): Plan => ({ streams: known }) => ({
      kind: 'stream-append',
      streamId: id,
      expectedNext: near(known.get(id), by),
      chunks,
    }))
  const close = fc
    .tuple(streamId, fc.constantFrom('completed', 'failed'))
    .map(([id, how]): Plan => () => ({ kind: 'stream-close', streamId: id, end: how }))
  const guard = fc.record(
    {
      runId: run,
      notEnded: fc.constant(true as const),
      streamIs: fc.nat({ max: 2 }),
      maxUnread: fc.integer({ min: 1, max: 2 }),
    },
    { requiredKeys: ['runId'] },
  )
  const append = fc
    .tuple(
      log,
      fc.tuple(key, fc.nat({ max: 9 })).map(([name, index]) => `${name}${index}`),
      text,
      fc.constantFrom('fail', 'skip', 'skip'),
      fc.option(guard, { nil: undefined, freq: 2 }),
    )
    .map(([name, entry, value, onFailure, only]): Plan => () => ({
      kind: 'log-append',
      log: name,
      key: entry,
      value,
      onFailure,
      ...(only === undefined ? {} : { guard: only }),
    }))
  const closeLog = fc.tuple(log, off).map(([name, by]): Plan => ({ logs: known }) => ({
    kind: 'log-close',
    log: name,
    expectedNext: near(known.get(name), by),
  }))
  const unchanged = fc.tuple(log, off).map(([name, by]): Plan => ({ logs: known }) => ({
    kind: 'log-unchanged',
    log: name,
    expectedNext: near(known.get(name), by),
  }))
  const document = fc
    .tuple(key, off, fc.option(text, { nil: undefined, freq: 3 }))
    .map(([name, by, value]): Plan => ({ documents: known }) => {
      const base = { collection: 'c', key: name, expectedRevision: near(known.get(name), by) }
      return value === undefined
        ? { kind: 'document-delete', ...base }
        : { kind: 'document-put', ...base, value }
    })
  return fc.oneof(
    { weight: 3, arbitrary: create },
    { weight: 3, arbitrary: swap },
    { weight: 1, arbitrary: end },
    { weight: 1, arbitrary: purge },
    { weight: 1, arbitrary: input },
    { weight: 1, arbitrary: blob },
    { weight: 4, arbitrary: journal },
    { weight: 4, arbitrary: stream },
    { weight: 1, arbitrary: close },
    { weight: 5, arbitrary: append },
    { weight: 1, arbitrary: closeLog },
    { weight: 1, arbitrary: unchanged },
    { weight: 3, arbitrary: document },
  )
}

/** Plays steps, and tells everything that can be seen of them. */
async function play(database: StoreDatabase, steps: readonly Step[]): Promise<unknown> {
  const store = await database.open()
  const epochs = new Map<string, number>()
  for (const sessionId of sessions) {
    epochs.set(sessionId, (await store.claimSession(sessionId)).epoch)
    const records = runs.slice(0, 2).map((runId) => runRecord(sessionId, runId))
    const writes = records.map((record) => ({ kind: 'run-create', record }) as const)
    await store.commit({ sessionId, writes })
  }
  const seen: unknown[] = []
  for (const one of steps) {
    switch (one.kind) {
      case 'claim': {
        const sessionId = sessions[one.session] ?? sessions[0]
        const claim = await store.claimSession(sessionId)
        epochs.set(sessionId, claim.epoch)
        seen.push(claim)
        break
      }
      case 'release': {
        const sessionId = sessions[one.session] ?? sessions[0]
        await store.releaseSession({ sessionId, epoch: epochs.get(sessionId) ?? 0 })
        break
      }
      case 'commits': {
        const known: Known[] = []
        for (const sessionId of sessions) known.push(await look(store, sessionId))
        const commits = one.commits.map((planned) => commitOf(planned, known, epochs))
        seen.push(await Promise.all(commits.map((commit) => outcomeOf(store, commit))))
        break
      }
    }
  }
  return { seen, state: await everything(store) }
}

async function look(store: Store, sessionId: SessionId): Promise<Known> {
  const { items } = await store.runs(sessionId)
  const known = {
    sessionId,
    runs: new Map(items.map((run) => [run.record.id, run])),
    streams: new Map<string, number>(),
    logs: new Map<string, number>(),
    documents: new Map<string, number>(),
  }
  for (const id of streams) {
    const head = await store.streamHead(sessionId, id).catch(() => undefined)
    known.streams.set(id, head?.next ?? 0)
  }
  for (const log of logs) {
    known.logs.set(log, (await store.logPage(sessionId, log, { from: 0, limit: 1 })).next)
  }
  for (const key of keys) {
    known.documents.set(key, (await store.document(sessionId, 'c', key))?.revision ?? 0)
  }
  return known
}

function commitOf(
  planned: Planned,
  states: readonly Known[],
  epochs: ReadonlyMap<string, number>,
): Commit {
  const known = states[planned.session]
  if (known === undefined) throw new Error(`There is no session ${planned.session}.`)
  const { sessionId } = known
  const epoch = epochs.get(sessionId) ?? 0
  return {
    sessionId,
    writes: planned.writes.map((make) => make(known)),
    ...(planned.commitId === undefined ? {} : { commitId: planned.commitId }),
    ...(planned.fenced === 'none'
      ? {}
      : { fence: { epoch: planned.fenced === 'current' ? epoch : Math.max(0, epoch - 1) } }),
  }
}

async function outcomeOf(store: Store, commit: Commit): Promise<unknown> {
  try {
    return await store.commit(commit)
  } catch (error) {
    if (isStoreConflict(error)) return error.facts
    return (error as { readonly code?: string }).code ?? error
  }
}

async function everything(store: Store): Promise<unknown> {
  const found: unknown[] = []
  for (const sessionId of sessions) {
    found.push(await store.runs(sessionId, { status: statuses }))
    found.push(await store.runs(sessionId, { status: ['pending', 'running'], order: 'descending' }))
    for (const key of keys) found.push(await store.runByIdempotencyKey(sessionId, key))
    for (const digest of ['a1'.repeat(32), 'b2'.repeat(32)]) {
      found.push(await store.input(sessionId, digest))
      for (const runId of runs) found.push(await store.blob(sessionId, runId, digest))
    }
    for (const runId of runs) {
      found.push(await store.run(sessionId, runId))
      found.push(await store.journal(sessionId, runId, { from: 0, limit: 100 }))
      for (const streamId of streams) {
        for (const from of [0, 1, 3]) {
          found.push(
            await store
              .streamPage(sessionId, streamId, { from, limit: 100 })
              .catch((error: unknown) => (error as { readonly code?: string }).code),
          )
        }
      }
    }
    for (const log of logs) {
      found.push(await store.logPage(sessionId, log, { from: 0, limit: 100 }))
      for (const key of keys) found.push(await store.logEntry(sessionId, log, `${key}1`))
    }
    for (const collection of ['c', 'd']) {
      found.push(await store.documents(sessionId, collection, { limit: 100 }))
    }
  }
  found.push([...(await store.findWork(1_000, 100))].toSorted(), await store.nextWake())
  return found
}
