import { runProgress } from '@holdfast/core'
import type { JsonObject, StoredRun } from '@holdfast/core'
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

/** How far a run has come: steps as the journal counts them, and what the definition says itself. */
export function progressView(run: StoredRun): JsonObject | undefined {
  const progress = runProgress(run)
  if (progress === undefined) return undefined
  const { completedSteps, totalSteps, completed, total, message } = progress
  return {
    ...(completedSteps === undefined ? {} : { completed_steps: completedSteps }),
    ...(totalSteps === undefined ? {} : { total_steps: totalSteps }),
    ...(completed === undefined ? {} : { completed }),
    ...(total === undefined ? {} : { total }),
    ...(message === undefined ? {} : { message: boundedText(message, messageBytes) }),
  }
}
