// The supervisor port: what starts, answers, steers, cancels and tells of the runs of one session.
//
// V1. A call that resolves was made durable first; a call that rejects changed nothing, unless its
//     code is `store_outcome_unknown`, whose details name the run.
// V2. `with` is written in the same commit as the call's own write, or not at all.
// V3. No read waits for an execution.
import type { RunId, SessionId, StreamId } from './ids.ts'
import type { JsonValue } from './json-value.ts'
import type { ActivityPage, ActivityPageRequest } from './activity.ts'
import type { ArtifactNamespace } from './run.ts'
import type { StoredRun, UnfencedWrite } from './store.ts'

/** A run about to be started. The caller mints the ids. */
export interface RunDraft {
  readonly id: RunId
  readonly definition: { readonly name: string; readonly version: string }
  readonly parentRunId?: RunId
  readonly executionId?: string
  readonly artifactNamespace?: ArtifactNamespace
}

/** Who acts. A model is refused where a person is asked, and on its own run and its ancestors. */
export type Actor =
  | { readonly kind: 'host' }
  | { readonly kind: 'person' }
  | { readonly kind: 'model'; readonly runId?: RunId }

/** What every call of a supervisor that writes may carry. */
export interface SupervisorCallOptions {
  readonly with?: readonly UnfencedWrite[]
  /** Gives up waiting; what was handed to the store may still become durable. */
  readonly signal?: AbortSignal
}

/** How a start behaves. */
export interface StartOptions extends SupervisorCallOptions {
  /** Same key and input: the same run. Same key, other input: `idempotency_key_reused`. At most 512 bytes. */
  readonly idempotencyKey?: string
}

/** A started run, as it is recorded. */
export interface StartedRun {
  readonly run: StoredRun
  /** False when the idempotency key had started it before; then `with` was not written. */
  readonly created: boolean
}

/** An answer to an interrupt. */
export interface ResumeRequest {
  readonly runId: RunId
  /** Absent: there must be exactly one open interrupt. */
  readonly interruptId?: string
  readonly payload: JsonValue
  readonly by: Actor
  /** The same answer with the same key again succeeds. */
  readonly idempotencyKey?: string
  /** Refuse with `run_conflict` unless the run has closed so many streams. */
  readonly streamIs?: number
}

/** Several answers in one commit: all or none. */
export type ResumeManyRequest = Omit<ResumeRequest, 'interruptId' | 'payload'> & {
  readonly answers: readonly { readonly interruptId: string; readonly payload: JsonValue }[]
}

/** A message to a run. Its id makes a repeat harmless. */
export interface SendRequest {
  readonly runId: RunId
  readonly message: { readonly id: string; readonly body: JsonValue }
}

/** A wish that a run stop. */
export interface CancelRequest {
  readonly runId: RunId
  /** At most 512 bytes; cut on a code point. Default `cancel requested`. */
  readonly reason?: string
  readonly by: Actor
}

/** What an answer leads to. */
export interface ResumeAcknowledgement {
  readonly run: StoredRun
  /** The stream that will carry what follows. */
  readonly streamId: StreamId
}

/** What became of a cancel. */
export interface CancelAcknowledgement {
  readonly run: StoredRun
  /** True when the run was cancelled already. */
  readonly alreadyCancelled: boolean
}

/** Bound to one session. */
export interface Supervisor {
  readonly sessionId: SessionId
  /**
   * Makes input, run and seed durable in one commit and answers with what is recorded (`pending` or
   * `running`). The run goes on whatever becomes of the caller.
   *
   * @throws `definition_unknown`, `input_invalid`, `idempotency_key_reused`, `run_exists`, `run_not_found` (the parent)
   */
  start(draft: RunDraft, input: Uint8Array, options?: StartOptions): Promise<StartedRun>
  /**
   * @throws `run_not_found`, `run_ended`, `run_not_interrupted`, `interrupt_not_found`, `interrupt_answered`,
   * `ambiguous_interrupt`, `interrupt_needs_person`, `own_run`, `input_invalid`, `run_conflict`
   */
  resume(request: ResumeRequest, options?: SupervisorCallOptions): Promise<ResumeAcknowledgement>
  resumeMany(
    request: ResumeManyRequest,
    options?: SupervisorCallOptions,
  ): Promise<ResumeAcknowledgement>
  /** @throws `run_not_found`, `run_ended`, `inbox_full`, `limit_exceeded` */
  send(request: SendRequest, options?: SupervisorCallOptions): Promise<StoredRun>
  /** @throws `run_not_found`, `run_ended` (completed or failed), `own_run` */
  cancel(request: CancelRequest, options?: SupervisorCallOptions): Promise<CancelAcknowledgement>
  /** Answers for every status, never waits for an execution. @throws `run_not_found`, `run_purged` */
  history(runId: RunId, request?: ActivityPageRequest): Promise<ActivityPage>
  /** The output of a completed run, or of any ended run that left one. @throws `run_not_found` */
  output(runId: RunId): Promise<JsonValue | undefined>
}

/** Gives the supervisor of each session. */
export interface Supervisors {
  session(sessionId: SessionId): Supervisor
}
