import type { StepResult } from './step-result.ts'

/** Whether the loop ends after the steps so far. A promise is awaited. */
export type StopCondition = (options: {
  readonly steps: readonly StepResult[]
}) => PromiseLike<boolean> | boolean

/** True from `count` steps on. */
export function isStepCount(count: number): StopCondition {
  return ({ steps }) => steps.length >= count
}

/** True when the last step called one of these tools. */
export function hasToolCall(...toolNames: readonly string[]): StopCondition {
  return ({ steps }) =>
    steps.at(-1)?.toolCalls.some((call) => toolNames.includes(call.toolName)) ?? false
}

/** Never true: the loop ends when the model calls no tool. */
export function isLoopFinished(): StopCondition {
  return () => false
}

/** Whether any condition holds. All are asked, one after another. */
export async function isAnyMet(
  conditions: readonly StopCondition[],
  steps: readonly StepResult[],
): Promise<boolean> {
  let met = false
  for (const condition of conditions) {
    if (await condition({ steps })) met = true
  }
  return met
}
