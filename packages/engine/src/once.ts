// What becomes of a `once` step whose body began and left no result.
import type { JsonObject, JsonValue } from '@holdfast/core'
import { isJsonObject } from '@holdfast/json'
import { interruptIdOf, stepIdOf } from '@holdfast/workflow'
import type { JournalEntryOf } from '@holdfast/workflow'
import type { OperationHost } from './operation-host.ts'
import { interruptOpened } from './run-moves.ts'
import type { Move } from './run-moves.ts'

/** What a person answers when asked what became of a step. */
export const outcomeSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['outcome'],
  properties: {
    outcome: { enum: ['done', 'not_done', 'give_up'] },
    /** For `done`: what the step gives. */
    value: true,
  },
}

/** An answer, understood. */
export type Outcome =
  | { readonly kind: 'done'; readonly value: JsonValue | undefined }
  | { readonly kind: 'not_done' }
  | { readonly kind: 'give_up' }

/** Understands an answer that fits {@link outcomeSchema}. */
export function outcomeOf(answer: JsonValue): Outcome {
  const { outcome, value } = isJsonObject(answer)
    ? answer
    : { outcome: 'give_up', value: undefined }
  if (outcome === 'done') return { kind: 'done', value }
  return { kind: outcome === 'not_done' ? 'not_done' : 'give_up' }
}

/** Whether a body says of its own failure that it had no effect: `notExecuted: true` on the error. */
export function isNotExecuted(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'notExecuted' in error &&
    error.notExecuted === true
  )
}

/** The question what became of a step's body. */
export function onceQuestion(
  host: OperationHost,
  step: { readonly path: string; readonly label: string; readonly attempt: number },
): { readonly entry: JournalEntryOf<'interrupt-opened'>; readonly move: Move } {
  const at = host.writer.time()
  const interruptId = interruptIdOf(host.runId, `${host.originOf(step.path)}?${step.attempt}`)
  const reason = `Step ${step.label} had begun, and nobody knows what became of it. Was it done?`
  const payload: JsonObject = {
    kind: 'step-outcome',
    step: step.label,
    stepId: stepIdOf(host.runId, step.path),
    idempotencyKey: stepIdOf(host.originRunId, host.originOf(step.path)),
  }
  return {
    entry: {
      kind: 'interrupt-opened',
      at,
      path: step.path,
      label: step.label,
      interruptId,
      answer: 'person',
      reason,
      schema: outcomeSchema,
      payload: { json: payload },
    },
    move: interruptOpened({
      id: interruptId,
      key: step.label,
      answer: 'person',
      reason,
      schema: outcomeSchema,
      payload,
      openedAt: at,
    }),
  }
}
