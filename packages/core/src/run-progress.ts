import type { JsonObject, JsonValue } from './json-value.ts'
import type { StoredRun } from './store.ts'

/** How far a run has come. What is not known is absent. */
export interface RunProgress {
  /** Steps that the journal counts as completed. */
  readonly completedSteps?: number
  /** Where the definition declares its steps. */
  readonly totalSteps?: number
  /** What the definition says itself, with `ctx.progress`. */
  readonly completed?: number
  readonly total?: number
  readonly message?: string
}

/**
 * Reads how far a run has come from its journal's head, so it is live.
 *
 * An engine writes it there as `{ completed_steps, total_steps?, progress?: { completed, total?, message? } }`.
 * Absent when the head says nothing of it.
 */
export function runProgress({ head }: StoredRun): RunProgress | undefined {
  const own = head?.['progress']
  const said = isObject(own) ? own : {}
  const message = said['message']
  const progress: RunProgress = {
    ...count('completedSteps', head?.['completed_steps']),
    ...count('totalSteps', head?.['total_steps']),
    ...count('completed', said['completed']),
    ...count('total', said['total']),
    ...(typeof message === 'string' && message !== '' ? { message } : {}),
  }
  return Object.keys(progress).length === 0 ? undefined : progress
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function count<Name extends string>(
  name: Name,
  value: JsonValue | undefined,
): { readonly [Key in Name]?: number } {
  const isCount = typeof value === 'number' && Number.isFinite(value) && value >= 0
  return isCount ? ({ [name]: value } as { readonly [Key in Name]?: number }) : {}
}
