// A model may not act on the run that it acts in, nor on one that waits for it.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { Actor, StoredRun } from '@holdfast/core'
import type { SessionRuns } from './session-runs.ts'

const ancestorsWalked = 64

/** @throws `own_run` when a model acts on its own run or an ancestor of it */
export async function assertNotOwn(runs: SessionRuns, by: Actor, target: StoredRun): Promise<void> {
  if (by.kind !== 'model') return
  let current = by.runId
  for (let step = 0; current !== undefined && step < ancestorsWalked; step += 1) {
    if (current === target.record.id) {
      throw new HoldfastError(ErrorCode.ownRun, {
        message: 'A model cannot resume or cancel the run that it acts in, or an ancestor of it.',
        details: { run_id: current },
      })
    }
    const run = await runs.services.store.run(runs.sessionId, current)
    current = run?.record.childOf ?? run?.record.parentRunId
  }
}
