import type { Activity, ActivityKind, RunStatus } from '@holdfast/core'
import { truncateUtf8 } from '@holdfast/json'
import { eventIdOf, stepIdOf } from './event-id.ts'
import type { JournalEntry, JournalRevision } from './journal-entry.ts'

/** Whose journal it is, and what is frozen at its seed. */
export interface ProjectedRun {
  readonly sessionId: string
  readonly runId: string
  readonly definition: { readonly name: string; readonly version: string }
  readonly totalSteps?: number
}

const labelBytes = 128

/** What an entry shows in history, if anything. */
interface Shown {
  readonly kind: ActivityKind
  readonly status: RunStatus
  readonly message: string
  readonly path?: string
  readonly label?: string
  readonly ordinal?: number
}

/**
 * Projects one revision of a journal to its activities, in order.
 *
 * Pure: the same revision gives the same bytes for ever. Messages are of a fixed set; labels lose
 * control characters and are cut at 128 bytes. Nothing of inputs, state, values or errors appears.
 */
export function projectActivities(
  run: ProjectedRun,
  revision: JournalRevision,
): readonly Activity[] {
  let completed =
    revision.completedSteps -
    revision.entries.filter((entry) => entry.kind === 'step-completed').length
  const activities: Activity[] = []
  for (const entry of revision.entries) {
    if (entry.kind === 'step-completed') completed += 1
    const shown = showEntry(entry)
    if (shown !== undefined) {
      activities.push(activityOf(run, revision.revision, shown, entry.at, completed))
    }
  }
  return activities
}

function activityOf(
  run: ProjectedRun,
  revision: number,
  shown: Shown,
  occurredAt: number,
  completed: number,
): Activity {
  const { sessionId, runId, definition, totalSteps } = run
  const stepId = shown.path === undefined ? undefined : stepIdOf(runId, shown.path)
  return {
    eventId: eventIdOf({
      sessionId,
      runId,
      kind: shown.kind,
      revision,
      ...(stepId === undefined ? {} : { stepId }),
      ...(shown.ordinal === undefined ? {} : { ordinal: shown.ordinal }),
    }),
    sessionId,
    runId,
    definition,
    revision,
    kind: shown.kind,
    status: shown.status,
    ...(stepId === undefined ? {} : { stepId, stepLabel: cleanLabel(shown.label ?? '') }),
    ...(completed === 0 ? {} : { completedSteps: completed }),
    ...(totalSteps === undefined ? {} : { totalSteps: Math.max(totalSteps, completed) }),
    message: shown.message,
    occurredAt,
  }
}

function showEntry(entry: JournalEntry): Shown | undefined {
  switch (entry.kind) {
    case 'run-seeded':
      return { kind: 'run_started', status: 'running', message: 'Workflow started' }
    case 'step-completed':
      return {
        kind: 'step_completed',
        status: 'running',
        message: 'Workflow step completed',
        path: entry.path,
        label: entry.label,
      }
    case 'step-attempted':
      return {
        kind: 'step_failed',
        status: 'running',
        message: 'Workflow step failed, will be tried again',
        path: entry.path,
        label: entry.label,
        ordinal: entry.attempt,
      }
    case 'step-failed':
      return {
        kind: 'step_failed',
        status: 'running',
        message: 'Workflow step failed',
        path: entry.path,
        label: entry.label,
        ordinal: entry.attempt,
      }
    case 'run-interrupted':
      return { kind: 'run_interrupted', status: 'interrupted', message: 'Workflow interrupted' }
    case 'interrupt-answered':
      return {
        kind: 'run_resumed',
        status: 'running',
        message: 'Workflow resumed',
        path: entry.path,
        label: entry.label,
      }
    case 'timer-set':
    case 'receive-opened':
      return {
        kind: 'run_waiting',
        status: 'running',
        message: 'Workflow waiting',
        path: entry.path,
        label: entry.label,
        ordinal: entry.kind === 'timer-set' ? 0 : 1,
      }
    case 'child-started':
      return {
        kind: 'child_started',
        status: 'running',
        message: 'Workflow child started',
        path: entry.path,
        label: entry.label,
      }
    case 'child-ended':
      return {
        kind: 'child_ended',
        status: 'running',
        message: 'Workflow child ended',
        path: entry.path,
        label: entry.label,
      }
    case 'cancel-requested':
      return {
        kind: 'run_cancel_requested',
        status: 'running',
        message: 'Workflow cancel requested',
      }
    case 'run-ended':
      return ended(entry.status)
    case 'step-begun':
    case 'interrupt-opened':
    case 'interrupt-withdrawn':
    case 'timer-fired':
    case 'timer-withdrawn':
    case 'message-arrived':
    case 'output-written':
    case 'operation-withdrawn':
    case 'cancel-delivered':
    case 'progress-made':
    case 'artifact-added':
    case 'run-migrated':
    case 'loop-checkpoint':
    case 'loop-ended':
      return undefined
  }
}

function ended(status: 'completed' | 'cancelled' | 'failed'): Shown {
  switch (status) {
    case 'completed':
      return { kind: 'run_completed', status, message: 'Workflow completed' }
    case 'cancelled':
      return { kind: 'run_cancelled', status, message: 'Workflow cancelled' }
    case 'failed':
      return { kind: 'run_failed', status, message: 'Workflow failed' }
  }
}

/** A label without control characters, trimmed, at most 128 bytes. */
function cleanLabel(label: string): string {
  return truncateUtf8(label.replaceAll(/\p{Cc}/gu, '').trim(), labelBytes)
}
