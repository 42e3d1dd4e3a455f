import type { SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { convertBase64ToUint8Array } from '@ai-sdk/provider-utils'
import type { ModelMessage, ToolSet } from '@ai-sdk/provider-utils'
import type {
  ContentPart,
  GeneratedFile as AiGeneratedFile,
  GenerateTextResult,
  StepResult as AiStepResult,
  TypedToolCall,
  TypedToolError,
  TypedToolResult,
} from 'ai'
import type { JsonObject, JsonValue } from '@holdfast/core'
import type { Context } from './context.ts'
import type { ModelCallRecord, RecordedPart, RecordedToolCall } from './model-call-record.ts'
import type { ToolOutcome } from './tool-outcome.ts'
import type { OutputSpecification } from './output.ts'
import { stepPerformance } from './step-performance.ts'
import { usageFromModel } from './usage.ts'

/** A tool call in a result; its input has the type that the tool's schema gives. */
export type StepToolCall<TOOLS extends ToolSet = ToolSet> = TypedToolCall<TOOLS>

/** What a tool returned. */
export type StepToolResult<TOOLS extends ToolSet = ToolSet> = TypedToolResult<TOOLS>

/** A tool that failed, timed out or was not run; `error` is the text that the model was told. */
export type StepToolError<TOOLS extends ToolSet = ToolSet> = TypedToolError<TOOLS>

/** A file that a model made. One that the provider gave by its URL has no bytes. */
export type GeneratedFile = AiGeneratedFile & { readonly url?: string }

/**
 * A part of a step's content, in order: the model's parts, then what became of its tool calls. A call that a person or
 * a policy refused has a `tool-approval-response`.
 */
export type StepContentPart<TOOLS extends ToolSet = ToolSet> = ContentPart<TOOLS>

/** One step: a model call and what became of its tool calls. AI SDK's own type, so that its conditions take it. */
export type StepResult<TOOLS extends ToolSet = ToolSet> = AiStepResult<TOOLS, Context> & {
  /** The signal fired in this step: it holds what had come until then. */
  readonly aborted?: true
}

/** A content part before it is typed. */
interface MadePart {
  readonly type: string
  readonly dynamic?: boolean
  readonly text?: string
  readonly approvalId?: string
  readonly toolCallId?: string
  readonly toolName?: string
  readonly input?: JsonValue
  readonly output?: unknown
  readonly error?: unknown
  readonly toolCall?: MadePart | undefined
  readonly approved?: boolean
  readonly reason?: string
  readonly file?: GeneratedFile
  readonly providerMetadata?: object
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
  /** From the step's begin to its last outcome. */
  readonly stepTimeMs: number
}

/** Puts a step's result together. Pure, so that a replay gives the same. */
export function stepResult(material: StepMaterial): StepResult {
  const { callId, stepNumber, record, outcomes, messages } = material
  const content = contentOf(record, outcomes)
  const toolCalls = content.filter((part) => part.type === 'tool-call')
  const toolResults = content.filter((part) => part.type === 'tool-result')
  const reasoning = content.filter((part) => part.type === 'reasoning')
  // The record was made of what AI SDK's types describe; JSON has kept it, and this gives the types back.
  return {
    callId,
    stepNumber,
    model: record.model,
    content,
    text: textOf(record),
    reasoning: reasoning.map(reasoningPart),
    reasoningText: reasoning.length === 0 ? undefined : reasoning.map((part) => part.text).join(''),
    files: content.flatMap((part) => (part.type === 'file' ? [part.file] : [])),
    sources: content.filter((part) => part.type === 'source'),
    toolCalls,
    staticToolCalls: toolCalls.filter((part) => part.dynamic !== true),
    dynamicToolCalls: toolCalls.filter((part) => part.dynamic === true),
    toolResults,
    staticToolResults: toolResults.filter((part) => part.dynamic !== true),
    dynamicToolResults: toolResults.filter((part) => part.dynamic === true),
    finishReason: record.finishReason,
    rawFinishReason: record.rawFinishReason,
    usage: usageFromModel(record.usage),
    performance: stepPerformance(record, outcomes, material.stepTimeMs),
    warnings: record.warnings,
    request: record.request ?? {},
    response: {
      id: record.response.id,
      modelId: record.response.modelId ?? record.model.modelId,
      timestamp: new Date(record.response.timestamp),
      ...(record.response.headers === undefined ? {} : { headers: record.response.headers }),
      ...(record.response.body === undefined ? {} : { body: record.response.body }),
      messages,
    },
    providerMetadata: record.providerMetadata,
    runtimeContext: material.runtimeContext,
    toolsContext: material.toolsContext,
    ...(record.aborted === true ? { aborted: true as const } : {}),
  } as unknown as StepResult
}

function reasoningPart(part: MadePart): object {
  const { text = '', providerMetadata } = part
  return {
    type: 'reasoning',
    text,
    ...(providerMetadata === undefined ? {} : { providerOptions: providerMetadata }),
  }
}

type Gathered = Pick<
  GenerateTextResult<ToolSet, Context, OutputSpecification>,
  | 'content'
  | 'files'
  | 'sources'
  | 'toolCalls'
  | 'staticToolCalls'
  | 'dynamicToolCalls'
  | 'toolResults'
  | 'staticToolResults'
  | 'dynamicToolResults'
>

/** What all steps had, in their order. */
export function gathered(steps: readonly StepResult[]): Gathered {
  return {
    content: steps.flatMap((step) => step.content),
    files: steps.flatMap((step) => step.files),
    sources: steps.flatMap((step) => step.sources),
    toolCalls: steps.flatMap((step) => step.toolCalls),
    staticToolCalls: steps.flatMap((step) => step.staticToolCalls),
    dynamicToolCalls: steps.flatMap((step) => step.dynamicToolCalls),
    toolResults: steps.flatMap((step) => step.toolResults),
    staticToolResults: steps.flatMap((step) => step.staticToolResults),
    dynamicToolResults: steps.flatMap((step) => step.dynamicToolResults),
  }
}

/** A model call's texts, joined. */
export function textOf(record: ModelCallRecord): string {
  return record.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

function contentOf(
  record: ModelCallRecord,
  outcomes: ReadonlyMap<string, ToolOutcome>,
): readonly MadePart[] {
  const calls = record.content.filter((part) => part.type === 'tool-call')
  const inputs = new Map(calls.map((call) => [call.toolCallId, call.input as JsonValue]))
  const given = record.content.map((part): MadePart => {
    switch (part.type) {
      case 'tool-call':
        return stepToolCall(part)
      case 'tool-result':
        return providerResult(part, inputs.get(part.toolCallId) ?? null)
      case 'file':
        return { type: 'file', file: generatedFile(part), ...metadataOf(part) }
      case 'reasoning-file':
        return { type: 'reasoning-file', file: generatedFile(part), ...metadataOf(part) }
      case 'tool-approval-request': {
        const { toolCallId, approvalId } = part
        const toolCall = callOf(calls, toolCallId)
        return { type: 'tool-approval-request', approvalId, toolCallId, toolCall }
      }
      case 'text':
      case 'reasoning':
      case 'source':
      case 'custom':
        return part
    }
  })
  const settled = calls.flatMap((call) => {
    const outcome = outcomes.get(call.toolCallId)
    return outcome === undefined ? [] : settledPart(call, outcome)
  })
  return [...given, ...settled]
}

function callOf(calls: readonly RecordedToolCall[], toolCallId: string): MadePart | undefined {
  const call = calls.find((known) => known.toolCallId === toolCallId)
  return call === undefined ? undefined : stepToolCall(call)
}

function stepToolCall(call: RecordedToolCall): MadePart {
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
): MadePart {
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

function settledPart(call: RecordedToolCall, outcome: ToolOutcome): readonly MadePart[] {
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
      const { approvalId, reason } = outcome
      const why = reason === undefined ? {} : { reason }
      const toolCall = stepToolCall(call)
      const response = { type: 'tool-approval-response', approvalId, toolCall, approved: false }
      return [{ ...response, ...why }]
    }
    case 'answered-provider':
      return []
  }
}

function generatedFile(
  part: Extract<RecordedPart, { type: 'file' | 'reasoning-file' }>,
): GeneratedFile {
  const { mediaType, data } = part
  if (data.type === 'url')
    return { mediaType, base64: '', uint8Array: new Uint8Array(), url: data.url }
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
