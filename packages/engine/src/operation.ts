import type { HoldfastError, JsonValue } from '@holdfast/core'
import type { JournalEntry, JournalEntryKind } from '@holdfast/workflow'
import type { Scope } from './scope.ts'

/** What kinds of operations a context has. */
export type OperationKind = 'step' | 'interrupt' | 'sleep' | 'receive' | 'child' | 'output' | 'loop'

/** A journaled entry on its way to the definition, with its value where that is at hand. */
export interface Delivered {
  readonly entry: JournalEntry
  /** The decoded value of a live entry; for a replayed one it is read from the journal. */
  readonly value?: { readonly decoded: JsonValue | undefined }
}

/** What an operation waits for, when nothing of it executes. */
export type Waits =
  | { readonly for: 'interrupt' }
  | { readonly for: 'message' }
  | { readonly for: 'child' }
  | { readonly for: 'sleep' | 'retry' | 'message'; readonly wakeAt: number }

/**
 * One operation of a definition, from its asking until it is settled.
 *
 * `begin` is called once, when everything that was journaled before has been delivered; with the
 * entries that it claimed it takes up where an earlier process stood.
 */
export interface Operation {
  readonly kind: OperationKind
  readonly path: string
  readonly scope: Scope
  /** Absent while it executes, or is about to be settled. */
  readonly waits: Waits | undefined
  /** The journal's opening entries of it, told when it is asked for, if there are any. */
  claim(opened: readonly JournalEntry[]): void
  begin(): void
  /** Settles it by its settling entry. */
  settle(delivered: Delivered, value: JsonValue | undefined): void
  /** Rejects it; nothing of it has an effect any more. Its body is told by its signal. */
  takeBack(reason: HoldfastError): void
  /** Its `wakeAt` has come. */
  wake?(): void
  /** The execution is over in this process: timers go, bodies are told, nothing settles. */
  drop(reason: HoldfastError): void
}

/** Which kind of operation an entry with a path belongs to; `undefined` for those of none. */
export function operationOf(kind: JournalEntryKind): OperationKind | undefined {
  switch (kind) {
    case 'step-begun':
    case 'step-attempted':
    case 'step-completed':
    case 'step-failed':
      return 'step'
    case 'interrupt-opened':
    case 'interrupt-answered':
    case 'interrupt-withdrawn':
      return 'interrupt'
    case 'child-started':
    case 'child-ended':
      return 'child'
    case 'receive-opened':
      return 'receive'
    case 'output-written':
      return 'output'
    case 'loop-checkpoint':
    case 'loop-ended':
      return 'loop'
    case 'timer-set':
    case 'timer-fired':
    case 'timer-withdrawn':
    case 'operation-withdrawn':
    case 'run-seeded':
    case 'run-interrupted':
    case 'message-arrived':
    case 'cancel-requested':
    case 'cancel-delivered':
    case 'progress-made':
    case 'artifact-added':
    case 'run-ended':
    case 'run-migrated':
      return undefined
  }
}

/** Entries that are found by an operation when it is asked for, not delivered in order. */
export function isOpening(entry: JournalEntry): entry is OpeningEntry {
  switch (entry.kind) {
    case 'step-begun':
    case 'step-attempted':
    case 'interrupt-opened':
    case 'interrupt-withdrawn':
    case 'timer-set':
    case 'receive-opened':
    case 'child-started':
      return true
    default:
      return false
  }
}

/** An entry that opens, and does not settle. */
export type OpeningEntry = Extract<
  JournalEntry,
  {
    readonly kind:
      | 'step-begun'
      | 'step-attempted'
      | 'interrupt-opened'
      | 'interrupt-withdrawn'
      | 'timer-set'
      | 'receive-opened'
      | 'child-started'
  }
>

/** Entries that are delivered to the definition, in journal order, each in a turn of its own. */
export function isSettling(entry: JournalEntry): entry is SettlingEntry {
  switch (entry.kind) {
    case 'step-completed':
    case 'step-failed':
    case 'interrupt-answered':
    case 'timer-fired':
    case 'child-ended':
    case 'output-written':
    case 'message-arrived':
    case 'cancel-delivered':
    case 'loop-checkpoint':
    case 'loop-ended':
      return true
    default:
      return false
  }
}

/** An entry that settles an operation, or brings a message or the cancel. */
export type SettlingEntry = Extract<
  JournalEntry,
  {
    readonly kind:
      | 'step-completed'
      | 'step-failed'
      | 'interrupt-answered'
      | 'timer-fired'
      | 'child-ended'
      | 'output-written'
      | 'message-arrived'
      | 'cancel-delivered'
      | 'loop-checkpoint'
      | 'loop-ended'
  }
>
