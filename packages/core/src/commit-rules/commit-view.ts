import type { RunId, SessionId } from '../ids.ts'
import { isTerminal } from '../run-transitions.ts'
import type { RunRecord, RunStatus } from '../run.ts'
import type { Receipt, StreamEnd } from '../store.ts'

/** A session's row. No row reads as epoch 0 without an owner. */
export interface SessionState {
  readonly epoch: number
}

/** What a commit's rules read of a run. */
export interface RunState {
  readonly kind: 'run'
  readonly revision: number
  readonly status: RunStatus
  readonly parked: boolean
  readonly stream: number
  readonly inboxReadThrough: number
  /** Whether the run's row is marked as work for a session's owner; see {@link isRunReady}. */
  readonly ready: boolean
  /** The whole row; a store decodes it when it is asked for. */
  readonly record: () => RunRecord
  readonly idempotencyKey?: string
  readonly journalNext: number
  /** The newest journal revision that carried a `head`. */
  readonly headRevision?: number
}

/** A run that was purged, and whose tombstone still stands. */
export interface PurgedState {
  readonly kind: 'purged'
}

/** A stream's head. */
export interface StreamState {
  readonly next: number
  readonly end?: StreamEnd
}

/** A log's head. */
export interface LogState {
  readonly next: number
  readonly closed: boolean
}

/** A document's revision; `present` is false once it was deleted, so that a revision never returns. */
export interface DocumentState {
  readonly revision: number
  readonly present: boolean
}

/** Who holds an idempotency key. `purged`: its run is gone, its tombstone is not. */
export interface IdempotencyState {
  readonly runId: RunId
  readonly inputDigest: string
  readonly purged: boolean
}

/** A commit that was accepted under this id. */
export interface SeenCommit {
  readonly fingerprint: string
  readonly receipt: Receipt
}

/**
 * What a group of commits is judged against: loaded by a store inside its transaction for all that
 * {@link touchedBy} names, then changed by {@link judge} as commits are accepted. An entry that is
 * missing does not exist. Keys are made by the `…At` functions.
 */
export interface CommitView {
  readonly sessions: Map<SessionId, SessionState>
  readonly runs: Map<string, RunState | PurgedState>
  readonly streams: Map<string, StreamState>
  readonly logs: Map<string, LogState>
  /** Keys that logs have, with their sequences. */
  readonly logKeys: Map<string, number>
  readonly documents: Map<string, DocumentState>
  readonly idempotencyKeys: Map<string, IdempotencyState>
  readonly commitIds: Map<string, SeenCommit>
}

/** A view in which nothing exists yet. */
export function createCommitView(): CommitView {
  return {
    sessions: new Map(),
    runs: new Map(),
    streams: new Map(),
    logs: new Map(),
    logKeys: new Map(),
    documents: new Map(),
    idempotencyKeys: new Map(),
    commitIds: new Map(),
  }
}

// Session ids are UUIDs and run ids too, so the first slashes separate; only a part that is
// followed by another of free form is counted.

/** A run's key in a view. */
export function runAt(sessionId: SessionId, runId: RunId): string {
  return `${sessionId}/${runId}`
}

/** A stream's key in a view. */
export function streamAt(sessionId: SessionId, runId: RunId, number: number): string {
  return `${sessionId}/${runId}/${number}`
}

/** A log's key in a view. */
export function logAt(sessionId: SessionId, log: string): string {
  return `${sessionId}/${log}`
}

/** The key in a view of an entry's key in a log. */
export function logKeyAt(sessionId: SessionId, log: string, key: string): string {
  return `${sessionId}/${log.length}/${log}/${key}`
}

/** A document's key in a view. */
export function documentAt(sessionId: SessionId, collection: string, key: string): string {
  return `${sessionId}/${collection.length}/${collection}/${key}`
}

/** An idempotency key's key in a view. */
export function idempotencyKeyAt(sessionId: SessionId, key: string): string {
  return `${sessionId}/${key}`
}

/** A commit id's key in a view. */
export function commitIdAt(sessionId: SessionId, commitId: string): string {
  return `${sessionId}/${commitId}`
}

const inboxPrefix = 'inbox/'

/** The run whose inbox a log is, or `undefined` if it is another log. */
export function runOfInbox(log: string): RunId | undefined {
  return log.startsWith(inboxPrefix) ? log.slice(inboxPrefix.length) : undefined
}

/**
 * Whether a run has something for an owner to do now: it has not ended, and is not parked or has an
 * unread inbox. A parked run whose `wakeAt` has come is work too, which only a clock can tell.
 */
export function isRunReady(
  run: Pick<RunRecord, 'status' | 'parked' | 'inboxReadThrough'>,
  inboxNext: number,
): boolean {
  return !isTerminal(run.status) && (!run.parked || inboxNext > run.inboxReadThrough)
}
