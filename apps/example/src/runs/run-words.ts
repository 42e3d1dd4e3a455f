import { humanName } from './form-model.ts'
import type { RunStatus, RunView } from './run-view.ts'

/** A run's definition as a person reads it. */
export function runTitle({ definition }: Pick<RunView, 'definition'>): string {
  return humanName(definition)
}

const waits: Readonly<Record<string, string>> = {
  sleep: 'pausing',
  message: 'waits for a message',
  child: 'waits for a part of it',
  retry: 'will try again',
  code: 'waits for a newer version of the app',
}

const words: Readonly<Record<RunStatus, string>> = {
  pending: 'starting',
  running: 'running',
  interrupted: 'waits for you',
  completed: 'completed',
  cancelled: 'cancelled',
  failed: 'failed',
}

/** How a run is, in a few words. */
export function statusWords(
  run: Pick<RunView, 'status' | 'waitingFor' | 'isCancelRequested'>,
): string {
  const { status, waitingFor, isCancelRequested } = run
  const isEnded = status === 'completed' || status === 'cancelled' || status === 'failed'
  if (isCancelRequested && !isEnded) return 'stopping'
  const wait = status === 'running' && waitingFor !== undefined ? waits[waitingFor] : undefined
  return wait === undefined ? words[status] : `running, ${wait}`
}

/** How far a run is, in percent; `undefined` when nobody knows. */
export function progressPercent({ progress }: Pick<RunView, 'progress'>): number | undefined {
  if (progress?.total === undefined) return undefined
  return Math.round((Math.min(progress.completed, progress.total) / progress.total) * 100)
}

const activities: Readonly<Record<string, string>> = {
  run_started: 'Started',
  step_completed: 'Done',
  step_failed: 'Failed',
  run_interrupted: 'Asked a person',
  run_resumed: 'Answered',
  run_waiting: 'Waiting',
  child_started: 'Started a part',
  child_ended: 'A part has ended',
  run_cancel_requested: 'Asked to stop',
  run_completed: 'Completed',
  run_cancelled: 'Cancelled',
  run_failed: 'Failed',
}

/** What an activity says: "Done: load order". */
export function activityWords(kind: string, label: string | undefined): string {
  const word = activities[kind] ?? humanName(kind)
  return label === undefined ? word : `${word}: ${label}`
}
