import { isActive, type RunView } from './run-view.ts'

/** A run and the runs that it started. */
export interface RunNode {
  readonly run: RunView
  readonly children: readonly RunNode[]
}

/** Arranges runs for reading: what waits for a person, what is going on, what is over; each the newest first, children below. */
export function runTree(runs: readonly RunView[]): readonly RunNode[] {
  const ids = new Set(runs.map(({ id }) => id))
  const parentOf = ({ parentId }: RunView): string | undefined =>
    parentId !== undefined && ids.has(parentId) ? parentId : undefined

  function nodesBelow(
    parentId: string | undefined,
    above: ReadonlySet<string>,
  ): readonly RunNode[] {
    return runs
      .filter((run) => parentOf(run) === parentId && !above.has(run.id))
      .toSorted(compare)
      .map((run) => ({ run, children: nodesBelow(run.id, new Set([...above, run.id])) }))
  }

  return nodesBelow(undefined, new Set())
}

function compare(one: RunView, other: RunView): number {
  const byUrgency = urgency(one) - urgency(other)
  if (byUrgency !== 0) return byUrgency
  return other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1)
}

function urgency(run: RunView): number {
  if (run.questions.length > 0) return 0
  return isActive(run) ? 1 : 2
}
