// What an execution is made of, and whom it tells.
import type { JsonValue, RegisteredDefinition } from '@holdfast/core'
import type { ChildStarter, OperationHost } from './operation-host.ts'
import type { Services } from './options.ts'
import type { LoadedJournal } from './replay.ts'
import type { Ownership, RunState } from './run-commit.ts'
import type { EndedRun } from './run-end.ts'
import type { Timed } from './telemetry.ts'

/** What was read of a run, to execute it. */
export interface LoadedRun {
  readonly input: JsonValue
  readonly journal: LoadedJournal
  /** Chunks of the open stream; absent: there is none. */
  readonly streamNext: number | undefined
  /** Marks of operations with chunks in the open stream, from earlier processes. */
  readonly storedWriters: ReadonlySet<string>
  /** The run that this one is the retry of, or itself. */
  readonly originRunId: string
}

/** What an execution is made of. */
export interface ExecutionParts extends LoadedRun {
  readonly services: Services
  readonly ownership: Ownership
  readonly state: RunState
  readonly registered: RegisteredDefinition
  /** The taking up that this execution ends, once its journal is replayed. */
  readonly recovery?: Timed | undefined
}

/** Whom an execution tells. */
export interface ExecutionOwner {
  /** It stands still, and its row says so: the slot is given back. */
  rested(): void
  /** It wants to go on: `resume` follows when there is a slot. */
  wantsSlot(): void
  ended(end: EndedRun): void
  /** It cannot go on with this code; its row says so. */
  blocked(): void
  /** A commit failed for good. */
  failed(error: unknown): void
  /** How its children are started; made for this execution. */
  childrenOf(execution: OperationHost): ChildStarter
  /** Reads how a child of the session ended. */
  childEnd(runId: string): Promise<{ readonly output?: JsonValue }>
}
