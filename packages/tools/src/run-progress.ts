import type { JsonObject, JsonValue, StoredRun } from '@holdfast/core'
import { isJsonObject } from '@holdfast/json'
import { boundedText } from './fit-result.ts'

const messageBytes = 512

/** What `progress` of a result may hold. */
export const progressSchema: JsonObject = {
  type: 'object',
  properties: {
    completed_steps: { type: 'integer', minimum: 0 },
    total_steps: { type: 'integer', minimum: 0 },
    completed: { type: 'number', minimum: 0 },
    total: { type: 'number', minimum: 0 },
    message: { type: 'string' },
  },
  additionalProperties: false,
}

/**
 * How far a run has come: steps as the journal counts them, and what the definition says itself.
 *
 * Read from the journal's head, so it is live. Absent when the head says nothing of it.
 */
export function progressOf(run: StoredRun): JsonObject | undefined {
  const head = run.head ?? {}
  const own = head['progress']
  const said = own !== undefined && isJsonObject(own) ? own : {}
  const message = said['message']
  const progress = {
    ...count('completed_steps', head['completedSteps']),
    ...count('total_steps', head['totalSteps']),
    ...count('completed', said['completed']),
    ...count('total', said['total']),
    ...(typeof message === 'string' ? { message: boundedText(message, messageBytes) } : {}),
  }
  return Object.keys(progress).length === 0 ? undefined : progress
}

function count(name: string, value: JsonValue | undefined): JsonObject {
  return typeof value === 'number' && value >= 0 ? { [name]: value } : {}
}
