import {
  isCancelRequested,
  isTerminal,
  type JsonObject,
  type JsonValue,
  type OpenInterrupt,
  type Activity,
  type RegisteredDefinition,
  runProgress,
  type RunProgress,
  type StoredRun,
  unansweredInterrupts,
  visibleStatus,
} from '@holdfast/core'

/** What a page is shown of a run beside its row. */
export interface RunJsonExtras {
  readonly output?: JsonValue
  /** What the run's definition is called, if this server has it. */
  readonly definition?: RegisteredDefinition | undefined
  /** Payloads of open interrupts that were too large for the row, by interrupt id. */
  readonly payloads?: ReadonlyMap<string, JsonValue>
}

/**
 * A run as a page sees it, in the words of the workflow tools; never its input, state or chunks. Times are RFC 3339.
 *
 * An interrupt's `schema` is its own or, where it has none, the definition's `resume`.
 */
export function runJson(run: StoredRun, extras: RunJsonExtras = {}): JsonObject {
  const { record } = run
  const { output, definition } = extras
  const status = visibleStatus(run)
  const interrupts = isTerminal(status) ? [] : unansweredInterrupts(run)
  const progress = runProgress(run)
  return {
    run_id: record.id,
    definition_name: record.definition.name,
    definition_version: record.definition.version,
    ...(definition === undefined ? {} : { definition_description: definition.description }),
    run_status: status,
    ...ifText('status_summary', record.statusSummary),
    ...(status === 'running' ? ifText('waiting_for', record.waitingFor) : {}),
    ...(isCancelRequested(run) ? { cancel_requested: true } : {}),
    activity_cursor: run.journalNext,
    ...(progress === undefined ? {} : { progress: progressJson(progress) }),
    interrupts: interrupts.map((interrupt) => interruptJson(interrupt, extras)),
    artifacts: record.artifacts.map(({ id, kind, digest, size }) => ({ id, kind, digest, size })),
    ...(record.error === undefined ? {} : { error: { ...record.error } }),
    ...(output === undefined ? {} : { output }),
    ...ifText('parent_run_id', record.parentRunId),
    created_at: timeText(record.createdAt),
    updated_at: timeText(record.updatedAt),
    ...(record.endedAt === undefined ? {} : { ended_at: timeText(record.endedAt) }),
  }
}

/** An activity as a page sees it. Times are RFC 3339. */
export function activityJson(activity: Activity): JsonObject {
  const { stepId, stepLabel, completedSteps, totalSteps, message } = activity
  return {
    revision: activity.revision,
    event_id: activity.eventId,
    kind: activity.kind,
    run_status: activity.status,
    ...ifText('step_id', stepId),
    ...ifText('step_label', stepLabel),
    ...(completedSteps === undefined ? {} : { completed_steps: completedSteps }),
    ...(totalSteps === undefined ? {} : { total_steps: totalSteps }),
    ...ifText('message', message),
    occurred_at: timeText(activity.occurredAt),
  }
}

function interruptJson(
  interrupt: OpenInterrupt,
  { definition, payloads }: RunJsonExtras,
): JsonObject {
  const payload = (interrupt.payload as JsonValue | undefined) ?? payloads?.get(interrupt.id)
  const schema = (interrupt.schema as JsonValue | undefined) ?? definition?.resumeSchema
  return {
    id: interrupt.id,
    answer: interrupt.answer,
    ...ifText('reason', interrupt.reason),
    ...(payload === undefined ? {} : { payload }),
    ...(schema === undefined ? {} : { schema }),
  }
}

function progressJson(progress: RunProgress): JsonObject {
  const { completedSteps, totalSteps, completed, total, message } = progress
  return {
    ...ifNumber('completed_steps', completedSteps),
    ...ifNumber('total_steps', totalSteps),
    ...ifNumber('completed', completed),
    ...ifNumber('total', total),
    ...ifText('message', message),
  }
}

function ifText(name: string, value: JsonValue | undefined): JsonObject {
  return typeof value === 'string' && value !== '' ? { [name]: value } : {}
}

function ifNumber(name: string, value: number | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value }
}

function timeText(millisecondsSinceEpoch: number): string {
  return new Date(millisecondsSinceEpoch).toISOString()
}
