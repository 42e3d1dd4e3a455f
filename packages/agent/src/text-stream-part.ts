import { convertToBase64, convertBase64ToUint8Array } from '@ai-sdk/provider-utils'
import type { LanguageModelV4File, LanguageModelV4ReasoningFile } from '@ai-sdk/provider'
import type { ToolSet } from '@ai-sdk/provider-utils'
import type { TextStreamPart } from 'ai'
import type { ModelCallStreamPart } from './model-call-part.ts'
import type { StepResult } from './step-result.ts'
import type { FinishReason, Usage } from './usage.ts'

/** What the parts of a live stream need to know beside the loop's parts. */
export interface LiveCall {
  /** The step that has just ended. */
  readonly lastStep: () => StepResult | undefined
  readonly totalUsage: () => Usage
}

/** A part as AI SDK's `result.stream` has it. */
export type LivePart = TextStreamPart<ToolSet>

/** Makes a converter of the loop's parts, for one call. It gives nothing for what AI SDK's streams do not have. */
export function textStreamParts(
  call: LiveCall,
): (part: ModelCallStreamPart) => readonly LivePart[] {
  const inputs = new Map<string, Extract<ModelCallStreamPart, { type: 'tool-call' }>>()
  const requests = new Map<string, string>()
  let isStepPending = false
  let end: Extract<ModelCallStreamPart, { type: 'model-call-end' }> | undefined
  const one = (part: ModelCallStreamPart): LivePart | undefined => {
    switch (part.type) {
      case 'tool-call':
        inputs.set(part.toolCallId, part)
        return part as LivePart
      case 'tool-result':
        return { ...part, input: inputs.get(part.toolCallId)?.input }
      case 'tool-error': {
        const { errorText, ...rest } = part
        return { ...rest, input: inputs.get(part.toolCallId)?.input, error: errorText }
      }
      case 'tool-approval-request': {
        const { toolCallId, ...rest } = part
        requests.set(part.approvalId, toolCallId)
        return { ...rest, toolCall: inputs.get(toolCallId) } as LivePart
      }
      case 'tool-approval-response': {
        const toolCall = inputs.get(requests.get(part.approvalId) ?? '')
        return { ...part, toolCall } as LivePart
      }
      case 'file':
      case 'reasoning-file':
        return filePart(part)
      case 'model-call-end':
        end = part
        return undefined
      case 'finish-step':
        return finishStep(call.lastStep(), end)
      case 'finish':
        return {
          type: 'finish',
          finishReason: part.finishReason,
          rawFinishReason: end?.rawFinishReason,
          totalUsage: call.totalUsage(),
        }
      case 'start':
        return { type: 'start' }
      case 'start-step':
      case 'reset-step':
      case 'model-call-start':
      case 'model-call-response-metadata':
      case 'steering-message':
      case 'budget-request':
        return undefined
      case 'text-start':
      case 'text-delta':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
      case 'tool-output-denied':
      case 'source':
      case 'custom':
      case 'raw':
      case 'error':
      case 'abort':
        return part as LivePart
    }
  }
  return (part) => {
    if (part.type === 'start-step') {
      isStepPending = true
      return []
    }
    // AI SDK's `start-step` has the warnings, which come right behind ours.
    const warnings = part.type === 'model-call-start' ? [...part.warnings] : []
    const before: readonly LivePart[] = isStepPending
      ? [{ type: 'start-step', request: {}, warnings }]
      : []
    isStepPending = false
    const converted = one(part)
    return converted === undefined ? before : [...before, converted]
  }
}

function finishStep(
  step: StepResult | undefined,
  end: { readonly finishReason: FinishReason; readonly usage: Usage } | undefined,
): LivePart | undefined {
  if (step === undefined || end === undefined) return undefined
  const { messages: _messages, body: _body, ...response } = step.response
  const { usage, performance, finishReason, rawFinishReason, providerMetadata } = step
  return {
    type: 'finish-step',
    response,
    usage,
    performance,
    finishReason,
    rawFinishReason,
    providerMetadata,
  }
}

function filePart(part: LanguageModelV4File | LanguageModelV4ReasoningFile): LivePart {
  const { type, mediaType, data, providerMetadata } = part
  const metadata = providerMetadata === undefined ? {} : { providerMetadata }
  if (data.type === 'url') {
    const url = data.url.toString()
    const file = { mediaType, base64: '', uint8Array: new Uint8Array(), url }
    return { type, file, ...metadata }
  }
  const base64 = convertToBase64(data.data)
  const file = { mediaType, base64, uint8Array: convertBase64ToUint8Array(base64) }
  return { type, file, ...metadata }
}
