// The store port: one commit, a few reads (docs/architecture.md, section 3).
//
// S1. A commit is all or none, and resolves once it is durable.
// S2. A failed precondition fails its own commit with a typed conflict and nobody else's.
// S3. Heads (revision, next index) are read inside the transaction, never cached across it.
// S4. A fence compares the session's epoch, never a clock.
// S5. Reads show only what is durable.
// S6. `watch` registers at once; its first `next()` resolves at once; it is coalesced, fires after
//     what it tells of can be read, and never misses. It may fire without a reason. Use: watch, read,
//     wait.
// S7. A commit that was refused has left no trace: no head has moved, its id is free.
// S8. A purged run reads as one that never was, but for its streams, which are `stream_gone` while its
//     tombstone stands.
import type { ErrorCode } from './error-codes.ts'
import { HoldfastError } from './error.ts'
import type { RunId, SessionId, StreamId } from './ids.ts'
import type { JsonObject } from './json-value.ts'
import type { RunRecord, RunStatus } from './run.ts'

/** Puts a run's canonical input, by the SHA-256 of its bytes. Repeating it is harmless. */
export interface InputPut {
  readonly kind: 'input-put'
  readonly digest: string
  readonly bytes: Uint8Array
}

/** Puts a value too large to be inline, as a blob of the run that refers to it. Repeating is harmless. */
export interface BlobPut {
  readonly kind: 'blob-put'
  readonly runId: RunId
  readonly digest: string
  readonly bytes: Uint8Array
}

/** Creates a run, which must be absent; its idempotency key must be absent in the session too. */
export interface RunCreate {
  readonly kind: 'run-create'
  readonly record: RunRecord
  readonly idempotencyKey?: string
}

/** Replaces a run's row if it still has the expected row revision (1 at creation, +1 a swap). */
export interface RunSwap {
  readonly kind: 'run-swap'
  readonly record: RunRecord
  readonly expectedRevision: number
}

/** Appends one revision to a run's journal; `revision` must be the next one (0 is the seed). */
export interface JournalAppend {
  readonly kind: 'journal-append'
  readonly runId: RunId
  readonly revision: number
  /** The revision's entries, encoded by `@holdfast/workflow`. Opaque to a store. */
  readonly data: string
  /** What a view shows of the run after this revision. Small; replaces the earlier one. */
  readonly head?: JsonObject
}

/** One chunk of a stream as stored: JSON text, and who wrote it (the engine's own mark). */
export interface StreamChunk {
  readonly data: string
  readonly tag?: string
}

/** Appends chunks to a stream, which exists from its first append on; the first gets `expectedNext`. */
export interface StreamAppend {
  readonly kind: 'stream-append'
  readonly streamId: StreamId
  readonly expectedNext: number
  readonly chunks: readonly StreamChunk[]
}

/** How a stream ended. */
export type StreamEnd = 'completed' | 'interrupted' | 'cancelled' | 'failed'

/** Closes a stream for good; it must be open or absent. Later appends conflict. */
export interface StreamClose {
  readonly kind: 'stream-close'
  readonly streamId: StreamId
  readonly end: StreamEnd
}

/** A condition on a run's row, judged inside the transaction. */
export interface RunGuard {
  readonly runId: RunId
  /** The run must exist and not have ended. */
  readonly notEnded?: true
  /** This interrupt must be among the row's open ones. */
  readonly interruptOpen?: string
  /** The row's `stream` must have this value. */
  readonly streamIs?: number
  /** At most so many entries of the log may lie beyond the row's `inboxReadThrough`, this one included. */
  readonly maxUnread?: number
}

/**
 * Appends to a log; the store gives the order. The key must be new to the log. Unfenced.
 *
 * `onFailure: 'fail'` makes a failed guard, a known key or a closed log fail the commit; `'skip'`
 * writes nothing for it and says so in the receipt.
 */
export interface LogAppend {
  readonly kind: 'log-append'
  readonly log: string
  readonly key: string
  readonly value: string
  readonly guard?: RunGuard
  readonly onFailure: 'fail' | 'skip'
}

/** Closes a log: later appends find it closed. With `expectedNext`, only if nothing came since. */
export interface LogClose {
  readonly kind: 'log-close'
  readonly log: string
  readonly expectedNext?: number
}

/** Demands that a log has not grown: its next sequence must be this. Writes nothing. */
export interface LogUnchanged {
  readonly kind: 'log-unchanged'
  readonly log: string
  readonly expectedNext: number
}

/** Puts a document of at most 64 KiB. Expected revision 0: it must be absent. */
export interface DocumentPut {
  readonly kind: 'document-put'
  readonly collection: string
  readonly key: string
  readonly expectedRevision: number
  readonly value: string
}

/** Deletes a document that has the expected revision. */
export interface DocumentDelete {
  readonly kind: 'document-delete'
  readonly collection: string
  readonly key: string
  readonly expectedRevision: number
}

/** Removes a run that has ended, with its journal, streams, blobs and inbox; leaves tombstones. */
export interface RunPurge {
  readonly kind: 'run-purge'
  readonly runId: RunId
}

/** A write that only the session's owner may make. */
export type OwnedWrite = RunSwap | JournalAppend | StreamAppend | StreamClose | LogClose | RunPurge

/** A write that anybody may make. */
export type UnfencedWrite =
  | InputPut
  | BlobPut
  | RunCreate
  | LogAppend
  | LogUnchanged
  | DocumentPut
  | DocumentDelete

/** One write of a commit. A seed (`journal-append` of revision 0 beside its `run-create`) needs no fence. */
export type StoreWrite = OwnedWrite | UnfencedWrite

/** Proves ownership of a session: the commit fails with `store_fenced` if the epoch has moved on. */
export interface Fence {
  readonly epoch: number
}

/** What one commit asks for. All its writes belong to one session. */
export interface Commit {
  readonly sessionId: SessionId
  readonly writes: readonly StoreWrite[]
  readonly fence?: Fence
  /** Makes a repeat of the same commit succeed with the first one's receipt. */
  readonly commitId?: string
  /** `chunks`: may be held up to 20 ms to share a transaction. Default `now`. */
  readonly urgency?: 'now' | 'chunks'
}

/** What became of a write. */
export type WriteResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'log-appended'; readonly sequence: number }
  | { readonly kind: 'log-skipped'; readonly reason: ConflictReason }
  | { readonly kind: 'document'; readonly revision: number }
  | { readonly kind: 'run'; readonly revision: number }

/** The durable answer to a commit: one result a write, in order. */
export interface Receipt {
  readonly results: readonly WriteResult[]
}

/** Which precondition did not hold. */
export type ConflictReason =
  | 'run-exists'
  | 'run-absent'
  | 'run-ended'
  | 'run-revision'
  | 'run-transition'
  | 'run-identity'
  | 'run-purged'
  | 'idempotency-key'
  | 'journal-revision'
  | 'stream-index'
  | 'stream-closed'
  | 'log-key-exists'
  | 'log-closed'
  | 'log-grown'
  | 'inbox-full'
  | 'interrupt-not-open'
  | 'stream-number'
  | 'document-revision'

/** What a conflict tells beside its reason. */
export interface ConflictFacts {
  readonly reason: ConflictReason
  /** Which write of the commit. */
  readonly write: number
  /** For `idempotency-key`: the run that holds it, and its input's digest. */
  readonly runId?: RunId
  readonly inputDigest?: string
  /** The revision or index that the store has. */
  readonly actual?: number
}

/** A precondition of this commit did not hold; nothing of it was written. Callers act on `facts`. */
export class StoreConflictError extends HoldfastError {
  override readonly name = 'StoreConflictError'
  readonly facts: ConflictFacts

  constructor(facts: ConflictFacts) {
    super('store_conflict' satisfies ErrorCode, {
      message: `The commit was refused: ${facts.reason}.`,
      details: { ...facts },
    })
    this.facts = facts
  }
}

/** Whether an error is a store's conflict, with this reason if one is given. */
export function isStoreConflict(
  error: unknown,
  reason?: ConflictReason,
): error is StoreConflictError {
  return (
    error instanceof HoldfastError &&
    error.code === 'store_conflict' &&
    'facts' in error &&
    (reason === undefined || (error as StoreConflictError).facts.reason === reason)
  )
}

/** A run as it is read: its row, and what its heads say. */
export interface StoredRun {
  readonly record: RunRecord
  /** The row's revision, for a swap. */
  readonly revision: number
  /** How many journal revisions there are; the newest is one less. */
  readonly journalNext: number
  /** The newest `head` that a journal revision carried. */
  readonly head?: JsonObject
  /** The next sequence of the run's inbox. */
  readonly inboxNext: number
  /** Keys of inbox entries at or beyond the row's `inboxReadThrough`, oldest first. */
  readonly unread: readonly string[]
}

/** Which runs, and how many. Order is by id, which is by time up to clock skew. */
export interface RunPageRequest {
  readonly after?: RunId
  /** 1..100. Default 50. */
  readonly limit?: number
  readonly order?: 'ascending' | 'descending'
  readonly status?: readonly RunStatus[]
  readonly definition?: string
  readonly parentRunId?: RunId
}

/** Some of a longer list. `next` is absent at its end. */
export interface Page<Item, Cursor> {
  readonly items: readonly Item[]
  readonly next?: Cursor
}

/** One revision of a journal as stored. */
export interface JournalRow {
  readonly revision: number
  readonly data: string
}

/** A stream's state. `first` is above 0 once its beginning was purged. */
export interface StreamHead {
  readonly first: number
  readonly next: number
  readonly end?: StreamEnd
}

/** Chunks from an index on, in order, with the head as of the same read. */
export interface StreamPage {
  readonly head: StreamHead
  readonly from: number
  readonly chunks: readonly StreamChunk[]
}

/** One entry of a log. Sequences begin at 0. */
export interface LogEntry {
  readonly sequence: number
  readonly key: string
  readonly value: string
}

/** Entries of a log from a sequence on, with its state as of the same read. */
export interface LogPage {
  readonly entries: readonly LogEntry[]
  readonly next: number
  readonly closed: boolean
}

/** A document as stored. */
export interface StoredDocument {
  readonly key: string
  readonly revision: number
  readonly value: string
}

/** What can be watched. */
export type WatchTopic =
  /** Some session without a live owner may have work. From another process it may fire at any change there. */
  | { readonly kind: 'work' }
  /** A run's row or journal. */
  | { readonly kind: 'run'; readonly sessionId: SessionId; readonly runId: RunId }
  /** The row or journal of any run of a session. From another process it may fire at any change there. */
  | { readonly kind: 'runs'; readonly sessionId: SessionId }
  | { readonly kind: 'stream'; readonly sessionId: SessionId; readonly streamId: StreamId }
  | { readonly kind: 'log'; readonly sessionId: SessionId; readonly log: string }

/** Ownership of a session, as granted. */
export interface SessionClaim {
  readonly sessionId: SessionId
  readonly epoch: number
}

/** Reads of runs, as tools and pages need them. */
export interface RunReader {
  /** `undefined` for what does not exist, another session's and a purged one included; see `isRunPurged`. */
  run(sessionId: SessionId, runId: RunId): Promise<StoredRun | undefined>
  runs(sessionId: SessionId, request?: RunPageRequest): Promise<Page<StoredRun, RunId>>
  runByIdempotencyKey(sessionId: SessionId, key: string): Promise<StoredRun | undefined>
}

/** Reads of inputs. */
export interface InputReader {
  input(sessionId: SessionId, digest: string): Promise<Uint8Array | undefined>
}

/** Reads of streams. */
export interface StreamReader {
  /**
   * Chunks from `from` on, at most `limit` (1..1,000) and about 1 MiB. `undefined`: no such stream yet.
   * From the head's `next` on it is empty.
   *
   * @throws `stream_gone` below the first index, and of a purged run
   */
  streamPage(
    sessionId: SessionId,
    streamId: StreamId,
    request: { readonly from: number; readonly limit: number },
  ): Promise<StreamPage | undefined>
  /** The head alone: constant time. @throws `stream_gone` of a purged run, while its tombstone stands */
  streamHead(sessionId: SessionId, streamId: StreamId): Promise<StreamHead | undefined>
}

/** Reads of logs and documents. */
export interface RecordReader {
  /** Entries from `from` on, at most `limit` (1..1,000). A log that never was reads as empty and open. */
  logPage(
    sessionId: SessionId,
    log: string,
    request: { readonly from: number; readonly limit: number },
  ): Promise<LogPage>
  logEntry(sessionId: SessionId, log: string, key: string): Promise<LogEntry | undefined>
  document(
    sessionId: SessionId,
    collection: string,
    key: string,
  ): Promise<StoredDocument | undefined>
  /** Documents of a collection by key, after `after`, at most `limit` (1..1,000). */
  documents(
    sessionId: SessionId,
    collection: string,
    request: { readonly after?: string; readonly limit: number },
  ): Promise<Page<StoredDocument, string>>
}

/** Tells of changes. See S6. */
export interface Watcher {
  watch(topic: WatchTopic, signal: AbortSignal): AsyncIterable<void>
}

/** One commit: the only way anything is written. */
export interface Committer {
  commit(commit: Commit): Promise<Receipt>
}

/** Everything durable. Implementations are proven by `@holdfast/conformance`. */
export interface Store
  extends Committer, RunReader, InputReader, StreamReader, RecordReader, Watcher {
  blob(sessionId: SessionId, runId: RunId, digest: string): Promise<Uint8Array | undefined>
  /** Journal rows from revision `from` on, at most `limit` (1..1,000) and about 4 MiB. */
  journal(
    sessionId: SessionId,
    runId: RunId,
    request: { readonly from: number; readonly limit: number },
  ): Promise<readonly JournalRow[]>
  /**
   * Sessions without a live owner that hold an active run, an inbox beyond `inboxReadThrough` of a
   * run that has not ended, or a parked run with `wakeAt` ≤ now. A parked run is no work otherwise.
   */
  findWork(now: number, limit: number): Promise<readonly SessionId[]>
  /** The earliest `wakeAt` of a parked run in a session without a live owner. */
  nextWake(): Promise<number | undefined>

  /** This process as an owner of sessions; fires when its lease is lost. Absent: opened as a client. */
  readonly node: { readonly id: string; readonly lost: AbortSignal } | undefined
  /**
   * Takes a session that has no live owner, or that this node owns already; the epoch only grows.
   *
   * @throws `store_owned` while another live node owns it; `store_read_only` for a client
   */
  claimSession(sessionId: SessionId): Promise<SessionClaim>
  /** Lets go of a session, if this claim still holds it. */
  releaseSession(claim: SessionClaim): Promise<void>

  /** Finishes the commits that were accepted, then closes. Later calls fail with `store_closed`. */
  close(): Promise<void>
}
