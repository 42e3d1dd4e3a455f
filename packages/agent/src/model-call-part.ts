import type {
  LanguageModelV4Citation,
  LanguageModelV4CustomContent,
  LanguageModelV4File,
  LanguageModelV4ReasoningFile,
  LanguageModelV4Source,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from '@ai-sdk/provider'
import type { JsonObject, JsonValue } from '@holdfast/core'
import type { FinishReason, Usage } from './usage.ts'

/** What a tool call's parts say of the tool. */
export interface ToolPartOrigin {
  readonly providerExecuted?: boolean
  readonly dynamic?: boolean
  readonly title?: string
  readonly toolMetadata?: JsonObject
  readonly providerMetadata?: SharedV4ProviderMetadata
}

/**
 * What the loop emits, in order: the parts of a model call, the results of its tools, and the marks
 * around them. `createModelCallToUIChunkTransform` makes UI message chunks of them.
 *
 * A part that names an error holds the thrown value; making it safe to show is the converter's work.
 */
export type ModelCallStreamPart =
  | { readonly type: 'start'; readonly messageId?: string }
  | { readonly type: 'start-step' }
  | { readonly type: 'finish-step' }
  /** Takes back the parts since the last `start-step`: they come again. */
  | { readonly type: 'reset-step' }
  | { readonly type: 'model-call-start'; readonly warnings: readonly SharedV4Warning[] }
  | {
      readonly type: 'model-call-response-metadata'
      readonly id?: string
      readonly timestamp?: Date
      readonly modelId?: string
    }
  | {
      readonly type: 'text-start' | 'reasoning-start'
      readonly id: string
      readonly providerMetadata?: SharedV4ProviderMetadata
    }
  | {
      readonly type: 'text-delta' | 'reasoning-delta'
      readonly id: string
      readonly text: string
      readonly providerMetadata?: SharedV4ProviderMetadata
    }
  | {
      readonly type: 'text-end' | 'reasoning-end'
      readonly id: string
      readonly citations?: readonly LanguageModelV4Citation[]
      readonly providerMetadata?: SharedV4ProviderMetadata
    }
  | (ToolPartOrigin & {
      readonly type: 'tool-input-start'
      readonly id: string
      readonly toolName: string
      readonly inputEncoding?: 'json' | 'text'
    })
  | { readonly type: 'tool-input-delta'; readonly id: string; readonly delta: string }
  | { readonly type: 'tool-input-end'; readonly id: string }
  | (ToolPartOrigin & {
      readonly type: 'tool-call'
      readonly toolCallId: string
      readonly toolName: string
      readonly input: JsonValue
      /** The model named no tool there is, or gave an input that does not fit. */
      readonly invalid?: boolean
      /** Why it is invalid: text for the model, which holds no secrets of ours. */
      readonly error?: string
    })
  | (ToolPartOrigin & {
      readonly type: 'tool-result'
      readonly toolCallId: string
      readonly toolName: string
      readonly output: unknown
      readonly preliminary?: boolean
    })
  | (ToolPartOrigin & {
      readonly type: 'tool-error'
      readonly toolCallId: string
      readonly toolName: string
      /** Text that was made safe already: what the model is told. */
      readonly errorText: string
    })
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string; readonly toolName: string }
  | {
      readonly type: 'tool-approval-request'
      readonly approvalId: string
      readonly toolCallId: string
      readonly reason?: string
      readonly isAutomatic?: boolean
      readonly signature?: string
    }
  | {
      readonly type: 'tool-approval-response'
      readonly approvalId: string
      readonly approved: boolean
      readonly reason?: string
      readonly providerExecuted?: boolean
    }
  | LanguageModelV4Source
  | LanguageModelV4File
  | LanguageModelV4ReasoningFile
  | LanguageModelV4CustomContent
  | { readonly type: 'raw'; readonly rawValue: unknown }
  | {
      readonly type: 'steering-message'
      readonly id: string
      readonly parts: readonly JsonObject[]
    }
  | { readonly type: 'budget-request'; readonly id: string; readonly steps: number }
  | {
      readonly type: 'model-call-end'
      readonly finishReason: FinishReason
      readonly rawFinishReason?: string
      readonly usage: Usage
      readonly providerMetadata?: SharedV4ProviderMetadata
    }
  | { readonly type: 'error'; readonly error: unknown }
  | { readonly type: 'abort'; readonly reason?: string }
  | { readonly type: 'finish'; readonly finishReason: FinishReason }
