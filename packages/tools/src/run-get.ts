import { isCancelRequested, isTerminal, unansweredInterrupts, visibleStatus } from '@holdfast/core'
import type { InvokableTool, JsonObject, RunId, StoredRun } from '@holdfast/core'
import { optional, smallArguments, uuidField, wholeNumberField } from './arguments.ts'
import { defineTool, readOnly } from './define-tool.ts'
import { outputForModel, presentRun } from './present-run.ts'
import { runViewSchema } from './run-view.ts'
import type { ToolContext } from './tool-context.ts'
import { longestWaitMs } from './waiter.ts'

const fields = { run_id: uuidField('The id of the run.') }

const waitingFields = {
  ...fields,
  wait_ms: optional(
    wholeNumberField('Wait at most so long until the run ends or asks something.', {
      minimum: 0,
      maximum: longestWaitMs,
    }),
  ),
}

/** `workflow_run_get`: one run, as it is now; with extensions, as soon as it ends or asks something. */
export function runGetTool(context: ToolContext): InvokableTool {
  const common = {
    name: 'workflow_run_get',
    annotations: readOnly,
    argumentLimits: smallArguments,
    outputSchema: runViewSchema,
    resultBytes: context.resultBytes,
  }
  const description =
    'Get bounded metadata and lifecycle status for one workflow run in this session.'
  const waiter = context.extensions?.waiter
  if (waiter === undefined) {
    return defineTool({
      ...common,
      description,
      fields,
      run: async ({ arguments: { run_id } }) => present(context, await context.runs.get(run_id)),
    })
  }
  return defineTool({
    ...common,
    description: `${description} Do not poll: pass wait_ms, and it returns when the run ends or asks something.`,
    fields: waitingFields,
    async run({ arguments: { run_id, wait_ms = 0 }, signal }) {
      const read = (runId: RunId): Promise<StoredRun> => context.runs.get(runId)
      const run = await read(run_id)
      if (wait_ms === 0 || isSettled(run)) return present(context, run)
      const waited = await waiter.wait({
        runId: run_id,
        waitMs: wait_ms,
        ...(signal === undefined ? {} : { signal }),
        read: () => read(run_id),
        isDone: isSettled,
      })
      return present(context, waited)
    },
  })
}

async function present(context: ToolContext, run: StoredRun): Promise<JsonObject> {
  return presentRun(context, run, await outputForModel(context, run))
}

/** Whether there is something to act on: the run has ended, or asks and is not about to stop. */
function isSettled(run: StoredRun): boolean {
  if (isTerminal(visibleStatus(run))) return true
  return !isCancelRequested(run) && unansweredInterrupts(run).length > 0
}
