// What a run's journal consists of. One commit appends one revision, which holds one or more entries.
//
// J1. Entries are only added; a revision never changes once written.
// J2. `path` names an operation: its scope and key with the occurrence (`load order`, `loop:3/charge#2`).
// J3. Every settling entry (marked below) settles exactly one operation or delivers one thing.
import Type, { type Static, type TObject, type TProperties } from 'typebox'
import { AnswerBy, ArtifactReference, RunError, RunId } from '@holdfast/core'
import type { JsonValue } from '@holdfast/core'
import { StoredError, StoredValue } from './stored-value.ts'

const Path = Type.String({ minLength: 1, maxLength: 2_048 })
const Label = Type.String({ maxLength: 512 })
const Time = Type.Number()
const Sequence = Type.Integer({ minimum: 0 })
const Json = Type.Unsafe<JsonValue>(Type.Unknown())
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })

function entry<Kind extends string, Properties extends TProperties>(
  kind: Kind,
  properties: Properties,
) {
  return Type.Object(
    { kind: Type.Literal(kind), at: Time, ...properties },
    { additionalProperties: false },
  )
}

/** Revision 0: the run exists. */
export const RunSeeded = entry('run-seeded', {
  definition: Type.Object(
    { name: Type.String(), version: Type.String(), digest: Type.String() },
    { additionalProperties: false },
  ),
  input: Type.Object({ digest: Sha256, size: Sequence }, { additionalProperties: false }),
  parentRunId: Type.Optional(RunId),
  childOf: Type.Optional(RunId),
  retriedFrom: Type.Optional(RunId),
  /** From the definition's `steps`, frozen here. */
  totalSteps: Type.Optional(Sequence),
})

/** A `once` step's body is about to run. Opening. */
export const StepBegun = entry('step-begun', { path: Path, label: Label, attempt: Sequence })

/** An attempt failed and another is due. Opening: the step is not settled. */
export const StepAttempted = entry('step-attempted', {
  path: Path,
  label: Label,
  attempt: Sequence,
  error: StoredError,
  retryAt: Time,
})

/** A step's result. Settling. */
export const StepCompleted = entry('step-completed', {
  path: Path,
  label: Label,
  attempt: Sequence,
  value: StoredValue,
})

/** A step gave up. Settling. */
export const StepFailed = entry('step-failed', {
  path: Path,
  label: Label,
  attempt: Sequence,
  error: StoredError,
})

/** A question was put. Opening. */
export const InterruptOpened = entry('interrupt-opened', {
  path: Path,
  label: Label,
  interruptId: Type.String(),
  answer: AnswerBy,
  reason: Type.Optional(Type.String()),
  schema: Type.Optional(Json),
  payload: Type.Optional(StoredValue),
})

/** A question was answered. Settling. */
export const InterruptAnswered = entry('interrupt-answered', {
  path: Path,
  label: Label,
  interruptId: Type.String(),
  value: StoredValue,
  by: Type.Union([Type.Literal('person'), Type.Literal('model'), Type.Literal('host')]),
  /** The inbox sequence that this entry journals. */
  inbox: Sequence,
})

/** A question is not put any more: its branch lost, or its iteration ended. Settling. */
export const InterruptWithdrawn = entry('interrupt-withdrawn', {
  path: Path,
  interruptId: Type.String(),
})

/** The run stands still for its open questions. */
export const RunInterrupted = entry('run-interrupted', {
  interrupts: Type.Array(Type.String()),
})

/** A sleep, or a receive's time limit, has begun. Opening. */
export const TimerSet = entry('timer-set', {
  path: Path,
  label: Label,
  wakeAt: Time,
  for: Type.Union([Type.Literal('sleep'), Type.Literal('receive')]),
})

/** Its time has passed. Settling. */
export const TimerFired = entry('timer-fired', { path: Path })

/** A sleep or receive is not waited for any more. Settling. */
export const TimerWithdrawn = entry('timer-withdrawn', { path: Path })

/** The run waits for a message. Opening. */
export const ReceiveOpened = entry('receive-opened', { path: Path, label: Label })

/** A message reached the run. Settling: delivered to receives and `messages()` in journal order. */
export const MessageArrived = entry('message-arrived', {
  messageId: Type.String(),
  body: StoredValue,
  inbox: Sequence,
})

/** A child's row and seed are in the same commit. Opening. */
export const ChildStarted = entry('child-started', {
  path: Path,
  label: Label,
  runId: RunId,
  definition: Type.Object(
    { name: Type.String(), version: Type.String() },
    { additionalProperties: false },
  ),
})

/** A child has ended. Settling. */
export const ChildEnded = entry('child-ended', {
  path: Path,
  label: Label,
  runId: RunId,
  status: Type.Union([
    Type.Literal('completed'),
    Type.Literal('cancelled'),
    Type.Literal('failed'),
  ]),
  output: Type.Optional(StoredValue),
  error: Type.Optional(RunError),
  /** Absent for a child that could not be started. */
  inbox: Type.Optional(Sequence),
})

/** Chunks of the definition's own were stored, in this commit. Settling. */
export const OutputWritten = entry('output-written', { path: Path, chunks: Sequence })

/** An operation was taken back with its losing branch. Settling. */
export const OperationWithdrawn = entry('operation-withdrawn', { path: Path })

/** Somebody asked for the run to stop. Bodies have been told. */
export const CancelRequested = entry('cancel-requested', {
  reason: Type.String(),
  inbox: Sequence,
})

/** From here on every pending and later operation rejects, save in cleanup. Settling. */
export const CancelDelivered = entry('cancel-delivered', {
  reason: Type.String(),
  /** Bodies that ignored their signal beyond the grace. */
  abandoned: Type.Array(Path),
})

/** How far the run has come, as it says itself. */
export const ProgressMade = entry('progress-made', {
  completed: Sequence,
  total: Type.Optional(Sequence),
  message: Type.Optional(Type.String()),
})

/** The run refers to an artifact. */
export const ArtifactAdded = entry('artifact-added', { artifact: ArtifactReference })

/**
 * The run goes on with another definition: what was journaled before is read under its names. Names
 * are paths without occurrences and iterations; one stands for all that lies in it.
 */
export const RunMigrated = entry('run-migrated', {
  /** The digest of the definition that the run goes on with. */
  digest: Type.String(),
  renamed: Type.Array(Type.Object({ from: Path, to: Path }, { additionalProperties: false })),
  /** Operations that the definition does not have any more: their entries count as delivered. */
  retired: Type.Array(Path),
})

/** An iteration's end: everything before it that `keep` does not list is not needed any more. */
export const LoopCheckpoint = entry('loop-checkpoint', {
  path: Path,
  iteration: Sequence,
  state: StoredValue,
  /** Items appended since the checkpoint before. */
  items: Type.Array(StoredValue),
  itemCount: Sequence,
  /** Revisions still needed, as [first, last] pairs. */
  keep: Type.Array(Type.Array(Sequence, { minItems: 2, maxItems: 2 }), { maxItems: 64 }),
  /** Messages in those revisions, or in this one, that iterations which are over have taken. */
  taken: Type.Optional(Type.Array(Type.String())),
  completedSteps: Sequence,
})

/** The loop's result. Settling. */
export const LoopEnded = entry('loop-ended', {
  path: Path,
  value: StoredValue,
  /** Messages that its iterations have taken since the newest checkpoint. */
  taken: Type.Optional(Type.Array(Type.String())),
})

/** The end. Nothing follows. */
export const RunEnded = entry('run-ended', {
  status: Type.Union([
    Type.Literal('completed'),
    Type.Literal('cancelled'),
    Type.Literal('failed'),
  ]),
  output: Type.Optional(StoredValue),
  error: Type.Optional(RunError),
  reason: Type.Optional(Type.String()),
  /** Messages that were accepted and came too late, by id. */
  undelivered: Type.Array(Type.String()),
  /** Interrupts whose accepted answers came too late. */
  superseded: Type.Array(Type.String()),
  /** Paths of steps that were in flight when the definition returned. */
  inFlight: Type.Array(Path),
})

const kinds = {
  'run-seeded': RunSeeded,
  'step-begun': StepBegun,
  'step-attempted': StepAttempted,
  'step-completed': StepCompleted,
  'step-failed': StepFailed,
  'interrupt-opened': InterruptOpened,
  'interrupt-answered': InterruptAnswered,
  'interrupt-withdrawn': InterruptWithdrawn,
  'run-interrupted': RunInterrupted,
  'timer-set': TimerSet,
  'timer-fired': TimerFired,
  'timer-withdrawn': TimerWithdrawn,
  'receive-opened': ReceiveOpened,
  'message-arrived': MessageArrived,
  'child-started': ChildStarted,
  'child-ended': ChildEnded,
  'output-written': OutputWritten,
  'operation-withdrawn': OperationWithdrawn,
  'cancel-requested': CancelRequested,
  'cancel-delivered': CancelDelivered,
  'progress-made': ProgressMade,
  'artifact-added': ArtifactAdded,
  'run-migrated': RunMigrated,
  'loop-checkpoint': LoopCheckpoint,
  'loop-ended': LoopEnded,
  'run-ended': RunEnded,
} as const

/** Every kind of entry with its schema. */
export const journalEntrySchemas: Readonly<Record<JournalEntryKind, TObject>> = kinds

/** The name of an entry's kind. */
export type JournalEntryKind = keyof typeof kinds

/** Any entry of a journal. */
export type JournalEntry = {
  [Kind in JournalEntryKind]: Static<(typeof kinds)[Kind]>
}[JournalEntryKind]

/** An entry of one kind. */
export type JournalEntryOf<Kind extends JournalEntryKind> = Static<(typeof kinds)[Kind]>

/** One revision of a journal, decoded. */
export interface JournalRevision {
  readonly revision: number
  /** How many steps have completed up to and including this revision. */
  readonly completedSteps: number
  readonly entries: readonly JournalEntry[]
}
