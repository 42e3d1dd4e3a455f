// What a group of commits is judged against, and what of it stays for the next group.
//
// Owns:  the statements that read heads, and the heads that were kept.
// Asks:  SQLite, inside the transaction, whether another connection has written since.
// Never: hands a head on that was not read, or proven unchanged, inside the transaction it serves.
//
// V1. Heads are kept only of a group whose transaction has committed, and are taken out by the load
//     of the next: a group that fails leaves none (docs/decisions/0029).
// V2. They serve again only if `data_version`, read inside a transaction that holds the write lock, is
//     what it was when they were read: then nobody but this connection has written.
// V3. What depends on a clock (tombstones), on a single key, or on a run's row that a group has
//     swapped is read anew each time.
import { decodeRunRecord } from '@holdfast/core'
import type { Commit, Receipt, SessionId } from '@holdfast/core'
import { createCommitView, logAt, runAt, touchedBy } from '@holdfast/core/commit-rules'
import type {
  CommitEffect,
  CommitView,
  PurgedState,
  RunState,
  Touched,
  TouchedRun,
} from '@holdfast/core/commit-rules'
import {
  bytesOf,
  digestText,
  endOf,
  numberOf,
  optionalNumber,
  statusOf,
  textOf,
} from './columns.ts'
import type { SqlConnection, SqlStatement } from './driver.ts'

/** How many heads are kept at most; about half a kilobyte each. */
const keptHeads = 8_192

/** A view of one group, and the integer keys of the rows that it has seen. */
export interface GroupView {
  readonly view: CommitView
  /** SQLite's number for what other connections have written, as of this group's transaction. */
  readonly dataVersion: number
  readonly sessionKeys: Map<SessionId, number>
  readonly runKeys: Map<string, number>
  readonly streamKeys: Map<string, number>
  readonly logKeys: Map<string, number>
}

/** Loads, inside a transaction, what a group's rules read. */
export class GroupViewLoader {
  readonly #statements
  #kept: GroupView | undefined

  constructor(connection: SqlConnection) {
    this.#statements = prepare(connection)
  }

  /** Tombstones of before `tombstonesFrom` count as gone. */
  load(commits: readonly Commit[], tombstonesFrom: number): GroupView {
    const touched = touchedBy(commits)
    const group = this.#begin()
    for (const sessionId of touched.sessions) {
      if (group.view.sessions.has(sessionId)) continue
      const row = this.#statements.session.get(sessionId)
      if (row === undefined) continue
      group.sessionKeys.set(sessionId, numberOf(row['key']))
      group.view.sessions.set(sessionId, { epoch: numberOf(row['epoch']) })
    }
    // Nothing belongs to a session that has no row.
    if (group.sessionKeys.size > 0) {
      this.#loadRuns(group, touched, tombstonesFrom)
      this.#loadStreams(group, touched)
      this.#loadLogs(group, touched)
      this.#loadRest(group, touched, tombstonesFrom)
    }
    return group
  }

  /** Keeps a group's heads for the next one. Only for a group whose transaction has committed. */
  keep(group: GroupView, effects: readonly CommitEffect[]): void {
    const { view } = group
    const heads = view.sessions.size + view.runs.size + view.streams.size + view.logs.size
    if (heads > keptHeads) return
    for (const effect of effects) {
      switch (effect.kind) {
        case 'run-remove':
          // Its streams and its inbox are gone with it.
          return
        case 'run-insert':
        case 'run-update':
          // Its view holds the whole row.
          view.runs.delete(runAt(effect.sessionId, effect.record.id))
          break
        case 'session-insert':
        case 'input-put':
        case 'blob-put':
        case 'run-ready':
        case 'journal-insert':
        case 'stream-insert':
        case 'chunks-insert':
        case 'stream-end':
        case 'log-insert':
        case 'log-entry-insert':
        case 'log-close':
        case 'document-write':
        case 'commit-seen':
          break
      }
    }
    this.#kept = group
  }

  #begin(): GroupView {
    const kept = this.#kept
    this.#kept = undefined
    const dataVersion = numberOf(this.#statements.dataVersion.get()?.['data_version'])
    if (kept === undefined || kept.dataVersion !== dataVersion) return emptyGroup(dataVersion)
    const { view } = kept
    view.logKeys.clear()
    view.documents.clear()
    view.idempotencyKeys.clear()
    view.commitIds.clear()
    return kept
  }

  #loadRuns(group: GroupView, touched: Touched, tombstonesFrom: number): void {
    for (const [at, run] of touched.runs) {
      const known = group.view.runs.get(at)
      if (known?.kind === 'run') continue
      if (known !== undefined) group.view.runs.delete(at)
      const session = group.sessionKeys.get(run.sessionId)
      if (session === undefined) continue
      const state = this.#loadRun(group, at, session, run, tombstonesFrom)
      if (state !== undefined) group.view.runs.set(at, state)
    }
  }

  #loadRun(
    group: GroupView,
    at: string,
    session: number,
    { runId }: TouchedRun,
    tombstonesFrom: number,
  ): RunState | PurgedState | undefined {
    const statements = this.#statements
    const row = statements.run.get(session, runId)
    if (row === undefined) {
      const purgedAt = optionalNumber(statements.tombstone.get(session, runId)?.['purged_at'])
      return purgedAt === undefined || purgedAt < tombstonesFrom ? undefined : { kind: 'purged' }
    }
    const key = numberOf(row['key'])
    group.runKeys.set(at, key)
    const newest = statements.journalHead.get(key)
    const headRevision = optionalNumber(newest?.['head'])
    const idempotencyKey = row['idempotency_key']
    return {
      kind: 'run',
      revision: numberOf(row['revision']),
      status: statusOf(row['status']),
      parked: row['parked'] === 1,
      stream: numberOf(row['stream']),
      inboxReadThrough: numberOf(row['inbox_read']),
      ready: row['ready'] === 1,
      record: () => decodeRunRecord(textOf(statements.record.get(key)?.['record'])),
      journalNext: newest === undefined ? 0 : numberOf(newest['revision']) + 1,
      ...(typeof idempotencyKey === 'string' ? { idempotencyKey } : {}),
      ...(headRevision === undefined ? {} : { headRevision }),
    }
  }

  #loadStreams(group: GroupView, touched: Touched): void {
    for (const [at, { sessionId, runId, number }] of touched.streams) {
      if (group.view.streams.has(at)) continue
      const run = group.runKeys.get(runAt(sessionId, runId))
      if (run === undefined) continue
      const row = this.#statements.stream.get(run, number)
      if (row === undefined) continue
      const key = numberOf(row['key'])
      group.streamKeys.set(at, key)
      const end = endOf(row['ended'])
      const next = optionalNumber(this.#statements.streamNext.get(key)?.['next']) ?? 0
      group.view.streams.set(at, { next, ...(end === undefined ? {} : { end }) })
    }
  }

  #loadLogs(group: GroupView, touched: Touched): void {
    for (const [at, { sessionId, log }] of touched.logs) {
      if (group.view.logs.has(at)) continue
      const session = group.sessionKeys.get(sessionId)
      if (session === undefined) continue
      const row = this.#statements.log.get(session, log)
      if (row === undefined) continue
      const key = numberOf(row['key'])
      group.logKeys.set(at, key)
      const next = optionalNumber(this.#statements.logNext.get(key)?.['next']) ?? 0
      group.view.logs.set(at, { next, closed: row['closed'] === 1 })
    }
    for (const [at, { sessionId, log, key }] of touched.logKeys) {
      const logKey = group.logKeys.get(logAt(sessionId, log))
      if (logKey === undefined) continue
      const sequence = optionalNumber(this.#statements.logKey.get(logKey, key)?.['sequence'])
      if (sequence !== undefined) group.view.logKeys.set(at, sequence)
    }
  }

  #loadRest(group: GroupView, touched: Touched, tombstonesFrom: number): void {
    const statements = this.#statements
    const load = <Item extends { readonly sessionId: SessionId }>(
      items: ReadonlyMap<string, Item>,
      one: (at: string, session: number, item: Item) => void,
    ): void => {
      for (const [at, item] of items) {
        const session = group.sessionKeys.get(item.sessionId)
        if (session !== undefined) one(at, session, item)
      }
    }
    load(touched.documents, (at, session, { collection, key }) => {
      const row = statements.document.get(session, collection, key)
      if (row === undefined) return
      group.view.documents.set(at, {
        revision: numberOf(row['revision']),
        present: row['present'] === 1,
      })
    })
    load(touched.idempotencyKeys, (at, session, { key }) => {
      const row = statements.idempotency.get(session, key)
      if (row === undefined) return
      const purgedAt = optionalNumber(row['purged_at'])
      if (purgedAt !== undefined && purgedAt < tombstonesFrom) return
      group.view.idempotencyKeys.set(at, {
        runId: textOf(row['run_id']),
        inputDigest: digestText(bytesOf(row['input'])),
        purged: purgedAt !== undefined,
      })
    })
    load(touched.commitIds, (at, session, { commitId }) => {
      const row = statements.commitSeen.get(session, commitId)
      if (row === undefined) return
      group.view.commitIds.set(at, {
        fingerprint: textOf(row['fingerprint']),
        receipt: JSON.parse(textOf(row['receipt'])) as Receipt,
      })
    })
  }
}

function emptyGroup(dataVersion: number): GroupView {
  return {
    view: createCommitView(),
    dataVersion,
    sessionKeys: new Map(),
    runKeys: new Map(),
    streamKeys: new Map(),
    logKeys: new Map(),
  }
}

function prepare(
  connection: SqlConnection,
): Record<
  | 'dataVersion'
  | 'session'
  | 'run'
  | 'record'
  | 'tombstone'
  | 'journalHead'
  | 'stream'
  | 'streamNext'
  | 'log'
  | 'logNext'
  | 'logKey'
  | 'document'
  | 'idempotency'
  | 'commitSeen',
  SqlStatement
> {
  return {
    dataVersion: connection.prepare('pragma data_version'),
    session: connection.prepare('select key, epoch from session where id = ?'),
    run: connection.prepare(
      'select key, revision, status, parked, stream, inbox_read, ready, idempotency_key' +
        ' from run where session = ? and id = ?',
    ),
    record: connection.prepare('select record from run where key = ?'),
    tombstone: connection.prepare(
      'select purged_at from tombstone where session = ? and run_id = ?',
    ),
    journalHead: connection.prepare(
      "select revision, iif(typeof(head) = 'text', revision, head) as head" +
        ' from journal where run = ? order by revision desc limit 1',
    ),
    stream: connection.prepare('select key, ended from stream where run = ? and number = ?'),
    streamNext: connection.prepare(
      'select next from chunk where stream = ? order by first desc limit 1',
    ),
    log: connection.prepare('select key, closed from log where session = ? and name = ?'),
    logNext: connection.prepare('select max(sequence) + 1 as next from log_entry where log = ?'),
    logKey: connection.prepare('select sequence from log_entry where log = ? and key = ?'),
    document: connection.prepare(
      'select revision, value is not null as present from document' +
        ' where session = ? and collection = ? and key = ?',
    ),
    idempotency: connection.prepare(
      'select run_id, input, purged_at from idempotency where session = ? and key = ?',
    ),
    commitSeen: connection.prepare(
      'select fingerprint, receipt from commit_seen where session = ? and commit_id = ?',
    ),
  }
}
