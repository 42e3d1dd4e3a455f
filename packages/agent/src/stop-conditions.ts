import type { ToolSet } from '@ai-sdk/provider-utils'
import type { StepResult } from './step-result.ts'

/** Whether the loop ends after the steps so far. A promise is awaited. */
export type StopCondition<TOOLS extends ToolSet = ToolSet> = (options: {
  readonly steps: StepResult<TOOLS>[]
}) => PromiseLike<boolean> | boolean

/** A condition that serves agents with any tools, and AI SDK's own. */
export type StepsCondition = (options: {
  readonly steps: readonly {
    readonly toolCalls: readonly { readonly toolName: string }[]
  }[]
}) => boolean

/** True from `count` steps on. */
export function isStepCount(count: number): StepsCondition {
  return ({ steps }) => steps.length >= count
}

/** True when the last step called one of these tools. */
export function hasToolCall(...toolNames: readonly string[]): StepsCondition {
  return ({ steps }) =>
    steps.at(-1)?.toolCalls.some((call) => toolNames.includes(call.toolName)) ?? false
}

/** Never true: the loop ends when the model calls no tool. */
export function isLoopFinished(): StepsCondition {
  return () => false
}

/** Whether any condition holds. All are asked, one after another. */
export async function isAnyMet(
  conditions: readonly StopCondition[],
  steps: readonly StepResult[],
): Promise<boolean> {
  let met = false
  for (const condition of conditions) {
    if (await condition({ steps: [...steps] })) met = true
  }
  return met
}
