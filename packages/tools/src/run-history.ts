import { isTerminal, Limits } from '@holdfast/core'
import type {
  Activity,
  ActivityPage,
  ActivityPageRequest,
  InvokableTool,
  JsonObject,
  RunId,
} from '@holdfast/core'
import {
  optional,
  pageLimitField,
  smallArguments,
  uuidField,
  wholeNumberField,
} from './arguments.ts'
import { defineTool, readOnly } from './define-tool.ts'
import { boundedText, countThatFits } from './fit-result.ts'
import { runStatusSchema, timeText } from './run-view.ts'
import type { ToolContext } from './tool-context.ts'
import { longestWaitMs } from './waiter.ts'

/** What stands around the entries in a result, run id and cursors included. */
const frameBytes = 256
const labelBytes = 128
const messageBytes = 512

const fields = {
  run_id: uuidField('The id of the run.'),
  after_revision: optional(
    wholeNumberField('The first revision to show: the `next_revision` of the page before.', {
      minimum: 0,
    }),
  ),
  after_event_id: optional(
    uuidField('The `next_event_id` of the page before, together with its next_revision.'),
  ),
  limit: optional(pageLimitField('entries')),
}

const waitingFields = {
  ...fields,
  wait_ms: optional(
    wholeNumberField('Wait at most so long for an entry that the cursor has not passed.', {
      minimum: 0,
      maximum: longestWaitMs,
    }),
  ),
}

const text: JsonObject = { type: 'string' }
const wholeNumber: JsonObject = { type: 'integer', minimum: 0 }

const outputSchema: JsonObject = {
  type: 'object',
  properties: {
    run_id: text,
    entries: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          revision: wholeNumber,
          event_id: text,
          kind: text,
          run_status: runStatusSchema,
          step_id: text,
          step_label: text,
          completed_steps: wholeNumber,
          total_steps: wholeNumber,
          message: text,
          occurred_at: text,
        },
        required: ['revision', 'event_id', 'kind', 'run_status', 'occurred_at'],
        additionalProperties: false,
      },
    },
    next_revision: wholeNumber,
    next_event_id: text,
    tail_revision: wholeNumber,
  },
  required: ['run_id', 'entries'],
  additionalProperties: false,
}

/** `workflow_run_history`: a page of a run's activities, of every status, without loss or repeat. */
export function runHistoryTool(context: ToolContext): InvokableTool {
  const common = {
    name: 'workflow_run_history',
    annotations: readOnly,
    argumentLimits: smallArguments,
    outputSchema,
    resultBytes: context.resultBytes,
  }
  const description =
    'Return a bounded page of projected workflow activity metadata for one session run.'
  const { supervisor, runs, extensions } = context
  const waiter = extensions?.waiter
  if (waiter === undefined) {
    return defineTool({
      ...common,
      description,
      fields,
      async run({ arguments: { run_id, ...cursor } }) {
        const page = await supervisor.history(run_id, requestOf(cursor))
        return historyView(context, run_id, page)
      },
    })
  }
  return defineTool({
    ...common,
    description: `${description} Do not poll: pass after_revision = tail_revision with wait_ms for what comes next.`,
    fields: waitingFields,
    async run({ arguments: { run_id, wait_ms = 0, ...cursor }, signal }) {
      const read = (): Promise<ActivityPage> => supervisor.history(run_id, requestOf(cursor))
      const isDone = async (page: ActivityPage): Promise<boolean> =>
        page.activities.length > 0 || isTerminal((await runs.get(run_id)).record.status)
      const first = await read()
      const page =
        wait_ms === 0 || (await isDone(first))
          ? first
          : await waiter.wait({
              runId: run_id,
              waitMs: wait_ms,
              ...(signal === undefined ? {} : { signal }),
              read,
              isDone,
            })
      return historyView(context, run_id, page)
    },
  })
}

function requestOf(given: {
  readonly after_revision: number | undefined
  readonly after_event_id: string | undefined
  readonly limit: number | undefined
}): ActivityPageRequest {
  const { after_revision, after_event_id, limit } = given
  return {
    afterRevision: after_revision ?? 0,
    ...(after_event_id === undefined ? {} : { afterEventId: after_event_id }),
    limit: limit ?? Limits.pageDefault,
  }
}

function historyView(context: ToolContext, runId: RunId, page: ActivityPage): JsonObject {
  const rows = page.activities.map(entryView)
  const fitting = countThatFits(rows, context.resultBytes - frameBytes)
  const count = fitting === rows.length ? fitting : wholeRevisions(page.activities, fitting)
  return {
    run_id: runId,
    entries: rows.slice(0, count),
    ...cursorsAfter(page, count),
    ...(context.extensions === undefined ? {} : { tail_revision: page.tailRevision }),
  }
}

/** How many of the first entries make up whole revisions; all of them if that were none. */
function wholeRevisions(activities: readonly Activity[], count: number): number {
  const cut = activities[count]?.revision
  const whole = activities.findIndex(({ revision }) => revision === cut)
  return whole > 0 ? whole : count
}

function cursorsAfter(page: ActivityPage, count: number): JsonObject {
  const { activities, nextRevision, nextEventId } = page
  const following = activities[count]
  if (following === undefined) {
    return {
      ...(nextRevision === undefined ? {} : { next_revision: nextRevision }),
      ...(nextEventId === undefined ? {} : { next_event_id: nextEventId }),
    }
  }
  const last = activities[count - 1]
  return last?.revision === following.revision
    ? { next_revision: last.revision, next_event_id: last.eventId }
    : { next_revision: following.revision }
}

function entryView(activity: Activity): JsonObject {
  const { completedSteps = 0, totalSteps = 0, stepId, stepLabel, message } = activity
  return {
    revision: activity.revision,
    event_id: activity.eventId,
    kind: activity.kind,
    run_status: activity.status,
    ...(stepId === undefined ? {} : { step_id: stepId }),
    ...(stepLabel === undefined || stepLabel === ''
      ? {}
      : { step_label: boundedText(stepLabel, labelBytes) }),
    ...(completedSteps === 0 ? {} : { completed_steps: completedSteps }),
    ...(totalSteps === 0 ? {} : { total_steps: totalSteps }),
    ...(message === undefined ? {} : { message: boundedText(message, messageBytes) }),
    occurred_at: timeText(activity.occurredAt),
  }
}
