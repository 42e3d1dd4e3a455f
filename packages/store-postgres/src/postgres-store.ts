// A store in a schema of a PostgreSQL database, shared by as many processes as open it.
//
// Owns:  the connections, the queue of groups, the node's lease, the watches.
// Asks:  the rules of @holdfast/core what becomes of a commit; the database for everything else.
// Never: keeps a head, a lease of another node, or a session's owner in memory.
//
// P1. A commit resolves after its transaction was flushed; its watches fire after that.
// P2. Closing writes what was accepted, signs the node off, and only then ends the connections.
import type { Store } from '@holdfast/core'
import { ErrorCode, HoldfastError } from '@holdfast/core'
import { checkCommit, checkSessionId, topicsOf, workTopicKey } from '@holdfast/core/commit-rules'
import { Database, groupsAtOnce } from './database.ts'
import { GroupQueue } from './group-queue.ts'
import { writeGroup } from './group-transaction.ts'
import { migrate } from './migrate.ts'
import { NodeLease } from './node-lease.ts'
import { settingsOf } from './options.ts'
import type { PostgresStoreOptions } from './options.ts'
import { storeClosed } from './postgres-error.ts'
import { RecordReads } from './record-reads.ts'
import { RunReads } from './run-reads.ts'
import { claimSession, releaseSession } from './session-ownership.ts'
import { StreamReads } from './stream-reads.ts'
import { sweep } from './sweep.ts'
import { Watches } from './watches.ts'
import { findWork, nextWake } from './work-reads.ts'

/** How often old rows are swept away. Milliseconds. */
const sweepMs = 60 * 1_000

/** Longer than closing takes, whatever happens to the server meanwhile. Milliseconds. */
const closingMs = 10 * 60 * 1_000

/** A PostgreSQL store. */
export interface PostgresStore extends Store {
  /** The schema that holds its tables. */
  readonly schema: string
}

/**
 * Opens a store in a PostgreSQL database, and makes or migrates its schema. Every commit that
 * resolves has been flushed by the server. Close an owner, else it goes on renewing its lease.
 *
 * @throws `store_unavailable` when the server cannot be reached, `configuration_invalid` without the
 * privileges or on a server that will not do, `record_from_newer_version`, `store_corrupt` for a schema
 * of another application, `store_read_only` for a standby
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const settings = settingsOf(options)
  const database = new Database(settings)
  try {
    await migrate(database)
    const lease = settings.owner ? new NodeLease(database) : undefined
    await lease?.begin()
    const watches = new Watches(database, lease?.id ?? settings.system.uuid())
    await watches.start()
    return createStore(database, lease, watches, options.schema ?? 'holdfast')
  } catch (error) {
    await database.close()
    throw error
  }
}

function createStore(
  database: Database,
  lease: NodeLease | undefined,
  watches: Watches,
  schema: string,
): PostgresStore {
  const { system, queueCommits } = database.settings
  const queue = new GroupQueue((commits) => writeGroup(database, commits), system, {
    queueCommits,
    groupsAtOnce,
  })
  const runs = new RunReads(database)
  const streams = new StreamReads(database)
  const records = new RecordReads(database)
  const inFlight = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined
  let sweptAt = 0

  const checkOpen = (): void => {
    if (closing !== undefined) throw storeClosed()
  }
  /** Runs what closing has to wait for. */
  const during = async <Value>(call: () => Promise<Value>): Promise<Value> => {
    checkOpen()
    const promise = call()
    inFlight.add(promise)
    try {
      return await promise
    } finally {
      inFlight.delete(promise)
    }
  }
  const sweepSometimes = (): void => {
    const now = system.now()
    if (closing !== undefined || Math.abs(now - sweptAt) < sweepMs) return
    sweptAt = now
    const sweeping = sweep(database).catch(() => undefined)
    inFlight.add(sweeping)
    void sweeping.then(() => inFlight.delete(sweeping))
  }

  return {
    schema,
    node: lease === undefined ? undefined : { id: lease.id, lost: lease.lost.signal },
    commit: (commit) =>
      during(async () => {
        checkCommit(commit)
        const outcome = await queue.ask(commit)
        if (outcome.kind === 'failed') throw outcome.error
        if (!outcome.repeated) {
          const keys = new Set(topicsOf(commit, outcome.receipt))
          if (outcome.work) keys.add(workTopicKey)
          watches.changed(keys)
        }
        sweepSometimes()
        return outcome.receipt
      }),
    run: (sessionId, runId) => during(() => runs.run(sessionId, runId)),
    runs: (sessionId, request) => during(() => runs.runs(sessionId, request)),
    runByIdempotencyKey: (sessionId, key) => during(() => runs.runByIdempotencyKey(sessionId, key)),
    input: (sessionId, digest) => during(() => runs.input(sessionId, digest)),
    blob: (sessionId, runId, digest) => during(() => runs.blob(sessionId, runId, digest)),
    journal: (sessionId, runId, request) => during(() => runs.journal(sessionId, runId, request)),
    streamPage: (sessionId, streamId, request) =>
      during(() => streams.streamPage(sessionId, streamId, request)),
    streamHead: (sessionId, streamId) => during(() => streams.streamHead(sessionId, streamId)),
    logPage: (sessionId, log, request) => during(() => records.logPage(sessionId, log, request)),
    logEntry: (sessionId, log, key) => during(() => records.logEntry(sessionId, log, key)),
    document: (sessionId, collection, key) =>
      during(() => records.document(sessionId, collection, key)),
    documents: (sessionId, collection, request) =>
      during(() => records.documents(sessionId, collection, request)),
    findWork: (now, limit) => during(() => findWork(database, now, limit)),
    nextWake: () => during(() => nextWake(database)),
    watch: (topic, signal) => watches.watch(topic, signal),
    claimSession: (sessionId) =>
      during(() => {
        checkSessionId(sessionId)
        if (lease === undefined) throw clientOwnsNothing()
        return claimSession(database, lease, sessionId)
      }),
    releaseSession: (claim) =>
      during(async () => {
        checkSessionId(claim.sessionId)
        if (lease === undefined) return
        const released = await releaseSession(database, lease, claim)
        if (released) watches.changed(new Set([workTopicKey]))
      }),
    close() {
      closing ??= finish()
      return closing
    },
  }

  async function finish(): Promise<void> {
    watches.end()
    // Idle connections keep no process alive: this does, until they have ended.
    const cancel = system.after(closingMs, () => undefined)
    try {
      await writeAndEnd()
    } finally {
      cancel()
    }
  }

  async function writeAndEnd(): Promise<void> {
    await queue.drain()
    await Promise.allSettled(inFlight)
    if (lease !== undefined) {
      await lease.end()
      watches.changed(new Set([workTopicKey]))
    }
    await watches.close()
    await database.close()
  }
}

function clientOwnsNothing(): HoldfastError {
  return new HoldfastError(ErrorCode.storeReadOnly, {
    message: 'A client of the store can own no session.',
  })
}
