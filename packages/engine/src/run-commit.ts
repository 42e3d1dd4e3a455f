// One durable change of a run that this engine owns.
//
// Owns:  what the engine knows of the row and the journal's head (`RunState`), and the fence.
// Asks:  the store to commit, and what became of a commit whose outcome is unknown.
// Never: decides what is written.
//
// C1. `RunState` changes only after the store has said that the change is durable.
// C2. A commit that failed in passing is tried again with back-off, by itself; one whose outcome is
//     unknown is looked up first, so that nothing is written twice.
// C3. A fenced commit, or a store that is gone, ends the trying at once.
import { ErrorCode, HoldfastError, inboxOf, isHoldfastError, isStoreConflict } from '@holdfast/core'
import type {
  JsonObject,
  Receipt,
  RunRecord,
  StoredRun,
  StoreWrite,
  StreamAppend,
  StreamClose,
} from '@holdfast/core'
import { encodeEntries } from '@holdfast/workflow'
import type { JournalEntry } from '@holdfast/workflow'
import type { Services } from './options.ts'
import { runIds, timed } from './telemetry.ts'

const backoffMs = 20
const backoffMaxMs = 2_000

/** What the owner knows of a run. Only its owner writes it, so it does not go stale. */
export interface RunState {
  readonly sessionId: string
  readonly runId: string
  record: RunRecord
  /** The row's revision. */
  rowRevision: number
  /** The next revision of the journal. */
  journalNext: number
}

/** Takes over what the store says of a run. */
export function learn(state: RunState, stored: StoredRun): void {
  state.record = stored.record
  state.rowRevision = stored.revision
  state.journalNext = stored.journalNext
}

/** The right to write a session, and whether it is still used. */
export interface Ownership {
  readonly epoch: number
  /** False once the session was lost or let go of. */
  isHeld(): boolean
}

/** What one commit changes. */
export interface RunChange {
  readonly entries?: readonly JournalEntry[]
  readonly completedSteps?: number
  readonly head?: JsonObject
  /** The row after the commit; the very same object as before: no swap. */
  readonly record?: RunRecord
  readonly chunks?: StreamAppend
  readonly close?: StreamClose
  /** Written before all else: inputs, blobs. */
  readonly before?: readonly StoreWrite[]
  readonly after?: readonly StoreWrite[]
  readonly urgency?: 'chunks'
}

/** Ownership is gone: whoever hears this stops in silence. */
export function ownershipLost(cause?: unknown): HoldfastError {
  return new HoldfastError(ErrorCode.storeFenced, {
    message: 'The session has another owner.',
    cause,
  })
}

/**
 * Commits a change and resolves once it is durable and `state` says so.
 *
 * @throws `store_conflict` when a precondition did not hold, `store_fenced` when the session is lost
 */
export async function commitRun(
  services: Services,
  ownership: Ownership,
  state: RunState,
  change: RunChange,
): Promise<Receipt | undefined> {
  const writes = writesOf(state, change)
  if (writes.length === 0) return undefined
  const work = timed(services, () => ({
    name: 'holdfast.store.commit',
    labels: {},
    ids: { ...runIds(state), 'holdfast.commit.writes': writes.length },
    parent: services.telemetry?.runs.get(state.runId),
  }))
  try {
    const receipt = await commitWrites(services, ownership, { state, change, writes })
    work?.end()
    return receipt
  } catch (error) {
    work?.end(error)
    throw error
  }
}

async function commitWrites(
  services: Services,
  ownership: Ownership,
  commit: {
    readonly state: RunState
    readonly change: RunChange
    readonly writes: readonly StoreWrite[]
  },
): Promise<Receipt | undefined> {
  const { state, change, writes } = commit
  let attempt = 0
  for (;;) {
    if (!ownership.isHeld()) throw ownershipLost()
    try {
      const receipt = await services.store.commit({
        sessionId: state.sessionId,
        writes,
        fence: { epoch: ownership.epoch },
        ...(change.urgency === undefined ? {} : { urgency: change.urgency }),
      })
      applyChange(state, change)
      return receipt
    } catch (error) {
      if (attempt > 0 && isStoreConflict(error) && (await isWritten(services, state, change))) {
        applyChange(state, change)
        return undefined
      }
      if (!isPassing(error)) throw error
      services.log.write({
        level: 'warn',
        event: 'engine.commit.retried',
        message: 'A commit failed and is tried again.',
        fields: { run_id: state.runId, attempt },
        cause: error,
      })
      services.telemetry?.count('holdfast.store.commit.retries', 1)
      await pause(services, Math.min(backoffMs * 2 ** attempt, backoffMaxMs))
      attempt += 1
      if (!ownership.isHeld()) throw ownershipLost(error)
      if (await isWritten(services, state, change)) {
        applyChange(state, change)
        return undefined
      }
    }
  }
}

function writesOf(state: RunState, change: RunChange): readonly StoreWrite[] {
  const { runId } = state
  const writes: StoreWrite[] = []
  if (change.before !== undefined) writes.push(...change.before)
  if (change.entries !== undefined && change.entries.length > 0) {
    writes.push({
      kind: 'journal-append',
      runId,
      revision: state.journalNext,
      data: encodeEntries(change.entries, change.completedSteps ?? 0),
      ...(change.head === undefined ? {} : { head: change.head }),
    })
  }
  if (change.record !== undefined && change.record !== state.record) {
    writes.push({ kind: 'run-swap', record: change.record, expectedRevision: state.rowRevision })
  }
  if (change.chunks !== undefined) writes.push(change.chunks)
  if (change.close !== undefined) writes.push(change.close)
  if (change.after !== undefined) writes.push(...change.after)
  return writes
}

function applyChange(state: RunState, change: RunChange): void {
  if (change.entries !== undefined && change.entries.length > 0) state.journalNext += 1
  if (change.record !== undefined && change.record !== state.record) {
    state.record = change.record
    state.rowRevision += 1
  }
}

/** Whether a store's error may pass by itself. */
function isPassing(error: unknown): boolean {
  if (!isHoldfastError(error)) return false
  return (
    error.code === ErrorCode.storeUnavailable ||
    error.code === ErrorCode.storeOutcomeUnknown ||
    error.code === ErrorCode.storeFull
  )
}

/**
 * Whether a change that nobody answered for is in the store. The fence makes this engine the only
 * writer, so a head that has moved on was moved by this very change.
 */
async function isWritten(services: Services, state: RunState, change: RunChange): Promise<boolean> {
  const { store } = services
  try {
    if (change.entries !== undefined && change.entries.length > 0) {
      const run = await store.run(state.sessionId, state.runId)
      return run !== undefined && run.journalNext > state.journalNext
    }
    if (change.record !== undefined && change.record !== state.record) {
      const run = await store.run(state.sessionId, state.runId)
      return run !== undefined && run.revision > state.rowRevision
    }
    if (change.chunks !== undefined) {
      const head = await store.streamHead(state.sessionId, change.chunks.streamId)
      return head !== undefined && head.next > change.chunks.expectedNext
    }
    return closesInbox(state, change)
      ? (await store.logPage(state.sessionId, inboxOf(state.runId), { from: 0, limit: 1 })).closed
      : false
  } catch (error) {
    if (isPassing(error)) return false
    throw error
  }
}

function closesInbox(state: RunState, change: RunChange): boolean {
  return (change.after ?? []).some(
    (write) => write.kind === 'log-close' && write.log === inboxOf(state.runId),
  )
}

function pause(services: Services, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    services.system.after(delayMs, resolve)
  })
}
