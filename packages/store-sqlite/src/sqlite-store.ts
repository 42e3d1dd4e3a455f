// A store in one SQLite file.
//
// Owns:  the owner's lock, the connection that reads, the line to the writer, the watches.
// Asks:  the writer for everything that changes the file.
// Never: writes on the connection that reads.
//
// Q1. The lock is taken before anything is written, and let go of after the last write.
// Q2. A watch of this store fires when this store's commit is answered; one of another process's
//     commit when polling finds it.
import { resolve as resolvePath } from 'node:path'
import {
  configurationInvalid,
  ErrorCode,
  HoldfastError,
  Limits,
  silentLog,
  wholeNumberOption,
} from '@holdfast/core'
import type { Log, Store, System, WatchTopic } from '@holdfast/core'
import {
  checkCommit,
  checkSessionId,
  createWatchHub,
  topicKey,
  topicsOf,
  workTopicKey,
} from '@holdfast/core/commit-rules'
import { system as realSystem } from '@holdfast/core/system'
import { inspectFile, openForReading } from './connection.ts'
import type { SqlDriver } from './driver.ts'
import { driverNamed } from './named-driver.ts'
import type { SqliteDriverName } from './named-driver.ts'
import { takeOwnerLock } from './owner-lock.ts'
import { SqliteReads } from './reads.ts'
import { storageError } from './storage-error.ts'
import { startInThread, startWorker } from './writer-link.ts'
import type { WriterLink } from './writer-link.ts'
import { encodeCommit } from './writer-message.ts'
import type { WriterSettings } from './writer-message.ts'

/** How a SQLite store is opened. */
export interface SqliteStoreOptions {
  /** The file; it is made if it does not exist, its directory is not. */
  readonly path: string
  /**
   * `owner` (default): runs are executed here; one process a file. `client`: beside an owner, reads,
   * starts runs, and appends to inboxes and logs.
   */
  readonly mode?: 'owner' | 'client'
  /** Default: the real one. */
  readonly system?: System
  /** Default: silent. */
  readonly log?: Log
  /**
   * The SQLite library: Node's own (default), or better-sqlite3 13 or newer, an optional peer that is
   * loaded only when it is asked for.
   */
  readonly driver?: SqliteDriverName
  /** Writes on a thread of its own, so that a sync holds nobody up. Default true. */
  readonly worker?: boolean
  /** How many commits may wait before more are refused as `store_unavailable`. Default 10,000. */
  readonly queueCommits?: number
  /** How long tombstones of purged runs and their keys stay. Milliseconds. Default 30 days. */
  readonly tombstoneMs?: number
}

/** A SQLite store. */
export interface SqliteStore extends Store {
  /** The file's absolute path. */
  readonly path: string
}

/**
 * Opens a store in a SQLite file. Every commit that resolves has been synced to the disk.
 *
 * @throws `store_owned` while another process owns it, `store_corrupt`, `record_from_newer_version`,
 * `store_read_only`, `store_unavailable` while another process has locked it,
 * `configuration_invalid` when the driver cannot be loaded, or a bundler has left the worker behind
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  return openWithDriver(driverNamed(options.driver ?? 'node'), options)
}

/** As {@link openSqliteStore}, over any library; a thread of its own loads the one of `options.driver`. */
export async function openWithDriver(
  driver: SqlDriver,
  options: SqliteStoreOptions,
): Promise<SqliteStore> {
  if (options.path === '' || options.path === ':memory:') {
    throw configurationInvalid(
      'Option path must name a file; for memory see @holdfast/store-memory.',
    )
  }
  const path = resolvePath(options.path)
  const system = options.system ?? realSystem
  const log = options.log ?? silentLog
  const owner = (options.mode ?? 'owner') === 'owner'
  const node = system.uuid()
  const settings: WriterSettings = {
    path,
    driver: options.driver ?? 'node',
    ...(owner ? { node } : {}),
    pid: process.pid,
    tombstoneMs: wholeNumberOption('tombstoneMs', options.tombstoneMs ?? Limits.tombstoneMs, {
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
    }),
  }
  const linkOptions = {
    system,
    queueCommits: wholeNumberOption(
      'queueCommits',
      options.queueCommits ?? Limits.storeQueueCommits,
      { min: 1, max: 1_000_000 },
    ),
  }
  const cleanup: (() => void)[] = []
  const lost = new AbortController()
  let states = new Map<string, string | undefined>()
  let onChanged: () => void = () => undefined
  let onWatched: (topic: WatchTopic) => void = () => undefined
  const hub = createWatchHub(watchesChanged)
  let link: WriterLink | undefined
  let polling = false

  try {
    inspectFile(driver, path)
    if (owner) {
      const lock = takeOwnerLock(driver, path, { pid: process.pid, token: node })
      cleanup.push(() => lock.release())
    }
    const events = { changed: () => onChanged(), lost: writerLost }
    link =
      options.worker === false
        ? startInThread(driver, settings, linkOptions, events)
        : await startWorker(settings, linkOptions, events)
    const reads = new SqliteReads(
      openForReading(driver, path),
      () => system.now() - settings.tombstoneMs,
    )
    return createStore(link, reads)
  } catch (error) {
    await link?.close()
    for (const undo of cleanup.toReversed()) undo()
    throw storageError(error, path)
  }

  function createStore(writer: WriterLink, reads: SqliteReads): SqliteStore {
    let state: 'open' | 'closing' | 'closed' = 'open'
    let closing: Promise<void> | undefined

    const checkOpen = (): void => {
      if (state !== 'open') throw storeClosed()
    }
    const read = async <Value>(from: (reads: SqliteReads) => Value): Promise<Value> => {
      checkOpen()
      try {
        return from(reads)
      } catch (error) {
        throw storageError(error, path)
      }
    }
    onChanged = () => {
      if (state === 'open') fireChanged(reads)
    }
    onWatched = (topic) => {
      states.set(topicKey(topic), stateOf(reads, topic))
    }

    return {
      path,
      node: owner ? { id: node, lost: lost.signal } : undefined,
      async commit(commit) {
        checkOpen()
        checkCommit(commit)
        const answer = await writer.ask(
          { kind: 'commit', commit: encodeCommit(commit) },
          commit.urgency === 'chunks',
        )
        if (answer.kind !== 'committed') throw unexpected(answer.kind)
        if (!answer.repeated) hub.fire(topicsOf(commit, answer.receipt))
        if (answer.work) hub.fire([workTopicKey])
        return answer.receipt
      },
      run: (sessionId, runId) => read((from) => from.run(sessionId, runId)),
      runs: (sessionId, request) => read((from) => from.runs(sessionId, request)),
      runByIdempotencyKey: (sessionId, key) =>
        read((from) => from.runByIdempotencyKey(sessionId, key)),
      input: (sessionId, digest) => read((from) => from.input(sessionId, digest)),
      blob: (sessionId, runId, digest) => read((from) => from.blob(sessionId, runId, digest)),
      journal: (sessionId, runId, request) =>
        read((from) => from.journal(sessionId, runId, request)),
      streamPage: (sessionId, streamId, request) =>
        read((from) => from.streamPage(sessionId, streamId, request)),
      streamHead: (sessionId, streamId) => read((from) => from.streamHead(sessionId, streamId)),
      logPage: (sessionId, name, request) => read((from) => from.logPage(sessionId, name, request)),
      logEntry: (sessionId, name, key) => read((from) => from.logEntry(sessionId, name, key)),
      document: (sessionId, collection, key) =>
        read((from) => from.document(sessionId, collection, key)),
      documents: (sessionId, collection, request) =>
        read((from) => from.documents(sessionId, collection, request)),
      findWork: (now, limit) => read((from) => from.findWork(now, limit)),
      nextWake: () => read((from) => from.nextWake()),
      watch: (topic, signal) => hub.watch(topic, signal),
      async claimSession(sessionId) {
        checkOpen()
        checkSessionId(sessionId)
        const answer = await writer.ask({ kind: 'claim', sessionId }, false)
        if (answer.kind !== 'claimed') throw unexpected(answer.kind)
        return answer.claim
      },
      async releaseSession({ sessionId, epoch }) {
        checkOpen()
        const answer = await writer.ask({ kind: 'release', claim: { sessionId, epoch } }, false)
        if (answer.kind === 'released' && answer.work) hub.fire([workTopicKey])
      },
      close() {
        closing ??= finish()
        return closing
      },
    }

    async function finish(): Promise<void> {
      state = 'closing'
      hub.close()
      // The reader goes first: whoever closes a file last folds its log into it, and a reader cannot.
      reads.close()
      await writer.close()
      state = 'closed'
      for (const undo of cleanup.toReversed()) undo()
    }
  }

  function fireChanged(reads: SqliteReads): void {
    const known = states
    const keys: string[] = []
    states = new Map()
    for (const topic of hub.topics()) {
      const key = topicKey(topic)
      const state = stateOf(reads, topic)
      if (state === undefined || known.get(key) !== state) keys.push(key)
      states.set(key, state)
    }
    hub.fire(keys)
  }

  function watchesChanged(topic: WatchTopic, watched: boolean): void {
    if (watched) onWatched(topic)
    else states.delete(topicKey(topic))
    if (hub.active === polling) return
    polling = hub.active
    link?.poll(polling)
  }

  function writerLost(error: HoldfastError): void {
    log.write({
      level: 'error',
      event: 'store.writer.lost',
      message: error.message,
      fields: { path },
      cause: error.cause,
    })
    hub.close()
    lost.abort(error)
  }
}

/** A topic's state as of now; `undefined`: whoever watches must look, and is told what is wrong. */
function stateOf(reads: SqliteReads, topic: WatchTopic): string | undefined {
  try {
    return reads.stateOf(topic)
  } catch {
    return undefined
  }
}

function storeClosed(): HoldfastError {
  return new HoldfastError(ErrorCode.storeClosed, { message: 'The store is closed.' })
}

function unexpected(kind: string): HoldfastError {
  return new HoldfastError(ErrorCode.internal, { message: `The writer answered with ${kind}.` })
}
