// Writes groups of requests, each in one transaction.
//
// Owns:  the connection that writes, and its statements.
// Asks:  the rules what becomes of each commit.
// Never: schedules: who calls it decides what goes into a group.
//
// G1. Heads are read inside the transaction, which holds SQLite's write lock from its begin, or are
//     those of the transaction before, which inside this one are found to be unchanged.
// G2. What is answered as done was synced: answers are made after the transaction's commit.
// G3. A request that fails by itself fails alone; a failure of the group writes nothing.
// G4. After a failure of the file system the connection is closed and never used again, and the next
//     one begins its log anew. Whether the group became durable is then answered by commit ids, and
//     for the rest said to be unknown.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { SessionClaim, SessionId } from '@holdfast/core'
import { commitIdAt, judge } from '@holdfast/core/commit-rules'
import type { CommitEffect } from '@holdfast/core/commit-rules'
import { numberOf, optionalNumber } from './columns.ts'
import { endOpening, foldLog, openForWriting } from './connection.ts'
import type { SqlConnection, SqlDriver, SqlStatement } from './driver.ts'
import { EffectWriter } from './effect-writer.ts'
import { GroupViewLoader } from './group-view.ts'
import type { GroupView } from './group-view.ts'
import { growLog } from './log-space.ts'
import { isBusy, isDamage, isIoError, sqliteCode, storageError } from './storage-error.ts'
import { inTransaction, rollBack } from './transaction.ts'
import { sendableError } from './writer-message.ts'
import type { WriterRequest, WriterResponse, WriterSettings } from './writer-message.ts'

/** How long a commit id is remembered: far longer than any caller goes on repeating one. */
const commitIdMs = 60 * 60 * 1_000

/** How many rows of a kind one group sweeps away whose time has come. */
const sweepRows = 256

/** How often old rows are swept away. Milliseconds. */
const sweepMs = 60 * 1_000

/** A store that writes less than this in its life has no long log beside it. */
const groupsBeforeGrowth = 32

interface Open {
  readonly connection: SqlConnection
  readonly loader: GroupViewLoader
  readonly writer: EffectWriter
  readonly begin: SqlStatement
  readonly commit: SqlStatement
  readonly dataVersion: SqlStatement
  readonly isOwned: SqlStatement
  readonly claim: SqlStatement
  readonly release: SqlStatement
  readonly currentNode: SqlStatement
}

/** A group as carried out, its transaction still open. */
interface Written {
  readonly group: GroupView
  readonly effects: readonly CommitEffect[]
  readonly responses: readonly WriterResponse[]
}

/** The writing side of a store, on whatever thread it stands. */
export class GroupWriter {
  readonly #driver: SqlDriver
  readonly #settings: WriterSettings
  #open: Open | undefined
  #node: number | undefined
  #sweptAt = 0
  /** The file system has failed, and nothing may be written behind what it has failed on. */
  #logSuspect = false
  /** Groups that this connection has written, and whether its log may still be too short. */
  #written = 0
  #growing = false

  /** Opens the file, brings it to this release's version, and registers the node, if it is one. */
  constructor(driver: SqlDriver, settings: WriterSettings) {
    this.#driver = driver
    this.#settings = settings
    const { connection } = this.#ensureOpen('first')
    if (settings.node !== undefined) {
      this.#node = registerNode(connection, settings.node, settings.pid)
    }
    endOpening(connection)
    if (settings.node !== undefined) foldIfPossible(connection)
  }

  /** The node's key, if this is an owner. */
  get node(): number | undefined {
    return this.#node
  }

  /** Changes whenever another connection has changed the file. Never waits. */
  dataVersion(): number | undefined {
    try {
      return numberOf(this.#ensureOpen().dataVersion.get()?.['data_version'])
    } catch {
      // Whoever writes or reads next is told why.
      return undefined
    }
  }

  /**
   * Writes a group. Answers `'busy'` if another process holds the lock: nothing was done, and the
   * same group may be tried again.
   */
  write(requests: readonly WriterRequest[], now: number): readonly WriterResponse[] | 'busy' {
    let stage: 'begin' | 'apply' | 'commit' = 'begin'
    try {
      const open = this.#ensureOpen()
      open.begin.run()
      stage = 'apply'
      const { group, effects, responses } = this.#writeAll(open, requests, now)
      stage = 'commit'
      open.commit.run()
      open.loader.keep(group, effects)
      this.#written += 1
      return responses
    } catch (error) {
      if (stage === 'begin' && isBusy(error)) return 'busy'
      if (this.#open !== undefined) rollBack(this.#open.connection)
      if (isIoError(error)) this.#logSuspect = true
      if (isIoError(error) || stage === 'commit') this.#discard()
      if (stage === 'commit' && isIoError(error)) return this.#decide(requests, error)
      // The others are written without it.
      if (stage === 'apply' && requests.length > 1 && isOfOne(error)) {
        return this.#writeEach(requests, now)
      }
      const failure = storageError(error, this.#settings.path)
      return requests.map(({ id }) => failed(id, failure))
    }
  }

  /** Does a little of what no answer has to wait for. To be called when nothing waits. */
  tend(): void {
    if (this.#open === undefined || this.#node === undefined) return
    if (!this.#growing || this.#written < groupsBeforeGrowth) return
    this.#growing = growLog(this.#open.connection, this.#settings.path)
  }

  /** Says that the node is gone, and closes the file. */
  close(): void {
    if (this.#open === undefined) return
    const { connection } = this.#open
    const node = this.#node
    try {
      if (node !== undefined) {
        inTransaction(connection, () =>
          connection.prepare('delete from owner where node = ?').run(node),
        )
      }
    } catch {
      // A node that is not signed off is found to be gone by the next owner all the same.
    }
    this.#discard()
  }

  #writeEach(requests: readonly WriterRequest[], now: number): readonly WriterResponse[] | 'busy' {
    const responses: WriterResponse[] = []
    for (const request of requests) {
      const written = this.write([request], now)
      if (written === 'busy') {
        const failure = storageError({ errcode: 5 }, this.#settings.path)
        responses.push(failed(request.id, failure))
      } else responses.push(...written)
    }
    return responses
  }

  #writeAll(open: Open, requests: readonly WriterRequest[], now: number): Written {
    const commits = requests.flatMap((request) =>
      request.kind === 'commit' ? [request.commit] : [],
    )
    const group = open.loader.load(commits, now - this.#settings.tombstoneMs)
    const effects: CommitEffect[] = []
    const responses = requests.map((request) => this.#writeOne(open, group, request, now, effects))
    if (now - this.#sweptAt >= sweepMs) {
      this.#sweptAt = now
      this.#sweep(open.connection, now)
    }
    return { group, effects, responses }
  }

  #writeOne(
    open: Open,
    group: GroupView,
    request: WriterRequest,
    now: number,
    effects: CommitEffect[],
  ): WriterResponse {
    const { id } = request
    switch (request.kind) {
      case 'claim':
        return this.#claim(open, group, id, request.sessionId)
      case 'release':
        return this.#release(open, id, request.claim)
      case 'commit': {
        const verdict = judge(group.view, request.commit)
        switch (verdict.kind) {
          case 'refused':
            return failed(id, verdict.error)
          case 'repeated':
            return { id, kind: 'committed', receipt: verdict.receipt, work: false, repeated: true }
          case 'accepted': {
            for (const effect of verdict.effects) {
              open.writer.apply(effect, group, now)
              effects.push(effect)
            }
            const work =
              verdict.effects.some(isWork) &&
              open.isOwned.get(request.commit.sessionId) === undefined
            return { id, kind: 'committed', receipt: verdict.receipt, work, repeated: false }
          }
        }
      }
    }
  }

  #claim(open: Open, group: GroupView, id: number, sessionId: SessionId): WriterResponse {
    if (this.#node === undefined) {
      const message = 'A client of the store can own no session.'
      return failed(id, new HoldfastError(ErrorCode.storeReadOnly, { message }))
    }
    if (optionalNumber(open.currentNode.get()?.['node']) !== this.#node) {
      const message = 'Another process has taken the file over.'
      return failed(id, new HoldfastError(ErrorCode.storeOwned, { message, retryable: false }))
    }
    const row = open.claim.get(sessionId, this.#node)
    const epoch = numberOf(row?.['epoch'])
    group.sessionKeys.set(sessionId, numberOf(row?.['key']))
    group.view.sessions.set(sessionId, { epoch })
    return { id, kind: 'claimed', claim: { sessionId, epoch } }
  }

  #release(open: Open, id: number, claim: SessionClaim): WriterResponse {
    const row = open.release.get(claim.sessionId, claim.epoch, this.#node ?? -1)
    return { id, kind: 'released', work: row !== undefined }
  }

  /** Removes what was kept for a time only, a little at a time. */
  #sweep(connection: SqlConnection, now: number): void {
    const tombstonesUntil = now - this.#settings.tombstoneMs
    connection
      .prepare(
        'delete from tombstone where (session, run_id) in' +
          ' (select session, run_id from tombstone where purged_at < ? limit ?)',
      )
      .run(tombstonesUntil, sweepRows)
    connection
      .prepare(
        'delete from idempotency where (session, key) in' +
          ' (select session, key from idempotency where purged_at < ? limit ?)',
      )
      .run(tombstonesUntil, sweepRows)
    connection
      .prepare(
        'delete from commit_seen where seen_at < ? and id in' +
          ' (select id from commit_seen order by id limit ?)',
      )
      .run(now - commitIdMs, sweepRows * 16)
  }

  #decide(requests: readonly WriterRequest[], cause: unknown): readonly WriterResponse[] {
    return requests.map((request): WriterResponse => {
      const { id } = request
      const unknown = new HoldfastError(ErrorCode.storeOutcomeUnknown, {
        message: 'The file system failed while the commit was being written.',
        cause,
      })
      if (request.kind !== 'commit' || request.commit.commitId === undefined) {
        return failed(id, unknown)
      }
      const { sessionId, commitId } = request.commit
      try {
        const { view } = this.#ensureOpen().loader.load([request.commit], 0)
        const seen = view.commitIds.get(commitIdAt(sessionId, commitId))
        if (seen === undefined) return failed(id, storageError(cause, this.#settings.path))
        return { id, kind: 'committed', receipt: seen.receipt, work: true, repeated: false }
      } catch {
        return failed(id, unknown)
      }
    })
  }

  #ensureOpen(time: 'first' | 'again' = 'again'): Open {
    if (this.#open !== undefined) return this.#open
    const connection = openForWriting(this.#driver, this.#settings.path)
    if (time === 'again') this.#comeBack(connection)
    this.#written = 0
    this.#growing = true
    this.#open = {
      connection,
      loader: new GroupViewLoader(connection),
      writer: new EffectWriter(connection),
      begin: connection.prepare('begin immediate'),
      commit: connection.prepare('commit'),
      dataVersion: connection.prepare('pragma data_version'),
      isOwned: connection.prepare(
        'select 1 from session where id = ? and owner = (select node from owner)',
      ),
      currentNode: connection.prepare('select node from owner'),
      claim: connection.prepare(
        'insert into session (id, owner, epoch) values (?, ?, 1) on conflict (id)' +
          ' do update set owner = excluded.owner, epoch = epoch + 1 returning key, epoch',
      ),
      release: connection.prepare(
        'update session set owner = null where id = ? and epoch = ? and owner = ? returning key',
      ),
    }
    return this.#open
  }

  #comeBack(connection: SqlConnection): void {
    try {
      if (this.#logSuspect) foldLog(connection)
      this.#logSuspect = false
      endOpening(connection)
    } catch (error) {
      connection.close()
      throw error
    }
  }

  #discard(): void {
    const connection = this.#open?.connection
    this.#open = undefined
    try {
      connection?.close()
    } catch {
      // Nothing is asked of this connection any more.
    }
  }
}

/** The owner before may have ended after a failed sync; on a disk that is full this one still reads. */
function foldIfPossible(connection: SqlConnection): void {
  try {
    foldLog(connection)
  } catch {
    // Whoever writes next is told what is wrong.
  }
}

function registerNode(connection: SqlConnection, id: string, pid: number): number {
  return inTransaction(connection, () => {
    connection.exec('delete from node')
    const node = connection.prepare('insert into node (id, pid) values (?, ?)').run(id, pid)
    connection.prepare('insert or replace into owner (only, node) values (1, ?)').run(node)
    return node
  })
}

/** Whether one request of a group has failed: by a bug, or by a damaged page that it needs. */
function isOfOne(error: unknown): boolean {
  return sqliteCode(error) === undefined || isDamage(error)
}

/** Whether a change may make a session work for whoever takes it. */
function isWork(effect: CommitEffect): boolean {
  return effect.kind === 'run-insert' || effect.kind === 'run-update' || effect.kind === 'run-ready'
}

function failed(id: number, error: HoldfastError): WriterResponse {
  return { id, kind: 'failed', error: sendableError(error) }
}
