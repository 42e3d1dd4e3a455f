import { inboxOf, isStoreConflict } from '@holdfast/core'
import type {
  Commit,
  ConflictReason,
  LogAppend,
  Receipt,
  RunId,
  RunRecord,
  SessionId,
  Store,
  StoreConflictError,
  StoreWrite,
} from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { afterAll, beforeAll, expect } from 'vitest'
import type { StoreDatabase, StoreDatabaseOptions, StoreTarget } from './store-target.ts'

/** A digest of the right form. */
export const digest = 'd1'.repeat(32)

/** A run's row as at its creation. */
export function runRecord(
  sessionId: SessionId,
  runId: RunId,
  change: Partial<RunRecord> = {},
): RunRecord {
  return {
    version: 1,
    id: runId,
    sessionId,
    definition: { name: 'counter_flow', version: 'v1', digest: 'definition-digest' },
    input: { digest, size: 2 },
    artifactNamespace: { sessionId, runId },
    status: 'pending',
    parked: false,
    interrupts: [],
    artifacts: [],
    stream: 0,
    inboxReadThrough: 0,
    recoveries: 0,
    createdAt: 1_000,
    updatedAt: 1_000,
    ...change,
  }
}

/** A store with one claimed session, and short ways to write to it. */
export class SessionFixture {
  readonly store: Store
  readonly sessionId: SessionId
  epoch: number

  private constructor(store: Store, sessionId: SessionId, epoch: number) {
    this.store = store
    this.sessionId = sessionId
    this.epoch = epoch
  }

  static async claim(store: Store, sessionId: SessionId = system.uuid()): Promise<SessionFixture> {
    const { epoch } = await store.claimSession(sessionId)
    return new SessionFixture(store, sessionId, epoch)
  }

  /** Commits as the session's owner. */
  write(...writes: StoreWrite[]): Promise<Receipt> {
    return this.store.commit(this.owned(...writes))
  }

  /** A commit of the session's owner. */
  owned(...writes: StoreWrite[]): Commit {
    return { sessionId: this.sessionId, fence: { epoch: this.epoch }, writes }
  }

  /** Commits as anybody. */
  anybody(...writes: StoreWrite[]): Promise<Receipt> {
    return this.store.commit({ sessionId: this.sessionId, writes })
  }

  /** Starts a run with its input and seed, and answers with its id. */
  async start(change: Partial<RunRecord> = {}, idempotencyKey?: string): Promise<RunId> {
    const runId = change.id ?? system.runId()
    await this.anybody(
      { kind: 'input-put', digest, bytes: new Uint8Array([123, 125]) },
      {
        kind: 'run-create',
        record: runRecord(this.sessionId, runId, change),
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      },
      { kind: 'journal-append', runId, revision: 0, data: '["seed"]' },
    )
    return runId
  }

  /** Swaps a run's row for one with these changes. */
  async swap(runId: RunId, change: Partial<RunRecord>): Promise<Receipt> {
    return this.write(await this.swapOf(runId, change))
  }

  /** A write that swaps a run's row as it stands now. */
  async swapOf(runId: RunId, change: Partial<RunRecord>): Promise<StoreWrite> {
    const run = await this.store.run(this.sessionId, runId)
    if (run === undefined) throw new Error(`There is no run ${runId}.`)
    const record = { ...run.record, ...change }
    return { kind: 'run-swap', record, expectedRevision: run.revision }
  }

  /** A write to a run's inbox. */
  toInbox(runId: RunId, key: string, more: Partial<LogAppend> = {}): LogAppend {
    return {
      kind: 'log-append',
      log: inboxOf(runId),
      key,
      value: JSON.stringify({ key }),
      onFailure: 'fail',
      ...more,
    }
  }
}

/** Runs a test on a fresh database, and removes it whatever happens. */
export async function onDatabase(
  target: StoreTarget,
  test: (database: StoreDatabase, store: Store) => Promise<void>,
  options: StoreDatabaseOptions = {},
): Promise<void> {
  const database = await target.create(options)
  try {
    await test(database, await database.open())
  } finally {
    await database.destroy()
  }
}

/** Runs a test on a claimed session of a fresh database. */
export function onSession(
  target: StoreTarget,
  test: (session: SessionFixture, store: Store, database: StoreDatabase) => Promise<void>,
  options: StoreDatabaseOptions = {},
): Promise<void> {
  return onDatabase(
    target,
    async (database, store) => test(await SessionFixture.claim(store), store, database),
    options,
  )
}

/**
 * Runs tests on claimed sessions of one database, as sessions share nothing. Call it in a `describe`
 * whose tests neither close the store nor ask for work: opening a database may cost more than a test.
 */
export function sharedDatabase(
  target: StoreTarget,
): (test: (session: SessionFixture, store: Store) => Promise<void>) => Promise<void> {
  let database: StoreDatabase | undefined
  let store: Store | undefined
  beforeAll(async () => {
    database = await target.create()
    store = await database.open()
  })
  afterAll(async () => {
    await database?.destroy()
  })
  return async (test) => {
    if (store === undefined) throw new Error('The database was not opened.')
    await test(await SessionFixture.claim(store), store)
  }
}

/** Expects a commit to be refused for this reason, and answers with what the conflict tells. */
export async function expectConflict(
  commit: Promise<unknown>,
  reason: ConflictReason,
): Promise<StoreConflictError['facts']> {
  const error: unknown = await commit.then(
    () => new Error('The commit was accepted.'),
    (failure: unknown) => failure,
  )
  if (!isStoreConflict(error)) throw error
  expect(error.facts.reason).toBe(reason)
  return error.facts
}

/** Expects a promise to be rejected with this code. */
export async function expectCode(promise: Promise<unknown>, code: string): Promise<void> {
  await expect(promise).rejects.toMatchObject({ code })
}
