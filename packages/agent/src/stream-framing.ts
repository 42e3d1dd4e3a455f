import type { JsonObject, JsonValue, StreamFraming } from '@holdfast/core'
import { isJsonObject } from './plain-json.ts'

/**
 * The ends of an agent's streams, as a chat page wants them: `start` with the run's id as message id first; last, by how the stream
 * ended, `finish` (completed; `tool-calls` when the run waits for answers), `abort`, or `error`: one chunk that ends
 * every reader, and nothing after it.
 *
 * An agent that is part of another workflow needs the same; `agentWorkflow` has it.
 */
export function agentStreamFraming(): StreamFraming {
  return {
    opening: ({ runId }) => [{ type: 'start', messageId: runId }],
    closing({ end, output, error }): readonly JsonObject[] {
      switch (end) {
        case 'completed':
          return [{ type: 'finish', finishReason: finishReasonOf(output) }]
        case 'interrupted':
          return [{ type: 'finish', finishReason: 'tool-calls' }]
        case 'cancelled':
          return [{ type: 'abort' }]
        case 'failed':
          return [{ type: 'error', errorText: error?.message ?? 'An error occurred.' }]
      }
    },
  }
}

function finishReasonOf(output: JsonValue | undefined): string {
  const reason = isJsonObject(output) ? output['finishReason'] : undefined
  return typeof reason === 'string' ? reason : 'stop'
}
