// Judges one commit against a view (docs/architecture.md, section 3).
//
// J1. Preconditions are judged in the order of arrival: of commits in a group, of writes in a commit,
//     but runs are created first, so that what refers to a new run may stand before it.
// J2. A refused commit leaves the view as it was; an accepted one has changed it for the next.
// J3. A known key of a log is told before any other failure of the append: it is a repeat, whatever
//     has happened since.
import { ErrorCode } from '../error-codes.ts'
import { HoldfastError } from '../error.ts'
import { inboxOf, parseStreamId } from '../ids.ts'
import type { RunId, StreamId } from '../ids.ts'
import type { JsonObject } from '../json-value.ts'
import { isTerminal, isTransitionAllowed } from '../run-transitions.ts'
import type { RunRecord } from '../run.ts'
import { StoreConflictError } from '../store.ts'
import type {
  BlobPut,
  Commit,
  ConflictFacts,
  DocumentDelete,
  DocumentPut,
  JournalAppend,
  LogAppend,
  LogClose,
  LogUnchanged,
  RunCreate,
  RunGuard,
  RunPurge,
  RunSwap,
  StoreWrite,
  StreamAppend,
  StreamClose,
  WriteResult,
} from '../store.ts'
import { commitFingerprint } from './check-commit.ts'
import {
  commitIdAt,
  documentAt,
  idempotencyKeyAt,
  isRunReady,
  logAt,
  logKeyAt,
  runAt,
  runOfInbox,
  streamAt,
} from './commit-view.ts'
import type { CommitView, RunState } from './commit-view.ts'
import type { CommitEffect, Verdict } from './effect.ts'

/**
 * Judges one commit that {@link checkCommit} has passed, and changes the view if it is accepted.
 *
 * Pure but for the view. A commit that a precondition fails is `refused`: with a
 * `StoreConflictError`, with `store_fenced`, or with `arguments_invalid` if its id was used for
 * another commit.
 */
export function judge(view: CommitView, commit: Commit): Verdict {
  const { sessionId, commitId, fence } = commit
  const fingerprint = commitId === undefined ? '' : commitFingerprint(commit)
  if (commitId !== undefined) {
    const seen = view.commitIds.get(commitIdAt(sessionId, commitId))
    if (seen?.fingerprint === fingerprint) return { kind: 'repeated', receipt: seen.receipt }
    if (seen !== undefined) return { kind: 'refused', error: commitIdReused(commitId) }
  }
  if (fence !== undefined && view.sessions.get(sessionId)?.epoch !== fence.epoch) {
    return { kind: 'refused', error: fenced(commit) }
  }
  const judgement = new Judgement(view, commit)
  const results: WriteResult[] = []
  for (const [index, write] of commit.writes.entries()) {
    if (write.kind === 'run-create') results[index] = judgement.judgeWrite(write, index)
    if (judgement.failure !== undefined) return judgement.refuse(judgement.failure)
  }
  for (const [index, write] of commit.writes.entries()) {
    if (write.kind !== 'run-create') results[index] = judgement.judgeWrite(write, index)
    if (judgement.failure !== undefined) return judgement.refuse(judgement.failure)
  }
  const receipt = { results }
  if (commitId !== undefined) judgement.remember(commitId, fingerprint, receipt)
  return { kind: 'accepted', receipt, effects: judgement.effects }
}

const done: WriteResult = { kind: 'done' }

/** What a failed precondition tells; which write it was is added. */
type Facts = Omit<ConflictFacts, 'write'>

/** One commit being judged: its effects so far, and how to take back what the view was changed by. */
class Judgement {
  readonly effects: CommitEffect[] = []
  failure: ConflictFacts | undefined
  readonly #view: CommitView
  readonly #commit: Commit
  readonly #undo: (() => void)[] = []
  readonly #endedBefore = new Map<RunId, boolean>()

  constructor(view: CommitView, commit: Commit) {
    this.#view = view
    this.#commit = commit
  }

  refuse(failure: ConflictFacts): Verdict {
    for (const step of this.#undo.toReversed()) step()
    return { kind: 'refused', error: new StoreConflictError(failure) }
  }

  remember(commitId: string, fingerprint: string, receipt: { results: WriteResult[] }): void {
    const { sessionId } = this.#commit
    this.#openSession()
    const at = commitIdAt(sessionId, commitId)
    this.#set(this.#view.commitIds, at, { fingerprint, receipt })
    this.effects.push({ kind: 'commit-seen', sessionId, commitId, fingerprint, receipt })
  }

  /** Judges and, if its preconditions hold, applies one write to the view. */
  judgeWrite(write: StoreWrite, index: number): WriteResult {
    const outcome = this.#judge(write)
    if ('kind' in outcome) return outcome
    this.failure = { ...outcome, write: index }
    return done
  }

  #judge(write: StoreWrite): WriteResult | Facts {
    const { sessionId } = this.#commit
    switch (write.kind) {
      case 'input-put': {
        const { digest, bytes } = write
        this.#effect({ kind: 'input-put', sessionId, digest, bytes })
        return done
      }
      case 'blob-put':
        return this.#putBlob(write)
      case 'run-create':
        return this.#createRun(write)
      case 'run-swap':
        return this.#swapRun(write)
      case 'journal-append':
        return this.#appendJournal(write)
      case 'stream-append':
        return this.#appendStream(write)
      case 'stream-close':
        return this.#closeStream(write)
      case 'log-append':
        return this.#appendLog(write)
      case 'log-close':
        return this.#closeLog(write)
      case 'log-unchanged':
        return this.#logUnchanged(write)
      case 'document-put':
      case 'document-delete':
        return this.#writeDocument(write)
      case 'run-purge':
        return this.#purgeRun(write)
    }
  }

  #putBlob({ runId, digest, bytes }: BlobPut): WriteResult | Facts {
    const run = this.#run(runId)
    if ('reason' in run) return run
    this.#effect({ kind: 'blob-put', sessionId: this.#commit.sessionId, runId, digest, bytes })
    return done
  }

  #createRun({ record, idempotencyKey }: RunCreate): WriteResult | Facts {
    const { sessionId } = this.#commit
    if (idempotencyKey !== undefined) {
      const at = idempotencyKeyAt(sessionId, idempotencyKey)
      const holder = this.#view.idempotencyKeys.get(at)
      if (holder !== undefined) {
        const { runId, inputDigest, purged } = holder
        return { reason: purged ? 'run-purged' : 'idempotency-key', runId, inputDigest }
      }
      this.#set(this.#view.idempotencyKeys, at, {
        runId: record.id,
        inputDigest: record.input.digest,
        purged: false,
      })
    }
    const at = runAt(sessionId, record.id)
    const known = this.#view.runs.get(at)
    if (known !== undefined) return { reason: known.kind === 'run' ? 'run-exists' : 'run-purged' }
    const ready = isRunReady(record, this.#inboxNext(record.id))
    this.#set(this.#view.runs, at, {
      kind: 'run',
      ...stateOf(record),
      revision: 1,
      ready,
      journalNext: 0,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    })
    this.#endedBefore.set(record.id, false)
    this.#effect({
      kind: 'run-insert',
      sessionId,
      record,
      revision: 1,
      ready,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    })
    return { kind: 'run', revision: 1 }
  }

  #swapRun({ record, expectedRevision }: RunSwap): WriteResult | Facts {
    const { sessionId } = this.#commit
    const run = this.#run(record.id)
    if ('reason' in run) return run
    if (run.revision !== expectedRevision) return { reason: 'run-revision', actual: run.revision }
    const before = run.record()
    if (!isSameIdentity(before, record)) return { reason: 'run-identity' }
    if (!isTransitionAllowed(run.status, record.status)) return { reason: 'run-transition' }
    const updatedAt = Math.max(record.updatedAt, before.updatedAt)
    const clamped = updatedAt === record.updatedAt ? record : { ...record, updatedAt }
    const ready = isRunReady(record, this.#inboxNext(record.id))
    const revision = run.revision + 1
    this.#setRun(record.id, { ...run, ...stateOf(clamped), revision, ready })
    this.#effect({ kind: 'run-update', sessionId, record: clamped, revision, ready })
    return { kind: 'run', revision }
  }

  #appendJournal({ runId, revision, data, head }: JournalAppend): WriteResult | Facts {
    const run = this.#run(runId)
    if ('reason' in run) return run
    if (run.journalNext !== revision) return { reason: 'journal-revision', actual: run.journalNext }
    // By the status before this commit, so that an end's entry may stand after its swap.
    if (this.#endedBefore.get(runId) ?? isTerminal(run.status)) return { reason: 'run-ended' }
    const headRevision = head === undefined ? run.headRevision : revision
    this.#setRun(runId, {
      ...run,
      journalNext: revision + 1,
      ...(headRevision === undefined ? {} : { headRevision }),
    })
    this.#effect({
      kind: 'journal-insert',
      sessionId: this.#commit.sessionId,
      runId,
      revision,
      data,
      ...headOf(head, headRevision),
    })
    return done
  }

  #appendStream({ streamId, expectedNext, chunks }: StreamAppend): WriteResult | Facts {
    const stream = this.#stream(streamId)
    if ('reason' in stream) return stream
    const { at, runId, number, state } = stream
    if (state?.end !== undefined) return { reason: 'stream-closed', actual: state.next }
    const first = state?.next ?? 0
    if (first !== expectedNext) return { reason: 'stream-index', actual: first }
    const { sessionId } = this.#commit
    if (state === undefined) this.#effect({ kind: 'stream-insert', sessionId, runId, number })
    this.#set(this.#view.streams, at, { next: first + chunks.length })
    if (chunks.length > 0) {
      this.#effect({ kind: 'chunks-insert', sessionId, runId, number, first, chunks })
    }
    return done
  }

  #closeStream({ streamId, end }: StreamClose): WriteResult | Facts {
    const stream = this.#stream(streamId)
    if ('reason' in stream) return stream
    const { at, runId, number, state } = stream
    if (state?.end !== undefined) return { reason: 'stream-closed', actual: state.next }
    const { sessionId } = this.#commit
    if (state === undefined) this.#effect({ kind: 'stream-insert', sessionId, runId, number })
    this.#set(this.#view.streams, at, { next: state?.next ?? 0, end })
    this.#effect({ kind: 'stream-end', sessionId, runId, number, end })
    return done
  }

  #appendLog(write: LogAppend): WriteResult | Facts {
    const { log, key, value, onFailure } = write
    const { sessionId } = this.#commit
    const failure = this.#logFailure(write)
    if (failure !== undefined) {
      return onFailure === 'fail' ? failure : { kind: 'log-skipped', reason: failure.reason }
    }
    const at = logAt(sessionId, log)
    const state = this.#view.logs.get(at)
    const sequence = state?.next ?? 0
    if (state === undefined) this.#effect({ kind: 'log-insert', sessionId, log })
    this.#set(this.#view.logs, at, { next: sequence + 1, closed: false })
    this.#set(this.#view.logKeys, logKeyAt(sessionId, log, key), sequence)
    this.#effect({ kind: 'log-entry-insert', sessionId, log, sequence, key, value })
    const runId = runOfInbox(log)
    const run = runId === undefined ? undefined : this.#view.runs.get(runAt(sessionId, runId))
    if (runId !== undefined && run?.kind === 'run' && !run.ready) {
      if (isRunReady(run, sequence + 1)) {
        this.#setRun(runId, { ...run, ready: true })
        this.#effect({ kind: 'run-ready', sessionId, runId })
      }
    }
    return { kind: 'log-appended', sequence }
  }

  /** Why an append may not be made, if so. */
  #logFailure({ log, key, guard }: LogAppend): Facts | undefined {
    const { sessionId } = this.#commit
    const inboxRunId = runOfInbox(log)
    const inboxRun = inboxRunId === undefined ? undefined : this.#run(inboxRunId)
    if (inboxRun !== undefined && 'reason' in inboxRun) return inboxRun
    const known = this.#view.logKeys.get(logKeyAt(sessionId, log, key))
    if (known !== undefined) return { reason: 'log-key-exists', actual: known }
    const state = this.#view.logs.get(logAt(sessionId, log))
    const failure = guard === undefined ? undefined : this.#guardFailure(guard, state?.next ?? 0)
    if (failure !== undefined) return failure
    if (inboxRun !== undefined && isTerminal(inboxRun.status)) return { reason: 'run-ended' }
    return state?.closed === true ? { reason: 'log-closed', actual: state.next } : undefined
  }

  #guardFailure(guard: RunGuard, next: number): Facts | undefined {
    const run = this.#run(guard.runId)
    if ('reason' in run) return run
    if (guard.notEnded === true && isTerminal(run.status)) return { reason: 'run-ended' }
    if (guard.interruptOpen !== undefined) {
      const { interruptOpen } = guard
      const open = run.record().interrupts.some(({ id }) => id === interruptOpen)
      if (!open) return { reason: 'interrupt-not-open' }
    }
    if (guard.streamIs !== undefined && guard.streamIs !== run.stream) {
      return { reason: 'stream-number', actual: run.stream }
    }
    if (guard.maxUnread !== undefined) {
      const unread = next - run.inboxReadThrough
      if (unread + 1 > guard.maxUnread) return { reason: 'inbox-full', actual: unread }
    }
    return undefined
  }

  #closeLog({ log, expectedNext }: LogClose): WriteResult | Facts {
    const { sessionId } = this.#commit
    const at = logAt(sessionId, log)
    const state = this.#view.logs.get(at)
    const next = state?.next ?? 0
    if (expectedNext !== undefined && next !== expectedNext) {
      return { reason: 'log-grown', actual: next }
    }
    if (state?.closed === true) return done
    if (state === undefined) this.#effect({ kind: 'log-insert', sessionId, log })
    this.#set(this.#view.logs, at, { next, closed: true })
    this.#effect({ kind: 'log-close', sessionId, log })
    return done
  }

  #logUnchanged({ log, expectedNext }: LogUnchanged): WriteResult | Facts {
    const next = this.#view.logs.get(logAt(this.#commit.sessionId, log))?.next ?? 0
    return next === expectedNext ? done : { reason: 'log-grown', actual: next }
  }

  #writeDocument(write: DocumentPut | DocumentDelete): WriteResult | Facts {
    const { collection, key, expectedRevision } = write
    const { sessionId } = this.#commit
    const at = documentAt(sessionId, collection, key)
    const state = this.#view.documents.get(at)
    const actual = state?.present === true ? state.revision : 0
    if (actual !== expectedRevision || (write.kind === 'document-delete' && actual === 0)) {
      return { reason: 'document-revision', actual }
    }
    const revision = (state?.revision ?? 0) + 1
    const present = write.kind === 'document-put'
    this.#set(this.#view.documents, at, { revision, present })
    this.#effect({
      kind: 'document-write',
      sessionId,
      collection,
      key,
      revision,
      ...(write.kind === 'document-put' ? { value: write.value } : {}),
    })
    return { kind: 'document', revision }
  }

  #purgeRun({ runId }: RunPurge): WriteResult | Facts {
    const { sessionId } = this.#commit
    const run = this.#run(runId)
    if ('reason' in run) return run
    if (!isTerminal(run.status)) return { reason: 'run-transition' }
    const { idempotencyKey } = run
    const inputDigest = run.record().input.digest
    this.#set(this.#view.runs, runAt(sessionId, runId), { kind: 'purged' })
    if (idempotencyKey !== undefined) {
      const at = idempotencyKeyAt(sessionId, idempotencyKey)
      this.#set(this.#view.idempotencyKeys, at, { runId, inputDigest, purged: true })
    }
    this.#effect({
      kind: 'run-remove',
      sessionId,
      runId,
      inputDigest,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    })
    return done
  }

  /** A run that is there, or why it is not. */
  #run(runId: RunId): RunState | Facts {
    const run = this.#view.runs.get(runAt(this.#commit.sessionId, runId))
    if (run === undefined) return { reason: 'run-absent' }
    return run.kind === 'run' ? run : { reason: 'run-purged' }
  }

  #stream(streamId: StreamId):
    | {
        readonly at: string
        readonly runId: RunId
        readonly number: number
        readonly state: { readonly next: number; readonly end?: unknown } | undefined
      }
    | Facts {
    const parsed = parseStreamId(streamId)
    if (parsed === undefined) return { reason: 'run-absent' }
    const run = this.#run(parsed.runId)
    if ('reason' in run) return run
    const at = streamAt(this.#commit.sessionId, parsed.runId, parsed.number)
    return { at, ...parsed, state: this.#view.streams.get(at) }
  }

  #inboxNext(runId: RunId): number {
    return this.#view.logs.get(logAt(this.#commit.sessionId, inboxOf(runId)))?.next ?? 0
  }

  #setRun(runId: RunId, state: RunState): void {
    const at = runAt(this.#commit.sessionId, runId)
    const before = this.#view.runs.get(at)
    if (before?.kind === 'run' && !this.#endedBefore.has(runId)) {
      this.#endedBefore.set(runId, isTerminal(before.status))
    }
    this.#set(this.#view.runs, at, state)
  }

  #effect(effect: CommitEffect): void {
    this.#openSession()
    this.effects.push(effect)
  }

  #openSession(): void {
    const { sessionId } = this.#commit
    if (this.#view.sessions.has(sessionId)) return
    this.#set(this.#view.sessions, sessionId, { epoch: 0 })
    this.effects.push({ kind: 'session-insert', sessionId })
  }

  #set<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
    const before = map.get(key)
    this.#undo.push(() => {
      if (before === undefined) map.delete(key)
      else map.set(key, before)
    })
    map.set(key, value)
  }
}

/** What a run's row says, as state. */
function stateOf(
  record: RunRecord,
): Pick<RunState, 'status' | 'parked' | 'stream' | 'inboxReadThrough' | 'record'> {
  const { status, parked, stream, inboxReadThrough } = record
  return { status, parked, stream, inboxReadThrough, record: () => record }
}

function headOf(
  head: JsonObject | undefined,
  headRevision: number | undefined,
): { readonly head?: string; readonly headRevision?: number } {
  if (head !== undefined) return { head: JSON.stringify(head) }
  return headRevision === undefined ? {} : { headRevision }
}

/** Whether what never changes of a run is the same in both records. */
function isSameIdentity(before: RunRecord, after: RunRecord): boolean {
  return (
    before.sessionId === after.sessionId &&
    before.id === after.id &&
    before.definition.name === after.definition.name &&
    before.definition.version === after.definition.version &&
    before.definition.digest === after.definition.digest &&
    before.parentRunId === after.parentRunId &&
    before.childOf === after.childOf &&
    before.retriedFrom === after.retriedFrom &&
    before.input.digest === after.input.digest &&
    before.input.size === after.input.size &&
    before.createdAt === after.createdAt &&
    isSameNamespace(before.artifactNamespace, after.artifactNamespace)
  )
}

function isSameNamespace(
  before: RunRecord['artifactNamespace'],
  after: RunRecord['artifactNamespace'],
): boolean {
  return (
    before.sessionId === after.sessionId &&
    before.runId === after.runId &&
    before.inputKind === after.inputKind &&
    before.inputSessionId === after.inputSessionId &&
    before.inputRunId === after.inputRunId
  )
}

function fenced({ sessionId, fence }: Commit): HoldfastError {
  return new HoldfastError(ErrorCode.storeFenced, {
    message: `Session ${sessionId} was taken over: epoch ${fence?.epoch ?? 0} holds it no more.`,
    details: { session_id: sessionId },
  })
}

function commitIdReused(commitId: string): HoldfastError {
  return new HoldfastError(ErrorCode.argumentsInvalid, {
    message: `Commit id ${commitId} was used for a commit that writes something else.`,
    details: { commit_id: commitId },
  })
}
