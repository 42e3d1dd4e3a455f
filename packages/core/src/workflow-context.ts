import type { WorkflowDefinition } from './definition.ts'
import type { JsonValue } from './json-value.ts'
import type { AnswerBy, ArtifactReference } from './run.ts'

/** Writes a run's output stream from inside a step. Revoked when the attempt ends. */
export interface StepOutput {
  /**
   * Puts a chunk in the run's one ordered queue. Resolves when the queue has room, not when stored.
   *
   * @throws `step_aborted` once the attempt has ended
   */
  write(chunk: JsonValue): Promise<void>
  /**
   * Whether an earlier attempt of this very step stored chunks in the stream that is open. Taking them back is
   * the step's own affair; one that has (by a `reset-step`) is told so still, and may do it again.
   */
  readonly hasEarlierChunks: boolean
}

/** What a step's body gets. */
export interface StepContext {
  /** Stable over attempts, crashes and processes: hand it to what has effects. */
  readonly idempotencyKey: string
  readonly stepId: string
  /** 1 for the first attempt, counted across crashes where the journal tells. */
  readonly attempt: number
  /** Fires on cancel, timeout and when the result is not wanted any more. */
  readonly signal: AbortSignal
  readonly output: StepOutput
}

/** How a step behaves. */
export interface StepOptions {
  /** How often a failing body is tried again. Default 2 more times, from 1 s, doubling, with jitter, up to 60 s. `0`: never. */
  readonly retries?: number
  readonly retryBaseMs?: number
  readonly retryMaxMs?: number
  /** Which errors are worth another try. Default: all but `HoldfastError`s that say they are not. */
  readonly shouldRetry?: (error: unknown) => boolean
  /** Of one attempt, in milliseconds. Absent: none. */
  readonly timeoutMs?: number
  /** Never run the body again once it has begun: an unknown outcome is verified or put to a person. */
  readonly once?: boolean
  /** For `once`: finds out what became of a body that had begun. */
  readonly verify?: (
    context: Pick<StepContext, 'idempotencyKey' | 'signal'>,
  ) => Promise<{ readonly done: true; readonly value: JsonValue } | { readonly done: false }>
  /** What history shows. Default: the key. */
  readonly label?: string
}

/** A question to a person or another program. */
export interface InterruptRequest {
  /** Shown to who answers; at most 1,024 bytes. */
  readonly reason?: string
  /** Shown to who answers; JSON. */
  readonly payload?: JsonValue
  /** The answer's closed JSON Schema. Default: the definition's `resume`. */
  readonly schema?: object
  /** Default `person`: a model's answer is refused. */
  readonly answer?: AnswerBy
  /**
   * Chunks for the output stream, stored in the commit that opens the interrupt. Must be pure. Called each
   * time the interrupt is asked, on replay too: that is how a definition learns the interrupt's id.
   */
  readonly output?: (interruptId: string) => readonly JsonValue[]
}

/** A message that was sent to the run. */
export interface RunMessage {
  /** The sender's id: each arrives once. */
  readonly id: string
  readonly body: JsonValue
}

/** Demands JSON of a type that is inferred, without making literals of it: a state `0` is a `number`. */
export type MustBeJson<Value> = Value extends JsonValue ? unknown : JsonValue

/** What `ctx.loop` gives its body, and gets back: the next state, or the end. */
export type LoopTurn<State, Result> =
  | { readonly state: State }
  | { readonly done: true; readonly result: Result }

/** One branch of a combinator: gets a context of its own scope. */
export type Branch<Resume, Result> = (context: WorkflowContext<Resume>) => Promise<Result> | Result

/** The results of branches by name. */
export type BranchResults<Branches> = {
  readonly [Name in keyof Branches]: Branches[Name] extends (...parameters: never[]) => infer Result
    ? Awaited<Result>
    : never
}

/**
 * All that a definition may use. Every operation has a key, unique in its scope or counted (`#2`).
 *
 * Nothing but this context's promises may be awaited outside a step.
 */
export interface WorkflowContext<Resume = JsonValue> {
  readonly run: {
    readonly id: string
    readonly sessionId: string
    readonly definition: { readonly name: string; readonly version: string }
    readonly parentRunId?: string
  }

  /**
   * Runs the body, journals its result, and resolves with the decoding of what was journaled.
   * After a crash a journaled result is given without running the body.
   */
  step<Result extends JsonValue | void>(
    key: string,
    body: (context: StepContext) => Promise<Result> | Result,
    options?: StepOptions,
  ): Promise<Result>
  /** Opens a question and resolves with its answer. */
  interrupt<Answer = Resume>(key: string, request?: InterruptRequest): Promise<Answer>
  /** Resolves when the time has passed, durably. Milliseconds. */
  sleep(key: string, durationMs: number): Promise<void>
  /** Starts a run of another definition in this session and resolves with its output. */
  child<Input, ChildResume, Output>(
    key: string,
    definition: WorkflowDefinition<Input, ChildResume, Output>,
    input: Input,
  ): Promise<Output>
  /** A loop whose history does not grow: each iteration's end is a checkpoint of its state. */
  loop<State, Result extends JsonValue | void, Item extends JsonValue = JsonValue>(
    key: string,
    initial: { readonly state: State & MustBeJson<State>; readonly items?: readonly Item[] },
    body: (
      context: WorkflowContext<Resume>,
      turn: {
        readonly state: State
        readonly iteration: number
        readonly items: readonly Item[]
        append(item: Item): void
      },
    ) => Promise<LoopTurn<State, Result>>,
  ): Promise<Result>
  /** Resolves with the next message not yet taken; `undefined` after `timeoutMs`. */
  receive(key: string, options: { readonly timeoutMs: number }): Promise<RunMessage | undefined>
  receive(key: string): Promise<RunMessage>
  /** Takes all messages delivered so far and not yet taken. Costs nothing. */
  messages(): readonly RunMessage[]

  /** Runs branches at once; rejects with the first failure in journal order, after cancelling the others. */
  all<Branches extends Readonly<Record<string, Branch<Resume, unknown>>>>(
    branches: Branches,
  ): Promise<BranchResults<Branches>>
  /** Settles as the first branch to settle; the others are cancelled. */
  race<Result>(branches: Readonly<Record<string, Branch<Resume, Result>>>): Promise<Result>
  /** Resolves with the first branch to succeed; the others are cancelled. */
  any<Result>(branches: Readonly<Record<string, Branch<Resume, Result>>>): Promise<Result>
  /** Runs also after a cancel, for at most 30 s from the cancel's entry, across crashes. */
  cleanup<Result>(body: (context: WorkflowContext<Resume>) => Promise<Result>): Promise<Result>

  /** The time of the last delivered entry, in milliseconds since the epoch. */
  now(): number
  /** In [0, 1); the same on replay. */
  random(): number
  /** The same on replay. */
  uuid(): string

  /** Shows how far the run has come. Journaled with the next commit. */
  progress(state: {
    readonly completed: number
    readonly total?: number
    readonly message?: string
  }): void
  /** Refers to an artifact of the application's. Journaled with the next commit. */
  artifact(reference: ArtifactReference): void
  /** Puts chunks in the run's output stream, once: they are stored in the commit that journals it. */
  output(key: string, chunks: readonly JsonValue[]): Promise<void>
  /** Fires when the run is cancelled. */
  readonly signal: AbortSignal
}
