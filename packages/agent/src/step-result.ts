import type { SharedV4ProviderMetadata, SharedV4Warning } from '@ai-sdk/provider'
import { convertBase64ToUint8Array } from '@ai-sdk/provider-utils'
import type { ModelMessage } from '@ai-sdk/provider-utils'
import type { JsonObject, JsonValue } from '@holdfast/core'
import type { ModelCallRecord, RecordedPart, RecordedToolCall } from './model-call-record.ts'
import type { ToolOutcome } from './tool-outcome.ts'
import { usageFromModel } from './usage.ts'
import type { FinishReason, Usage } from './usage.ts'

/** A tool call in a result. */
export interface StepToolCall {
  readonly type: 'tool-call'
  readonly toolCallId: string
  readonly toolName: string
  readonly input: JsonValue
  readonly dynamic?: boolean
  readonly providerExecuted?: boolean
  readonly invalid?: boolean
  readonly error?: string
  readonly title?: string
  readonly toolMetadata?: JsonObject
  readonly providerMetadata?: SharedV4ProviderMetadata
}

/** What a tool returned. */
export interface StepToolResult {
  readonly type: 'tool-result'
  readonly toolCallId: string
  readonly toolName: string
  readonly input: JsonValue
  readonly output: unknown
  readonly dynamic?: boolean
  readonly providerExecuted?: boolean
  readonly providerMetadata?: SharedV4ProviderMetadata
}

/** A tool that failed, timed out or was not run; the text is what the model was told. */
export interface StepToolError {
  readonly type: 'tool-error'
  readonly toolCallId: string
  readonly toolName: string
  readonly input: JsonValue
  readonly error: string
  readonly dynamic?: boolean
  readonly providerExecuted?: boolean
}

/** A tool that a person or a policy did not allow. */
export interface StepToolDenied {
  readonly type: 'tool-output-denied'
  readonly toolCallId: string
  readonly toolName: string
  readonly input: JsonValue
  readonly reason?: string
}

/** A file that a model made. */
export interface GeneratedFile {
  readonly mediaType: string
  /** Of a file given by its URL: absent. */
  readonly base64?: string
  readonly uint8Array?: Uint8Array
  readonly url?: string
}

/** A part of a step's content, in order: the model's parts, then what became of its tool calls. */
export type StepContentPart =
  | Exclude<RecordedPart, { type: 'tool-call' | 'tool-result' | 'file' }>
  | { readonly type: 'file'; readonly file: GeneratedFile }
  | StepToolCall
  | StepToolResult
  | StepToolError
  | StepToolDenied

/** One step: a model call and what became of its tool calls. */
export interface StepResult {
  readonly callId: string
  /** From 0. */
  readonly stepNumber: number
  readonly model: { readonly provider: string; readonly modelId: string }
  readonly content: readonly StepContentPart[]
  readonly text: string
  readonly reasoning: readonly Extract<RecordedPart, { type: 'reasoning' }>[]
  readonly reasoningText: string | undefined
  readonly files: readonly GeneratedFile[]
  readonly sources: readonly Extract<RecordedPart, { type: 'source' }>[]
  readonly toolCalls: readonly StepToolCall[]
  readonly staticToolCalls: readonly StepToolCall[]
  readonly dynamicToolCalls: readonly StepToolCall[]
  readonly toolResults: readonly StepToolResult[]
  readonly staticToolResults: readonly StepToolResult[]
  readonly dynamicToolResults: readonly StepToolResult[]
  readonly finishReason: FinishReason
  readonly rawFinishReason: string | undefined
  readonly usage: Usage
  readonly warnings: readonly SharedV4Warning[]
  readonly request: Readonly<Record<string, never>>
  readonly response: {
    readonly id: string | undefined
    readonly modelId: string
    readonly timestamp: Date
    readonly headers?: Readonly<Record<string, string>>
    /** The assistant's message and its tools' results, as the next call gets them. */
    readonly messages: readonly ModelMessage[]
  }
  readonly providerMetadata: SharedV4ProviderMetadata | undefined
  readonly runtimeContext: Readonly<Record<string, unknown>>
  readonly toolsContext: Readonly<Record<string, unknown>>
  /** The signal fired in this step: it holds what had come until then. */
  readonly aborted?: true
}

/** What a step's result is made of. */
export interface StepMaterial {
  readonly callId: string
  readonly stepNumber: number
  readonly record: ModelCallRecord
  readonly outcomes: ReadonlyMap<string, ToolOutcome>
  readonly messages: readonly ModelMessage[]
  readonly runtimeContext: Readonly<Record<string, unknown>>
  readonly toolsContext: Readonly<Record<string, unknown>>
}

/** Puts a step's result together. Pure, so that a replay gives the same. */
export function stepResult(material: StepMaterial): StepResult {
  const { callId, stepNumber, record, outcomes, messages } = material
  const content = contentOf(record, outcomes)
  const toolCalls = content.filter((part) => part.type === 'tool-call')
  const toolResults = content.filter((part) => part.type === 'tool-result')
  const reasoning = record.content.filter((part) => part.type === 'reasoning')
  return {
    callId,
    stepNumber,
    model: record.model,
    content,
    text: textOf(record),
    reasoning,
    reasoningText: reasoning.length === 0 ? undefined : reasoning.map((part) => part.text).join(''),
    files: content.flatMap((part) => (part.type === 'file' ? [part.file] : [])),
    sources: record.content.filter((part) => part.type === 'source'),
    toolCalls,
    staticToolCalls: toolCalls.filter((part) => part.dynamic !== true),
    dynamicToolCalls: toolCalls.filter((part) => part.dynamic === true),
    toolResults,
    staticToolResults: toolResults.filter((part) => part.dynamic !== true),
    dynamicToolResults: toolResults.filter((part) => part.dynamic === true),
    finishReason: record.finishReason,
    rawFinishReason: record.rawFinishReason,
    usage: usageFromModel(record.usage),
    warnings: record.warnings as readonly SharedV4Warning[],
    request: {},
    response: {
      id: record.response.id,
      modelId: record.response.modelId ?? record.model.modelId,
      timestamp: new Date(record.response.timestamp),
      ...(record.response.headers === undefined ? {} : { headers: record.response.headers }),
      messages,
    },
    providerMetadata: record.providerMetadata as SharedV4ProviderMetadata | undefined,
    runtimeContext: material.runtimeContext,
    toolsContext: material.toolsContext,
    ...(record.aborted === true ? { aborted: true } : {}),
  }
}

/** A model call's texts, joined. */
export function textOf(record: ModelCallRecord): string {
  return record.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

function contentOf(
  record: ModelCallRecord,
  outcomes: ReadonlyMap<string, ToolOutcome>,
): readonly StepContentPart[] {
  const calls = record.content.filter((part) => part.type === 'tool-call')
  const inputs = new Map(calls.map((call) => [call.toolCallId, call.input as JsonValue]))
  const given = record.content.map((part): StepContentPart => {
    switch (part.type) {
      case 'tool-call':
        return stepToolCall(part)
      case 'tool-result':
        return providerResult(part, inputs.get(part.toolCallId) ?? null)
      case 'file':
        return { type: 'file', file: generatedFile(part) }
      case 'text':
      case 'reasoning':
      case 'reasoning-file':
      case 'source':
      case 'custom':
      case 'tool-approval-request':
        return part
    }
  })
  const settled = calls.flatMap((call) => {
    const outcome = outcomes.get(call.toolCallId)
    return outcome === undefined ? [] : settledPart(call, outcome)
  })
  return [...given, ...settled]
}

function stepToolCall(call: RecordedToolCall): StepToolCall {
  return {
    type: 'tool-call',
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    input: call.input as JsonValue,
    ...(call.dynamic === true ? { dynamic: true } : {}),
    ...(call.decision === 'provider' ? { providerExecuted: true } : {}),
    ...(call.decision === 'invalid' ? { invalid: true } : {}),
    ...(call.error === undefined ? {} : { error: call.error }),
    ...(call.title === undefined ? {} : { title: call.title }),
    ...(call.toolMetadata === undefined ? {} : { toolMetadata: call.toolMetadata as JsonObject }),
    ...metadataOf(call),
  }
}

function providerResult(
  part: Extract<RecordedPart, { type: 'tool-result' }>,
  input: JsonValue,
): StepToolResult | StepToolError {
  const { toolCallId, toolName } = part
  const origin = { providerExecuted: true, ...(part.dynamic === true ? { dynamic: true } : {}) }
  if (part.isError === true) {
    const error = typeof part.result === 'string' ? part.result : JSON.stringify(part.result)
    return { type: 'tool-error', toolCallId, toolName, input, error, ...origin }
  }
  const output = part.result
  return {
    type: 'tool-result',
    toolCallId,
    toolName,
    input,
    output,
    ...origin,
    ...metadataOf(part),
  }
}

function settledPart(
  call: RecordedToolCall,
  outcome: ToolOutcome,
): readonly (StepToolResult | StepToolError | StepToolDenied)[] {
  const { toolCallId, toolName } = call
  const input = call.input as JsonValue
  const dynamic = call.dynamic === true ? { dynamic: true } : {}
  switch (outcome.kind) {
    case 'result': {
      const { output } = outcome
      return [{ type: 'tool-result', toolCallId, toolName, input, output, ...dynamic }]
    }
    case 'error': {
      const error = outcome.errorText
      return [{ type: 'tool-error', toolCallId, toolName, input, error, ...dynamic }]
    }
    case 'denied': {
      const why = outcome.reason === undefined ? {} : { reason: outcome.reason }
      return [{ type: 'tool-output-denied', toolCallId, toolName, input, ...why }]
    }
    case 'answered-provider':
      return []
  }
}

function generatedFile(
  part: Extract<RecordedPart, { type: 'file' | 'reasoning-file' }>,
): GeneratedFile {
  const { mediaType, data } = part
  if (data.type === 'url') return { mediaType, url: data.url }
  return { mediaType, base64: data.data, uint8Array: convertBase64ToUint8Array(data.data) }
}

function metadataOf(part: { readonly providerMetadata?: object }): {
  providerMetadata?: SharedV4ProviderMetadata
} {
  const { providerMetadata } = part
  return providerMetadata === undefined
    ? {}
    : { providerMetadata: providerMetadata as SharedV4ProviderMetadata }
}
