// A loop whose history does not grow.
import type { JsonValue, LoopTurn, WorkflowContext } from '@holdfast/core'
import { runCode } from './context.ts'
import type { Execution } from './execution.ts'
import type { Scope } from './scope.ts'

/** What a loop is asked for with. */
export interface LoopRequest<State, Result, Item> {
  readonly key: string
  readonly initial: { readonly state: State; readonly items?: readonly Item[] }
  readonly body: (
    context: WorkflowContext,
    turn: {
      readonly state: State
      readonly iteration: number
      readonly items: readonly Item[]
      append(item: Item): void
    },
  ) => Promise<LoopTurn<State, Result>>
}

/** Runs a loop, each iteration in a scope of its own. */
export async function loopOf<
  State extends JsonValue,
  Result extends JsonValue | void,
  Item extends JsonValue,
>(execution: Execution, scope: Scope, request: LoopRequest<State, Result, Item>): Promise<Result> {
  const path = scope.operationPath(request.key)
  let { state } = request.initial
  const items: Item[] = [...(request.initial.items ?? [])]
  for (let iteration = 0; ; iteration += 1) {
    const turn = { state, iteration, items, append: (item: Item) => void items.push(item) }
    const next = await runCode(execution, scope.iteration(path, iteration), (context) =>
      request.body(context, turn),
    )
    if ('done' in next) return next.result
    state = next.state
  }
}
