// What an execution is made of, and whom it tells.
import type { JsonValue, LogRecord, RegisteredDefinition } from '@holdfast/core'
import { totalsOf } from './journal-totals.ts'
import { JournalWriter } from './journal-writer.ts'
import type { WriterListener } from './journal-writer.ts'
import type { ChildStarter, OperationHost } from './operation-host.ts'
import type { Services } from './options.ts'
import { OutputQueue } from './output.ts'
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

/** Tells the log something of an execution. */
export function logRun(
  { services, state, registered }: ExecutionParts,
  record: Pick<LogRecord, 'level' | 'event' | 'message'> & Partial<LogRecord>,
): void {
  const { name, version } = registered
  services.log.write({
    ...record,
    fields: { run_id: state.runId, definition: `${name}@${version}`, ...record.fields },
  })
}

/** The output of an execution. */
export function outputOf(parts: ExecutionParts): OutputQueue {
  const { state, registered, streamNext } = parts
  return new OutputQueue(
    state.runId,
    registered.definition.stream,
    { number: state.record.stream + 1, next: streamNext },
    (cause) => {
      const event = 'engine.stream.framing_failed'
      logRun(parts, { level: 'warn', event, message: 'A framing failed.', cause })
    },
  )
}

/** The journal of an execution. */
export function writerOf(
  { services, ownership, state, journal }: ExecutionParts,
  output: OutputQueue,
  listener: WriterListener,
): JournalWriter {
  return new JournalWriter(
    {
      services,
      ownership,
      state,
      output,
      lastTime: journal.lastTime,
      totals: totalsOf(journal),
    },
    listener,
  )
}
