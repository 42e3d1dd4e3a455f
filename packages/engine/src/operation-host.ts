import type { HoldfastError, JsonValue, RegisteredDefinition } from '@holdfast/core'
import type { JournalWriter } from './journal-writer.ts'
import type { Operation } from './operation.ts'
import type { Services } from './options.ts'
import type { OutputQueue } from './output.ts'
import type { Scope } from './scope.ts'

/** What an execution offers to its operations. */
export interface OperationHost {
  readonly services: Services
  readonly sessionId: string
  readonly runId: string
  /** The run that this one is the retry of, or itself: effects keep their keys over retries. */
  readonly originRunId: string
  readonly registered: RegisteredDefinition
  readonly writer: JournalWriter
  readonly output: OutputQueue

  /** The path that an operation or scope had when it was first asked for: what ids are made of. */
  originOf(path: string): string
  /** Registers an operation that the definition asks for, and begins it when it may. */
  open(operation: Operation): void
  /** It has been settled and is forgotten. */
  close(operation: Operation): void
  bodyStarted(): void
  bodyEnded(): void
  /** Does something durable once the code is known to fit the journal: now, or never if it does not. */
  whenLive(act: () => void): void
  /** Whether a cancel has been read and not delivered: failures of bodies do not count, nothing begins. */
  isCancelling(scope: Scope): boolean
  /** Calls the operation's `wake` at this time, while the execution is here and has a slot. */
  alarm(operation: Operation, wakeAt: number): () => void
  /** Whether stored chunks with this mark are in the open stream, from an earlier process. */
  hasStoredChunks(tag: string): boolean
  /** The operations that are open now, in the order of asking. */
  readonly operations: Iterable<Operation>
  /** The next message that was delivered and not taken. */
  takeMessage(scope: Scope): { readonly id: string; readonly body: JsonValue } | undefined
  /** A question was put under this id. */
  questionOpened(interruptId: string, path: string, label: string): void
  /** A child was started under this id. */
  childStarted(runId: string, path: string, label: string): void
  /** Starts a run of this session with the next commit that the operation's entry is in. */
  readonly children: ChildStarter
}

/** How children come into being. */
export interface ChildStarter {
  prepare(request: {
    readonly path: string
    readonly label: string
    readonly definition: { readonly name: string; readonly version: string }
    readonly input: unknown
  }): PreparedChild
  /** Asks a child to stop: its inbox gets a cancel, once. */
  cancel(childRunId: string): void
}

/** A child that can be started, or why it cannot. */
export type PreparedChild =
  | { readonly kind: 'ready'; readonly runId: string; readonly start: () => void }
  | { readonly kind: 'refused'; readonly runId: string; readonly error: HoldfastError }
