// #region contracts
import { HoldfastError, isTransitionAllowed, sessionIdFor } from '@holdfast/core'
import type { RunStatus } from '@holdfast/core'

/** A user's session: the same id for the same name, on every machine. */
export const session = sessionIdFor('ann')

/** Refuses what the status machine does not know. Callers branch on the error's code. */
export function assertMove(runId: string, from: RunStatus, to: RunStatus): void {
  if (isTransitionAllowed(from, to)) return
  throw new HoldfastError('run_conflict', {
    message: `Run ${runId} cannot go from ${from} to ${to}.`,
    details: { run_id: runId },
  })
}
// #endregion contracts
