import type {
  AssistantContent,
  ModelMessage,
  ToolContent,
  ToolResultOutput,
} from '@ai-sdk/provider-utils'
import type { JsonValue } from '@holdfast/core'
import type { ModelCallRecord, RecordedPart, RecordedToolCall } from './model-call-record.ts'
import { isJsonObject } from './plain-json.ts'
import { toolResultPart } from './tool-outcome.ts'
import type { ToolOutcome } from './tool-outcome.ts'

type AssistantPart = Exclude<AssistantContent, string>[number]

/** The assistant's message of a model call, with all that the provider wants back as it gave it. */
export function assistantMessage(record: ModelCallRecord): readonly ModelMessage[] {
  const content = record.content.flatMap(assistantParts)
  return content.length === 0 ? [] : [{ role: 'assistant', content }]
}

/** The message with the outcomes of a model call's tools, in the model's order. */
export function toolMessage(
  record: ModelCallRecord,
  outcomes: ReadonlyMap<string, ToolOutcome>,
): readonly ModelMessage[] {
  const content: ToolContent = []
  for (const part of record.content) {
    if (part.type !== 'tool-call') continue
    const outcome = outcomes.get(part.toolCallId)
    if (outcome?.kind === 'answered-provider') {
      const { approvalId, approved, reason } = outcome
      const why = reason === undefined ? {} : { reason }
      const response = { type: 'tool-approval-response' as const, approvalId, approved, ...why }
      content.push({ ...response, providerExecuted: true })
    } else if (outcome !== undefined) {
      const result = toolResultPart(part, outcome)
      if (result !== undefined) content.push(result)
    }
  }
  return content.length === 0 ? [] : [{ role: 'tool', content }]
}

function assistantParts(part: RecordedPart): readonly AssistantPart[] {
  switch (part.type) {
    case 'text':
      if (part.text === '' && part.providerMetadata === undefined) return []
      return [{ type: 'text', text: part.text, ...optionsOf(part) }]
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text, ...optionsOf(part) }]
    case 'custom':
      return [{ type: 'custom', kind: part.kind as `${string}.${string}`, ...optionsOf(part) }]
    case 'file':
    case 'reasoning-file': {
      const { type, mediaType, data } = part
      const place = data.type === 'url' ? { type: data.type, url: new URL(data.url) } : { ...data }
      return [{ type, mediaType, data: place, ...optionsOf(part) }]
    }
    case 'tool-call': {
      const { toolCallId, toolName } = part
      const executed = part.decision === 'provider' ? { providerExecuted: true } : {}
      const input = modelInput(part)
      return [{ type: 'tool-call', toolCallId, toolName, input, ...executed, ...optionsOf(part) }]
    }
    case 'tool-result': {
      const { toolCallId, toolName } = part
      const output = providerOutput(part)
      return [{ type: 'tool-result', toolCallId, toolName, output, ...optionsOf(part) }]
    }
    case 'source':
    case 'tool-approval-request':
      return []
  }
}

/** Providers want an object, also where the model gave none. */
function modelInput(call: RecordedToolCall): JsonValue {
  const input = call.input as JsonValue
  return call.decision === 'invalid' && !isJsonObject(input) ? {} : input
}

function providerOutput(part: Extract<RecordedPart, { type: 'tool-result' }>): ToolResultOutput {
  const value = part.result as JsonValue
  if (part.isError === true) {
    return typeof value === 'string' ? { type: 'error-text', value } : { type: 'error-json', value }
  }
  return typeof value === 'string' ? { type: 'text', value } : { type: 'json', value }
}

/** What came as metadata goes back as options: ids, signatures, and whatever else the provider needs. */
function optionsOf(part: { readonly providerMetadata?: object }): {
  providerOptions?: Record<string, Record<string, JsonValue>>
} {
  const { providerMetadata } = part
  if (providerMetadata === undefined) return {}
  return { providerOptions: providerMetadata as Record<string, Record<string, JsonValue>> }
}
