import type { JsonObject, JsonValue } from './json-value.ts'
import type { StreamEnd } from './store.ts'
import type { RunError } from './run.ts'
import type { WorkflowContext } from './workflow-context.ts'

/** What a definition may know of the stream that opens or closes. */
export interface StreamMoment {
  readonly runId: string
  /** 1 for the first stream. */
  readonly number: number
}

/**
 * Chunks that a definition wants at the ends of its streams. Pure functions of what they are given:
 * they run again after a crash.
 */
export interface StreamFraming {
  /** Stored first in each stream, when its first chunk is about to be stored. */
  opening?(moment: StreamMoment): readonly JsonValue[]
  /** Stored last, in the commit that closes the stream. */
  closing?(
    moment: StreamMoment & {
      readonly end: StreamEnd
      readonly error?: RunError
      readonly output?: JsonValue
      /** All chunks of this stream that this process still knows, newest last; may be cut at the front. */
      readonly opened: boolean
    },
  ): readonly JsonValue[]
}

/**
 * What happens to a run whose journal was made by a definition with another digest.
 *
 * `pin`: it waits for code that fits; a live process that has it takes it over. `reject`: it waits until it is
 * cancelled. `migrate`: it goes on here, under the same barrier as ever, once the journal is read under
 * new names. A name is an operation's key with the keys of the scopes around it (`refunds/charge`; a loop's
 * iterations and occurrences are left out; `/` and `%` in keys are percent-encoded); it stands for all
 * that lies in it. `renamed` maps old names to new ones of the same depth; entries of `retired` ones count as
 * delivered. Effects keep their idempotency keys. A function that throws leaves the run waiting.
 */
export type SkewPolicy =
  | { readonly kind: 'pin' }
  | { readonly kind: 'reject' }
  | {
      readonly kind: 'migrate'
      migrate(from: { readonly digest: string }): {
        readonly renamed?: Readonly<Record<string, string>>
        readonly retired?: readonly string[]
      }
    }

/** A workflow as its author writes it. Made by `defineWorkflow` of `@holdfast/workflow`. */
export interface WorkflowDefinition<Input, Resume, Output> {
  /** `^[a-z][a-z0-9_]{2,63}$` */
  readonly name: string
  /** `^[a-z0-9][a-z0-9_.-]{0,63}$` */
  readonly version: string
  /** At most 1,024 bytes. */
  readonly description: string
  /** What it is, for catalogs: agents are not offered to models unless the host lists them. */
  readonly kind?: 'workflow' | 'agent' | 'harness'
  /** Closed JSON Schema 2020-12 (TypeBox or plain). */
  readonly input: object
  readonly resume?: object
  readonly output?: object
  /** Enters the digest: change it when old runs must not go on with new code. */
  readonly revision?: string
  /** Labels of the steps, when known beforehand: gives `total_steps`. */
  readonly steps?: readonly string[]
  /** Whether a model may see the output of a completed run. Default false. */
  readonly outputForModels?: boolean
  /** A line for `status_summary`, from the output when there is one. Cut at 1,024 bytes. */
  summarize?(state: { readonly status: string; readonly output?: JsonValue }): string
  readonly skew?: SkewPolicy
  readonly stream?: StreamFraming
  run(context: WorkflowContext<Resume>, input: Input): Promise<Output> | Output
  /** Only for inference: never set. */
  readonly types?: { readonly input: Input; readonly resume: Resume; readonly output: Output }
}

/** A definition of any types. */
// eslint-disable-next-line typescript/no-explicit-any -- contravariant in input: no other type accepts all definitions
export type AnyWorkflowDefinition = WorkflowDefinition<any, any, any>

/** Names one definition. */
export interface DefinitionReference {
  readonly name: string
  readonly version: string
}

/** A schema as plain data. */
export type JsonSchema = JsonObject
