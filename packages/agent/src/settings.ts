import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type {
  Experimental_SandboxSession,
  FlexibleSchema,
  HasRequiredKey,
  InferToolSetContext,
  ModelMessage,
  ProviderOptions,
  ToolSet,
} from '@ai-sdk/provider-utils'
import type { ApprovalStore, Log, System, WorkflowContext } from '@holdfast/core'
import type { AgentCallbacks } from './callbacks.ts'
import type { Context } from './context.ts'
import type { LanguageModel, ModelResolver } from './language-model.ts'
import type { DeprecatedSettings } from './deprecated.ts'
import type { Download } from './download.ts'
import type { ErrorText } from './error-text.ts'
import type { IncludeOptions } from './include.ts'
import type { ModelCallStreamPart } from './model-call-part.ts'
import type { OutputSpecification } from './output.ts'
import type { PartTransform } from './part-transform.ts'
import type { Instructions } from './prompt.ts'
import type { AgentTelemetry } from './agent-telemetry.ts'
import type { ToolInputRefinement } from './tool-input-refinement.ts'
import type { Usage } from './usage.ts'
import type { StepResult } from './step-result.ts'
import type { StopCondition } from './stop-conditions.ts'
import type { TimeoutSetting } from './timeouts.ts'
import type { ToolApproval } from './tool-approval.ts'
import type { ToolCallRepair } from './tool-call-parsing.ts'

/** Names of a set's tools. */
export type ToolName<TOOLS extends ToolSet> = keyof TOOLS & string

/** Which tool the model shall call. Default `auto`. */
export type ToolChoice<TOOLS extends ToolSet = ToolSet> =
  | 'auto'
  | 'none'
  | 'required'
  | { readonly type: 'tool'; readonly toolName: ToolName<TOOLS> }

/** How a model generates, as AI SDK names it. Absent: the provider's default. */
export interface GenerationSettings {
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly topK?: number | undefined
  readonly presencePenalty?: number | undefined
  readonly frequencyPenalty?: number | undefined
  readonly stopSequences?: readonly string[] | undefined
  readonly seed?: number | undefined
  readonly reasoning?: LanguageModelV4CallOptions['reasoning'] | undefined
  readonly providerOptions?: ProviderOptions | undefined
  /** Sent to the provider with each call. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  /** How often a model call that failed for a passing reason is tried again. Default 2; 0: never. */
  readonly maxRetries?: number | undefined
}

/** What a call may say as well as the agent; the call's word counts, whole values replacing whole ones. */
export interface SharedSettings<TOOLS extends ToolSet = ToolSet>
  extends GenerationSettings, AgentCallbacks<TOOLS>, DeprecatedSettings<TOOLS> {
  readonly instructions?: Instructions | undefined
  readonly toolChoice?: ToolChoice<TOOLS> | undefined
  /** Ends the loop after a step whose tools have results. Default: 20 steps, and a warning (or, durable, a question). */
  readonly stopWhen?: StopCondition<TOOLS> | readonly StopCondition<TOOLS>[] | undefined
  /** Names of the tools the model sees. Absent: all. Empty: none. */
  readonly activeTools?: readonly ToolName<TOOLS>[] | undefined
  /** Reduces the tools of a step: asked before every step, in front of `activeTools`. */
  readonly filterActiveTools?: FilterActiveTools<TOOLS> | undefined
  readonly prepareStep?: PrepareStep<TOOLS> | undefined
  readonly refineToolInput?: ToolInputRefinement<TOOLS> | undefined
  /** Fetches files that the model cannot. Default: over HTTP(S), never from private addresses. */
  readonly download?: Download | undefined
  readonly include?: IncludeOptions | undefined
  /** Whether readers of the stream get the model's reasoning. The next model call always does. Default true. */
  readonly sendReasoning?: boolean | undefined
  /** Handed to tools and hooks as it is. */
  readonly experimental_sandbox?: Experimental_SandboxSession | undefined
  readonly telemetry?: AgentTelemetry | undefined
  readonly repairToolCall?: ToolCallRepair | undefined
  /** Which tool calls need a person's approval. A tool's own `needsApproval` counts where this says nothing. */
  readonly toolApproval?: ToolApproval | undefined
  readonly timeout?: TimeoutSetting<TOOLS> | undefined
  readonly runtimeContext?: Context | undefined
  /** Whether messages may have the role `system`. Default false: they are refused. */
  readonly allowSystemInMessages?: boolean | undefined
}

/** Values for tools by their name; needed where a tool's context schema needs one. */
export type ToolsContextSetting<TOOLS extends ToolSet> = string extends keyof TOOLS
  ? { readonly toolsContext?: Readonly<Record<string, unknown>> | undefined }
  : HasRequiredKey<InferToolSetContext<TOOLS>> extends true
    ? { readonly toolsContext: InferToolSetContext<TOOLS> }
    : { readonly toolsContext?: InferToolSetContext<TOOLS> | undefined }

/** What only the agent says. */
interface AgentSettings<TOOLS extends ToolSet, OUTPUT extends OutputSpecification> extends Omit<
  SharedSettings<TOOLS>,
  'system'
> {
  readonly id?: string | undefined
  readonly model: LanguageModel
  readonly tools?: TOOLS | undefined
  /** What the answer shall be. Default: a text. */
  readonly output?: OUTPUT | undefined
  /** Finds the model of an id. Default: AI SDK's default provider, if one is set. */
  readonly resolveModel?: ModelResolver | undefined
  readonly prepareCall?: PrepareCall<TOOLS> | undefined
  /** Checks `options` of every call: what it gives of them is what `prepareCall` sees. */
  readonly callOptionsSchema?: FlexibleSchema<unknown> | undefined
  /** How many steps a run has before it ends or, durable, asks. Counts beside `stopWhen` only if given. Default 20. */
  readonly maxSteps?: number | undefined
  /** How many tools of a step run at once. 1..64. Default 8. */
  readonly toolCallConcurrency?: number | undefined
  /** The text of an error for readers and the model. Default: nothing of the error is told. */
  readonly errorText?: ErrorText | undefined
  /** Keeps approvals of calls that are not durable. */
  readonly approvals?: ApprovalStore | undefined
  readonly log?: Log | undefined
  /** Time and randomness. A text or system messages here are instructions: the deprecated name of them. */
  readonly system?: System | Instructions | undefined
}

/** What an agent is made of. */
export type WorkflowAgentOptions<
  TOOLS extends ToolSet = ToolSet,
  OUTPUT extends OutputSpecification = OutputSpecification,
> = AgentSettings<TOOLS, OUTPUT> & ToolsContextSetting<TOOLS>

/** What a call is given: a prompt or messages, not both. */
export type CallInput =
  | {
      readonly prompt: string | readonly ModelMessage[]
      readonly messages?: never
    }
  | {
      readonly messages: readonly ModelMessage[]
      readonly prompt?: never
    }

/** A durable run, whose operations a call's steps become. */
export type DurableContext = WorkflowContext<never> | WorkflowContext

/** A transform that knows the tools, or one that serves any. */
type AnyTransform<TOOLS extends ToolSet> = PartTransform<TOOLS> | PartTransform

interface CallSettings<
  TOOLS extends ToolSet,
  OUTPUT extends OutputSpecification,
> extends SharedSettings<TOOLS> {
  /** In place of the agent's: all of them. Types go on following the agent's. */
  readonly tools?: ToolSet | undefined
  readonly toolsContext?: Readonly<Record<string, unknown>> | undefined
  readonly output?: OUTPUT | undefined
  readonly abortSignal?: AbortSignal | undefined
  readonly maxSteps?: number | undefined
  /** The application's own, for `prepareCall`. */
  readonly options?: unknown
  /** Change what readers get of the model's output. In order. */
  readonly experimental_transform?: AnyTransform<TOOLS> | readonly AnyTransform<TOOLS>[] | undefined
}

/** What `generate` takes. */
export type GenerateOptions<
  TOOLS extends ToolSet = ToolSet,
  OUTPUT extends OutputSpecification = OutputSpecification,
> = CallSettings<TOOLS, OUTPUT> &
  CallInput & {
    /** Makes every model call, tool call and approval an operation of this run. */
    readonly durable?: DurableContext | undefined
  }

/** What `stream` takes that streams to a writable of the caller's. */
export type StreamToWritableOptions<
  TOOLS extends ToolSet = ToolSet,
  OUTPUT extends OutputSpecification = OutputSpecification,
> = CallSettings<TOOLS, OUTPUT> &
  CallInput & {
    readonly writable: WritableStream<ModelCallStreamPart>
    readonly durable?: undefined
    /** Whether `finish` is written. Default true. */
    readonly sendFinish?: boolean | undefined
    /** Leaves `writable` open at the end. Default false. */
    readonly preventClose?: boolean | undefined
    /** The id that `start` carries. Default: a fresh one. */
    readonly messageId?: string | undefined
  }

/** What `stream` takes that streams to a durable run's own stream. */
export type StreamDurablyOptions<
  TOOLS extends ToolSet = ToolSet,
  OUTPUT extends OutputSpecification = OutputSpecification,
> = CallSettings<TOOLS, OUTPUT> &
  CallInput & {
    readonly durable: DurableContext
    readonly writable?: undefined
  }

/** What `stream` takes that gives a live result. */
export type StreamLiveOptions<
  TOOLS extends ToolSet = ToolSet,
  OUTPUT extends OutputSpecification = OutputSpecification,
> = CallSettings<TOOLS, OUTPUT> &
  CallInput & {
    readonly durable?: undefined
    readonly writable?: undefined
  }

/** What `stream` takes. Durable, its parts go to the run's stream; else to `writable`; else to the result. */
export type StreamOptions<
  TOOLS extends ToolSet = ToolSet,
  OUTPUT extends OutputSpecification = OutputSpecification,
> =
  | StreamToWritableOptions<TOOLS, OUTPUT>
  | StreamDurablyOptions<TOOLS, OUTPUT>
  | StreamLiveOptions<TOOLS, OUTPUT>

/** What `prepareCall` sees and may replace: once a call, before its first step. It cannot set tools. */
export interface PrepareCallInput<TOOLS extends ToolSet = ToolSet> extends GenerationSettings {
  readonly model: LanguageModel
  readonly tools: TOOLS
  readonly messages: readonly ModelMessage[]
  readonly instructions?: Instructions | undefined
  readonly toolChoice?: ToolChoice<TOOLS> | undefined
  readonly stopWhen?: StopCondition<TOOLS> | readonly StopCondition<TOOLS>[] | undefined
  readonly activeTools?: readonly ToolName<TOOLS>[] | undefined
  readonly timeout?: TimeoutSetting<TOOLS> | undefined
  readonly allowSystemInMessages?: boolean | undefined
  readonly download?: Download | undefined
  readonly include?: IncludeOptions | undefined
  readonly sendReasoning?: boolean | undefined
  readonly telemetry?: AgentTelemetry | undefined
  readonly experimental_sandbox?: Experimental_SandboxSession | undefined
  /** The call's, as the agent's `callOptionsSchema` gives them. */
  readonly options?: unknown
  readonly runtimeContext: Context
  readonly toolsContext: Readonly<Record<string, unknown>>
}

/** Changes a call. What it does not return stays. A throw fails the call. */
export type PrepareCall<TOOLS extends ToolSet = ToolSet> = (
  input: PrepareCallInput<TOOLS>,
) => PromiseLike<PrepareCallResult<TOOLS> | undefined> | PrepareCallResult<TOOLS> | undefined

/** What `prepareCall` returns. */
export type PrepareCallResult<TOOLS extends ToolSet = ToolSet> = Partial<
  Omit<PrepareCallInput<TOOLS>, 'tools' | 'options'>
>

/** What `prepareStep` sees. */
export interface PrepareStepInput<TOOLS extends ToolSet = ToolSet> {
  readonly model: LanguageModel
  /** From 0. */
  readonly stepNumber: number
  readonly steps: readonly StepResult<TOOLS>[]
  readonly messages: readonly ModelMessage[]
  readonly instructions: Instructions | undefined
  /** Those that the call was given. */
  readonly initialInstructions: Instructions | undefined
  readonly initialMessages: readonly ModelMessage[]
  /** Those that steps before this one added. */
  readonly responseMessages: readonly ModelMessage[]
  /** Of the steps before this one. */
  readonly usage: Usage
  readonly tools: TOOLS
  readonly toolChoice: ToolChoice<TOOLS> | undefined
  readonly activeTools: readonly ToolName<TOOLS>[] | undefined
  readonly settings: GenerationSettings
  readonly experimental_sandbox?: Experimental_SandboxSession | undefined
  readonly runtimeContext: Context
  readonly toolsContext: Readonly<Record<string, unknown>>
}

/** What `prepareStep` changes: for this step only, but `messages`, which stay for all later ones. */
export interface PrepareStepResult<TOOLS extends ToolSet = ToolSet> extends GenerationSettings {
  readonly model?: LanguageModel | undefined
  readonly messages?: readonly ModelMessage[] | undefined
  readonly instructions?: Instructions | undefined
  /** @deprecated Use `instructions`. */
  readonly system?: Instructions | undefined
  readonly allowSystemInMessages?: boolean | undefined
  readonly toolChoice?: ToolChoice<TOOLS> | undefined
  readonly activeTools?: readonly ToolName<TOOLS>[] | undefined
  readonly timeout?: TimeoutSetting<TOOLS> | undefined
  readonly sendReasoning?: boolean | undefined
  readonly download?: Download | undefined
  readonly experimental_sandbox?: Experimental_SandboxSession | undefined
  readonly runtimeContext?: Context | undefined
  readonly toolsContext?: Readonly<Record<string, unknown>> | undefined
}

/** Reduces the tools of a step. A throw fails the call. */
export type FilterActiveTools<TOOLS extends ToolSet = ToolSet> = (options: {
  /** From 0. */
  readonly stepNumber: number
  readonly tools: TOOLS
}) => PromiseLike<Partial<TOOLS>> | Partial<TOOLS>

/** Changes a step before its model call. A throw fails the call. */
export type PrepareStep<TOOLS extends ToolSet = ToolSet> = (
  input: PrepareStepInput<TOOLS>,
) => PromiseLike<PrepareStepResult<TOOLS> | undefined> | PrepareStepResult<TOOLS> | undefined
