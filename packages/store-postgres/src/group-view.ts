// What a group's rules read: asked for as JSON, answered as JSON, in one call.
import { decodeRunRecord } from '@holdfast/core'
import type { Commit, Receipt, RunId, SessionId } from '@holdfast/core'
import { createCommitView, runAt, touchedBy } from '@holdfast/core/commit-rules'
import type {
  CommitView,
  PurgedState,
  RunState,
  Touched,
  TouchedRun,
} from '@holdfast/core/commit-rules'
import {
  ColumnError,
  endOf,
  listOf,
  numberOf,
  optionalNumber,
  optionalText,
  statusOf,
  textOf,
  truthOf,
} from './columns.ts'
import { sql } from './sql-text.ts'
import type { SqlText } from './sql-text.ts'

/** A view of one group, and the keys of its rows: of those that are there, and of those that may be. */
export interface GroupView {
  readonly view: CommitView
  readonly sessionKeys: ReadonlyMap<SessionId, number>
  readonly runKeys: ReadonlyMap<string, number>
  readonly streamKeys: ReadonlyMap<string, number>
  readonly logKeys: ReadonlyMap<string, number>
  /** Sessions that a live node owns. */
  readonly owned: ReadonlySet<SessionId>
  /** The transaction, by which its outcome can be asked for on another connection. */
  readonly transaction: TransactionMark
}

/** A transaction, and when the server that carries it out was started. */
export interface TransactionMark {
  readonly id: string
  readonly serverStarted: string
}

/** The call that locks what these commits touch and tells its state. */
export function beginGroup(schema: SqlText, commits: readonly Commit[]): SqlText {
  const touched = touchedBy(commits)
  const records = recordsReadBy(commits)
  const fences = new Set<SessionId>()
  const creates = new Set<SessionId>()
  for (const commit of commits) {
    if (commit.fence !== undefined) fences.add(commit.sessionId)
    if (mayCreate(commit)) creates.add(commit.sessionId)
  }
  const runs = [...touched.runs].map(([at, { sessionId, runId }]) => [
    sessionId,
    runId,
    records.has(at),
  ])
  const of = <Item>(
    items: ReadonlyMap<string, Item>,
    list: (item: Item) => unknown,
  ): string | null => json([...items.values()].map(list))
  return sql`select ${schema}.begin_group(${json([...fences])}, ${json([...creates])},
    ${JSON.stringify([...touched.sessions])}, ${json(runs)},
    ${of(touched.streams, (item) => [item.sessionId, item.runId, item.number])},
    ${of(touched.logs, (item) => [item.sessionId, item.log])},
    ${of(touched.logKeys, (item) => [item.sessionId, item.log, item.key])},
    ${of(touched.documents, (item) => [item.sessionId, item.collection, item.key])},
    ${of(touched.idempotencyKeys, (item) => [item.sessionId, item.key])},
    ${of(touched.commitIds, (item) => [item.sessionId, item.commitId])}) as found`
}

/** Nothing is said of what is not asked for. */
function json(list: readonly unknown[]): string | null {
  return list.length === 0 ? null : JSON.stringify(list)
}

/**
 * Whether a commit may make a row that another transaction could make too. What an owner appends to
 * runs that are there is under its fence and the run's lock, and needs no other.
 */
function mayCreate(commit: Commit): boolean {
  if (commit.fence === undefined || commit.commitId !== undefined) return true
  return commit.writes.some((write) => {
    switch (write.kind) {
      case 'run-swap':
      case 'journal-append':
        return false
      case 'stream-append':
        return write.expectedNext === 0
      case 'input-put':
      case 'blob-put':
      case 'run-create':
      case 'stream-close':
      case 'log-append':
      case 'log-close':
      case 'log-unchanged':
      case 'document-put':
      case 'document-delete':
      case 'run-purge':
        return true
    }
  })
}

/** The runs whose whole row the rules read. */
function recordsReadBy(commits: readonly Commit[]): ReadonlySet<string> {
  const runs = new Set<string>()
  for (const { sessionId, writes } of commits) {
    for (const write of writes) {
      if (write.kind === 'run-swap') runs.add(runAt(sessionId, write.record.id))
      if (write.kind === 'run-purge') runs.add(runAt(sessionId, write.runId))
      if (write.kind === 'log-append' && write.guard?.interruptOpen !== undefined) {
        runs.add(runAt(sessionId, write.guard.runId))
      }
    }
  }
  return runs
}

/** The view that the call's answer gives. Tombstones of before `tombstonesFrom` count as gone. */
export function groupViewOf(
  commits: readonly Commit[],
  answer: unknown,
  tombstonesFrom: number,
): GroupView {
  const touched = touchedBy(commits)
  const found = new Found(answer)
  const group = {
    view: createCommitView(),
    sessionKeys: new Map<SessionId, number>(),
    runKeys: new Map<string, number>(),
    streamKeys: new Map<string, number>(),
    logKeys: new Map<string, number>(),
    owned: new Set<SessionId>(),
    transaction: { id: found.text('transaction'), serverStarted: found.text('started') },
  }
  const { view } = group
  found.each('sessions', touched.sessions, (sessionId, [key, epoch, isOwned]) => {
    group.sessionKeys.set(sessionId, numberOf(key))
    if (epoch !== null) view.sessions.set(sessionId, { epoch: numberOf(epoch) })
    if (isOwned === true) group.owned.add(sessionId)
  })
  found.each('runs', touched.runs, ([at, run], columns) => {
    group.runKeys.set(at, numberOf(columns[0]))
    const state = runStateOf(run, columns, tombstonesFrom)
    if (state !== undefined) view.runs.set(at, state)
  })
  loadHeads(group, touched, found)
  found.each('documents', touched.documents, ([at], [revision, present]) => {
    view.documents.set(at, { revision: numberOf(revision), present: truthOf(present) })
  })
  found.each('idempotencyKeys', touched.idempotencyKeys, ([at], [runId, inputDigest, purged]) => {
    const purgedAt = optionalNumber(purged)
    if (purgedAt !== undefined && purgedAt < tombstonesFrom) return
    view.idempotencyKeys.set(at, {
      runId: textOf(runId),
      inputDigest: textOf(inputDigest),
      purged: purgedAt !== undefined,
    })
  })
  found.each('commitIds', touched.commitIds, ([at], [fingerprint, receipt]) => {
    view.commitIds.set(at, { fingerprint: textOf(fingerprint), receipt: receiptOf(receipt) })
  })
  return group
}

/** A receipt as it was remembered. */
export function receiptOf(value: unknown): Receipt {
  return JSON.parse(textOf(value)) as Receipt
}

function loadHeads(
  group: Pick<GroupView, 'view'> & {
    readonly streamKeys: Map<string, number>
    readonly logKeys: Map<string, number>
  },
  touched: Touched,
  found: Found,
): void {
  found.each('streams', touched.streams, ([at], [key, isThere, next, ended]) => {
    group.streamKeys.set(at, numberOf(key))
    if (isThere !== true) return
    const end = endOf(ended)
    group.view.streams.set(at, {
      next: optionalNumber(next) ?? 0,
      ...(end === undefined ? {} : { end }),
    })
  })
  found.each('logs', touched.logs, ([at], [key, closed, next]) => {
    group.logKeys.set(at, numberOf(key))
    if (closed === null) return
    group.view.logs.set(at, { next: optionalNumber(next) ?? 0, closed: truthOf(closed) })
  })
  found.each('logKeys', touched.logKeys, ([at], [sequence]) => {
    group.view.logKeys.set(at, numberOf(sequence))
  })
}

function runStateOf(
  { runId }: TouchedRun,
  columns: readonly unknown[],
  tombstonesFrom: number,
): RunState | PurgedState | undefined {
  if (columns.length === 2) {
    const purgedAt = optionalNumber(columns[1])
    return purgedAt === undefined || purgedAt < tombstonesFrom ? undefined : { kind: 'purged' }
  }
  const [, revision, status, parked, stream, inboxRead, ready, key, journalLast, head, record] =
    columns
  const idempotencyKey = optionalText(key)
  const headRevision = optionalNumber(head)
  return {
    kind: 'run',
    revision: numberOf(revision),
    status: statusOf(status),
    parked: truthOf(parked),
    stream: numberOf(stream),
    inboxReadThrough: numberOf(inboxRead),
    ready: truthOf(ready),
    record: () => recordOf(runId, record),
    journalNext: (optionalNumber(journalLast) ?? -1) + 1,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(headRevision === undefined ? {} : { headRevision }),
  }
}

function recordOf(runId: RunId, value: unknown): ReturnType<RunState['record']> {
  if (typeof value !== 'string') throw new Error(`The record of run ${runId} was not loaded.`)
  return decodeRunRecord(value)
}

/** The answer of `begin_group`: a list a kind, in the order in which it was asked. */
class Found {
  readonly #lists: Readonly<Record<string, unknown>>

  constructor(answer: unknown) {
    if (typeof answer !== 'object' || answer === null) throw new ColumnError('No answer.')
    this.#lists = { ...answer }
  }

  text(name: string): string {
    return textOf(this.#lists[name])
  }

  each<Item>(
    name: string,
    items: Iterable<Item>,
    take: (item: Item, columns: readonly unknown[]) => void,
  ): void {
    const list = this.#lists[name]
    if (list === null || list === undefined) return
    const rows = listOf(list)
    let index = 0
    for (const item of items) {
      const row = rows[index]
      index += 1
      if (row === null || row === undefined) continue
      take(item, Array.isArray(row) ? row : [row])
    }
  }
}
