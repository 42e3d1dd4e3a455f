// Every change of a run's row, as functions of plain data. The clock may go back: rows do not.
import { Limits } from '@holdfast/core'
import type {
  ArtifactReference,
  OpenInterrupt,
  RunError,
  RunRecord,
  WaitingFor,
} from '@holdfast/core'
import { utf8Length } from '@holdfast/json'

/** A change of a run's row, in the commit that writes this revision of its journal. */
export type Move = (record: RunRecord, now: number, revision: number) => RunRecord

/** A run that waits for a slot gets one, or one that stood still goes on. */
export const roused: Move = (record, now) => {
  const { waitingFor: _waitingFor, wakeAt: _wakeAt, ...rest } = record
  return touched({ ...rest, status: 'running', parked: false }, now)
}

/** Whether a row says that nothing executes. */
export function isAtRest(record: RunRecord): boolean {
  return record.parked || record.status !== 'running'
}

/**
 * A run is taken over while it held a slot, or while its code is about to see what reached it at an
 * interrupt: that a process died of it shows only in this count. Counts up to the limit of takeovers without a new
 * journal entry.
 */
export function recovered(journalNext: number): Move {
  return (record, now) => {
    const fresh = record.recoveredAt === undefined || record.recoveredAt < journalNext
    const recoveries = fresh ? 1 : record.recoveries + 1
    return touched({ ...record, recoveries, recoveredAt: journalNext }, now)
  }
}

/** Nothing is to be executed before `wakeAt`, an inbox entry or, for `code`, a new definition. */
export function parked(waitingFor: WaitingFor, wakeAt: number | undefined): Move {
  return (record, now) => {
    const { wakeAt: _wakeAt, ...rest } = record
    return touched(
      {
        ...rest,
        status: 'running',
        parked: true,
        waitingFor,
        ...(wakeAt === undefined ? {} : { wakeAt }),
      },
      now,
    )
  }
}

/**
 * No code here fits the run. Whoever finds its session without an owner may try; this process has
 * tried, and does not again.
 */
export const codeAwaited: Move = (record, now, revision) =>
  parked('code', now)(record, now, revision)

/** The run goes on with another definition. */
export function migratedTo(digest: string): Move {
  return (record, now) => touched({ ...record, migratedTo: digest }, now)
}

/** A run that held a slot gives it back without having come to rest: to be taken up at once. */
const drained: Move = (record, now) => touched({ ...record, parked: true, wakeAt: now }, now)

/** What a row says of a run that is let go of while it holds a slot, if it has to say anything. */
export function letGo(record: RunRecord): Move | undefined {
  if (record.status === 'running' && !record.parked) return drained
  if (record.status === 'interrupted' && record.recoveries > 0) return uncounted
  return undefined
}

/** It was no crash that ended the newest takeover. */
const uncounted: Move = (record, now) => touched({ ...record, recoveries: 0 }, now)

/** A question is open. Its schema and payload are left out where the row would grow too large. */
export function interruptOpened(interrupt: Omit<OpenInterrupt, 'revision'>): Move {
  return (record, now, revision) => {
    const interrupts = [...record.interrupts, { ...interrupt, revision }]
    return touched({ ...record, interrupts: fitting(record, interrupts) }, now)
  }
}

/** A question is not open any more. */
export function interruptClosed(interruptId: string): Move {
  return (record, now) =>
    touched(
      { ...record, interrupts: record.interrupts.filter(({ id }) => id !== interruptId) },
      now,
    )
}

/** All that is left to wait for are open questions. */
export const interrupted: Move = (record, now) => {
  const { waitingFor: _waitingFor, wakeAt: _wakeAt, ...rest } = record
  return touched({ ...rest, status: 'interrupted', parked: true }, now)
}

/** The stream of this number is closed. */
export function streamClosed(number: number): Move {
  return (record, now) => touched({ ...record, stream: number }, now)
}

/** Inbox entries below this sequence have been journaled. */
export function inboxRead(next: number): Move {
  return (record, now) =>
    next <= record.inboxReadThrough ? record : touched({ ...record, inboxReadThrough: next }, now)
}

/** The wish to stop has been read. */
export const cancelSeen: Move = (record, now) => touched({ ...record, cancelRequested: true }, now)

/** The run refers to an artifact; one with the same id is replaced. The oldest go beyond 128. */
export function artifactAdded(artifact: ArtifactReference): Move {
  return (record, now) => {
    const others = record.artifacts.filter(({ id }) => id !== artifact.id)
    return touched({ ...record, artifacts: [...others, artifact].slice(-Limits.runArtifacts) }, now)
  }
}

/** The newest checkpoint of a loop is in the revision that is written with this. */
export const checkpointed: Move = (record, now, revision) =>
  touched({ ...record, checkpoint: revision }, now)

/** What an ended run's row says. */
export interface RunEnd {
  readonly status: 'completed' | 'cancelled' | 'failed'
  readonly error?: RunError
  readonly summary?: string
}

/** The run has ended, for good. */
export function ended(end: RunEnd): Move {
  return (record, now) => {
    const { waitingFor: _waitingFor, wakeAt: _wakeAt, statusSummary: _summary, ...rest } = record
    const endedAt = Math.max(now, record.updatedAt)
    return {
      ...rest,
      status: end.status,
      parked: false,
      interrupts: [],
      ...(end.error === undefined ? {} : { error: end.error }),
      ...(end.summary === undefined ? {} : { statusSummary: end.summary }),
      updatedAt: endedAt,
      endedAt,
    }
  }
}

function touched(record: RunRecord, now: number): RunRecord {
  return { ...record, updatedAt: Math.max(now, record.updatedAt) }
}

/** Half of the record's limit is for questions; what does not fit is left out, largest part first. */
function fitting(record: RunRecord, interrupts: readonly OpenInterrupt[]): OpenInterrupt[] {
  const room = Limits.runRecordBytes / 2
  const whole = [...interrupts]
  if (sizeOf(whole) <= room) return whole
  const known = new Set(record.interrupts.map(({ id }) => id))
  const withoutPayload = whole.map((interrupt) => {
    if (known.has(interrupt.id)) return interrupt
    const { payload: _payload, ...rest } = interrupt
    return rest
  })
  if (sizeOf(withoutPayload) <= room) return withoutPayload
  return whole.map(({ payload: _payload, schema: _schema, ...rest }) => rest)
}

function sizeOf(value: unknown): number {
  return utf8Length(JSON.stringify(value))
}
