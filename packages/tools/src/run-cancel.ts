import { ErrorCode, HoldfastError, Limits, visibleStatus } from '@holdfast/core'
import type { InvokableTool, JsonObject, StoredRun } from '@holdfast/core'
import { boundedTextField, optional, smallArguments, uuidField } from './arguments.ts'
import { defineTool } from './define-tool.ts'
import { runStatusSchema } from './run-view.ts'
import { demandNotOwnRun } from './session-runs.ts'
import type { ToolContext } from './tool-context.ts'

const defaultReason = 'cancel requested'

const fields = {
  run_id: uuidField('The id of the run.'),
  reason: optional(boundedTextField('Why, for history.', Limits.cancelReasonBytes)),
}

const outputSchema: JsonObject = {
  type: 'object',
  properties: {
    run_id: { type: 'string' },
    run_status: runStatusSchema,
    idempotent: { type: 'boolean' },
  },
  required: ['run_id', 'run_status', 'idempotent'],
  additionalProperties: false,
}

/** `workflow_run_cancel`: asks a run to stop; the wish is durable when this answers. */
export function runCancelTool(context: ToolContext): InvokableTool {
  const { runs, definitions, supervisor } = context
  return defineTool({
    name: 'workflow_run_cancel',
    description: 'Request terminal cancellation of one active workflow run in this session.',
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },
    fields,
    argumentLimits: smallArguments,
    outputSchema,
    resultBytes: context.resultBytes,
    async run({ arguments: { run_id, reason = '' }, signal, callerRunId }) {
      const run = await runs.get(run_id)
      if (run.record.status === 'cancelled') return cancelView(run, true)
      await demandNotOwnRun(runs, run_id, callerRunId)
      definitions.demandActionable(run.record)
      demandNotEnded(run)
      const { run: after, alreadyCancelled } = await supervisor.cancel(
        {
          runId: run_id,
          reason: reason.trim() === '' ? defaultReason : reason.trim(),
          by: { kind: 'model', ...(callerRunId === undefined ? {} : { runId: callerRunId }) },
        },
        signal === undefined ? {} : { signal },
      )
      return cancelView(after, alreadyCancelled)
    },
  })
}

function cancelView(run: StoredRun, idempotent: boolean): JsonObject {
  return { run_id: run.record.id, run_status: visibleStatus(run), idempotent }
}

function demandNotEnded({ record: { id, status } }: StoredRun): void {
  if (status !== 'completed' && status !== 'failed') return
  throw new HoldfastError(ErrorCode.runEnded, {
    message: `Run ${id} is ${status}: a terminal run cannot be cancelled.`,
    details: { run_id: id, run_status: status },
  })
}
