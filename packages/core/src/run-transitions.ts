import type { RunStatus } from './run.ts'

/** From each status, the statuses a run may move to. Every status may also stay as it is. */
const moves: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  pending: ['running', 'cancelled', 'failed'],
  running: ['interrupted', 'completed', 'cancelled', 'failed'],
  interrupted: ['running', 'cancelled', 'failed'],
  completed: [],
  cancelled: [],
  failed: [],
}

/** Whether a run may move from one status to another; staying is always allowed. */
export function isTransitionAllowed(from: RunStatus, to: RunStatus): boolean {
  return from === to || moves[from].includes(to)
}

/** Whether a run with this status has ended for good. */
export function isTerminal(status: RunStatus): boolean {
  return moves[status].length === 0
}
