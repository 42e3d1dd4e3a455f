import Type from 'typebox'
import type { Operations } from './operations.ts'
import { isJsonObject } from './plain-json.ts'

/** How many more steps an answer may allow at once. */
const mostAtOnce = 1_000

/** What is answered when a run has used up its steps. 0 ends it. */
export const BudgetAnswer = Type.Object(
  { extend: Type.Integer({ minimum: 0, maximum: mostAtOnce }) },
  { additionalProperties: false },
)

/** Asks how many more steps there shall be; 0 where nobody can be asked. */
export async function extendBudget(steps: number, operations: Operations): Promise<number> {
  const { ask } = operations
  if (ask === undefined) return 0
  const answer = await ask({
    key: `budget ${steps}`,
    reason: `The agent has taken ${steps} steps. How many more may it take?`,
    payload: { kind: 'budget', steps },
    schema: BudgetAnswer,
    parts: (id) => [{ type: 'budget-request', id, steps }],
  })
  const extend = isJsonObject(answer.value) ? answer.value['extend'] : undefined
  return typeof extend === 'number' && extend > 0 ? Math.min(extend, mostAtOnce) : 0
}
