// What the loop asks of the world, so that one loop serves memory and durable runs.
//
// P1. The loop awaits nothing but these operations; all else it does is pure.
// P2. A step's body may do anything, and may run again after a crash; its result is what is told once.
// P3. Parts emitted by a body or by `emit` reach the reader in the order in which they were emitted.
import type { JsonValue, RunMessage } from '@holdfast/core'
import type { ModelCallStreamPart } from './model-call-part.ts'
import type { RecordCodec } from './record-codec.ts'

/** What a step's body gets. */
export interface StepScope {
  /** The same over repeats of the body. */
  readonly idempotencyKey: string
  /** Fires when the result is not wanted any more. */
  readonly signal: AbortSignal
  /** An earlier run of this body has emitted parts that a reader has: a new one takes them back. */
  readonly hasEarlierParts: boolean
  emit(part: ModelCallStreamPart): Promise<void>
}

/** A piece of work whose result is kept. */
export interface StepOperation<Value> {
  readonly key: string
  readonly label: string
  readonly codec: RecordCodec<Value>
  run(scope: StepScope): Promise<Value>
}

/** A question that somebody else answers, maybe days later. */
export interface QuestionOperation {
  readonly key: string
  readonly reason: string
  readonly payload: JsonValue
  /** The answer's closed JSON Schema. */
  readonly schema: object
  /** What the reader is shown. */
  parts(questionId: string): readonly ModelCallStreamPart[]
}

/** An answer, with the question's id. */
export interface Answer {
  readonly questionId: string
  readonly value: JsonValue
}

/** The world as the loop sees it. */
export interface Operations {
  /** Names the call: the run's id, or a fresh one. */
  readonly callId: string
  readonly runId: string | undefined
  /** How questions are put. Absent: nobody can be asked, and the loop ends at the first question. */
  readonly ask: ((question: QuestionOperation) => Promise<Answer>) | undefined
  /** Whether model calls stream their parts. */
  readonly streaming: boolean
  /** Whether the reader knows `reset-step`: else a model call that has emitted output is not tried again. */
  readonly takesBack: boolean
  /** Whether a tool that ignores its signal is left behind at once when it fires. */
  readonly leavesTools: boolean
  /** Milliseconds since the epoch; the same on replay. */
  now(): number
  step<Value>(operation: StepOperation<Value>): Promise<Value>
  emit(key: string, parts: readonly ModelCallStreamPart[]): Promise<void>
  /** Messages that came since the last time. */
  messages(): readonly RunMessage[]
  /** The reason why the call shall end now, where that can be told outside of steps. */
  aborted(): { readonly reason: unknown } | undefined
}
