import type { RunId, SessionId } from './ids.ts'
import type { RunStatus } from './run.ts'

/** What happened in a run, as history shows it. Metadata only, with fixed messages. */
export type ActivityKind =
  | 'run_started'
  | 'step_completed'
  | 'step_failed'
  | 'run_interrupted'
  | 'run_resumed'
  | 'run_waiting'
  | 'child_started'
  | 'child_ended'
  | 'run_cancel_requested'
  | 'run_completed'
  | 'run_cancelled'
  | 'run_failed'

/** One activity. A pure function of the journal: it never changes once read. */
export interface Activity {
  readonly eventId: string
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly definition: { readonly name: string; readonly version: string }
  readonly revision: number
  readonly kind: ActivityKind
  readonly status: RunStatus
  readonly stepId?: string
  /** At most 128 bytes. */
  readonly stepLabel?: string
  readonly completedSteps?: number
  readonly totalSteps?: number
  /** At most 512 bytes; one of a fixed set. */
  readonly message?: string
  /** Milliseconds since the epoch. */
  readonly occurredAt: number
}

/** Which activities. Both cursors together lose nothing and repeat nothing. */
export interface ActivityPageRequest {
  /** The first revision to consider: inclusive. Default 0. */
  readonly afterRevision?: number
  /** Within `afterRevision`: entries up to and including this one are skipped. */
  readonly afterEventId?: string
  /** 1..100. Default 50. */
  readonly limit?: number
}

/** A page of history. Cursors are absent at its end. */
export interface ActivityPage {
  readonly activities: readonly Activity[]
  readonly nextRevision?: number
  readonly nextEventId?: string
  /** How many revisions the journal has: where a reader that waits for more goes on. */
  readonly tailRevision: number
}
