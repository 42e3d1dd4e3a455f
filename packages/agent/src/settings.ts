import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { ModelMessage, ProviderOptions, ToolSet } from '@ai-sdk/provider-utils'
import type { ApprovalStore, Log, System, WorkflowContext } from '@holdfast/core'
import type { AgentCallbacks } from './callbacks.ts'
import type { Context } from './context.ts'
import type { LanguageModel, ModelResolver } from './language-model.ts'
import type { ErrorText } from './error-text.ts'
import type { ModelCallStreamPart } from './model-call-part.ts'
import type { Instructions } from './prompt.ts'
import type { StepResult } from './step-result.ts'
import type { StopCondition } from './stop-conditions.ts'
import type { TimeoutSetting } from './timeouts.ts'
import type { ToolApproval } from './tool-approval.ts'
import type { ToolCallRepair } from './tool-call-parsing.ts'

/** Which tool the model shall call. Default `auto`. */
export type ToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { readonly type: 'tool'; readonly toolName: string }

/** How a model generates, as AI SDK names it. Absent: the provider's default. */
export interface GenerationSettings {
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly stopSequences?: readonly string[]
  readonly seed?: number
  readonly reasoning?: NonNullable<LanguageModelV4CallOptions['reasoning']>
  readonly providerOptions?: ProviderOptions
  /** Sent to the provider with each call. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** How often a model call that failed for a passing reason is tried again. Default 2; 0: never. */
  readonly maxRetries?: number
}

/** What a call may say as well as the agent; the call's word counts, whole values replacing whole ones. */
export interface SharedSettings extends GenerationSettings, AgentCallbacks {
  readonly tools?: ToolSet
  readonly instructions?: Instructions
  readonly toolChoice?: ToolChoice
  /** Ends the loop after a step whose tools have results. Default: 20 steps, and a warning (or, durable, a question). */
  readonly stopWhen?: StopCondition | readonly StopCondition[]
  /** Names of the tools the model sees. Absent: all. Empty: none. */
  readonly activeTools?: readonly string[]
  readonly prepareStep?: PrepareStep
  readonly repairToolCall?: ToolCallRepair
  /** Which tool calls need a person's approval. A tool's own `needsApproval` counts where this says nothing. */
  readonly toolApproval?: ToolApproval
  readonly timeout?: TimeoutSetting
  readonly runtimeContext?: Context
  /** By tool name. */
  readonly toolsContext?: Readonly<Record<string, unknown>>
  /** Whether messages may have the role `system`. Default false: they are refused. */
  readonly allowSystemInMessages?: boolean
}

/** What an agent is made of. */
export interface WorkflowAgentOptions extends SharedSettings {
  readonly id?: string
  readonly model: LanguageModel
  /** Finds the model of an id. Default: AI SDK's default provider, if one is set. */
  readonly resolveModel?: ModelResolver
  readonly prepareCall?: PrepareCall
  /** How many steps a run has before it ends or, durable, asks. Counts beside `stopWhen` only if given. Default 20. */
  readonly maxSteps?: number
  /** How many tools of a step run at once. 1..64. Default 8. */
  readonly toolCallConcurrency?: number
  /** The text of an error for readers and the model. Default: nothing of the error is told. */
  readonly errorText?: ErrorText
  /** Keeps approvals of calls that are not durable. */
  readonly approvals?: ApprovalStore
  readonly log?: Log
  readonly system?: System
}

/** What a call is given: a prompt or messages, not both. */
export type CallInput =
  | { readonly prompt: string | readonly ModelMessage[]; readonly messages?: never }
  | { readonly messages: readonly ModelMessage[]; readonly prompt?: never }

/** What `generate` takes. */
export type GenerateOptions = SharedSettings &
  CallInput & {
    readonly abortSignal?: AbortSignal
    /** Makes every model call, tool call and approval an operation of this run. */
    readonly durable?: WorkflowContext<never> | WorkflowContext
    readonly maxSteps?: number
  }

/** What `stream` takes. Durable, its parts go to the run's stream; else to `writable`. */
export type StreamOptions = GenerateOptions &
  (
    | {
        readonly writable: WritableStream<ModelCallStreamPart>
        /** Whether `finish` is written. Default true. */
        readonly sendFinish?: boolean
        /** Leaves `writable` open at the end. Default false. */
        readonly preventClose?: boolean
        /** The id that `start` carries. Default: a fresh one. */
        readonly messageId?: string
      }
    | { readonly durable: WorkflowContext<never> | WorkflowContext; readonly writable?: never }
  )

/** What `prepareCall` sees and may replace: once a call, before its first step. It cannot set tools. */
export interface PrepareCallInput extends GenerationSettings {
  readonly model: LanguageModel
  readonly tools: ToolSet
  readonly messages: readonly ModelMessage[]
  readonly instructions?: Instructions
  readonly toolChoice?: ToolChoice
  readonly stopWhen?: StopCondition | readonly StopCondition[]
  readonly activeTools?: readonly string[]
  readonly timeout?: TimeoutSetting
  readonly runtimeContext: Context
  readonly toolsContext: Readonly<Record<string, unknown>>
}

/** Changes a call. What it does not return stays. A throw fails the call. */
export type PrepareCall = (
  input: PrepareCallInput,
) => PromiseLike<PrepareCallResult | undefined> | PrepareCallResult | undefined

/** What `prepareCall` returns. */
export type PrepareCallResult = Partial<Omit<PrepareCallInput, 'tools'>>

/** What `prepareStep` sees. */
export interface PrepareStepInput {
  readonly model: LanguageModel
  /** From 0. */
  readonly stepNumber: number
  readonly steps: readonly StepResult[]
  readonly messages: readonly ModelMessage[]
  readonly initialInstructions: Instructions | undefined
  readonly initialMessages: readonly ModelMessage[]
  readonly runtimeContext: Context
  readonly toolsContext: Readonly<Record<string, unknown>>
}

/** What `prepareStep` changes: for this step only, but `messages`, which stay for all later ones. */
export interface PrepareStepResult extends GenerationSettings {
  readonly model?: LanguageModel
  readonly messages?: readonly ModelMessage[]
  readonly instructions?: Instructions
  readonly toolChoice?: ToolChoice
  readonly activeTools?: readonly string[]
  readonly runtimeContext?: Context
  readonly toolsContext?: Readonly<Record<string, unknown>>
}

/** Changes a step before its model call. A throw fails the call. */
export type PrepareStep = (
  input: PrepareStepInput,
) => PromiseLike<PrepareStepResult | undefined> | PrepareStepResult | undefined
