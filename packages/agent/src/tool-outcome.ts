import type { ToolResultOutput, ToolResultPart } from '@ai-sdk/provider-utils'
import type { JsonValue } from '@holdfast/core'
import type { RecordedToolCall } from './model-call-record.ts'
import { plainJson } from './plain-json.ts'

/** What became of a tool call of a step, by whatever way: executed, refused, answered by the client. */
export type ToolOutcome =
  | {
      readonly kind: 'result'
      readonly output: unknown
      /** What `toModelOutput` made of it. */
      readonly modelOutput?: ToolResultOutput
      /** How long the tool took, in milliseconds. Absent where it was not executed here. */
      readonly executionMs?: number
    }
  | { readonly kind: 'error'; readonly errorText: string; readonly executionMs?: number }
  | { readonly kind: 'denied'; readonly approvalId: string; readonly reason?: string }
  /** A provider's own tool, about which a person was asked. */
  | {
      readonly kind: 'answered-provider'
      readonly approvalId: string
      readonly approved: boolean
      readonly reason?: string
    }

/** What the model is told of an outcome. Absent when the provider has the result itself. */
export function toolResultPart(
  call: RecordedToolCall,
  outcome: ToolOutcome,
): ToolResultPart | undefined {
  const output = modelOutputOf(outcome)
  if (output === undefined) return undefined
  const { toolCallId, toolName } = call
  return { type: 'tool-result', toolCallId, toolName, output }
}

function modelOutputOf(outcome: ToolOutcome): ToolResultOutput | undefined {
  switch (outcome.kind) {
    case 'result':
      return outcome.modelOutput ?? plainOutput(outcome.output)
    case 'error':
      return { type: 'error-text', value: outcome.errorText }
    case 'denied':
      return {
        type: 'execution-denied',
        ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
      }
    case 'answered-provider':
      return undefined
  }
}

/** A text stays a text; anything else becomes JSON. */
function plainOutput(output: unknown): ToolResultOutput {
  if (typeof output === 'string') return { type: 'text', value: output }
  const value: JsonValue = plainJson(output) ?? null
  return { type: 'json', value }
}
