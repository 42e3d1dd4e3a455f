import { isCancelRequested, isTerminal, unansweredInterrupts, visibleStatus } from '@holdfast/core'
import type { JsonObject, JsonValue, StoredRun } from '@holdfast/core'
import { withJournaledSchemas } from './journaled-questions.ts'
import { runView } from './run-view.ts'
import type { ToolContext } from './tool-context.ts'

/** What start, get and resume answer with: the run, and with extensions what to do now. */
export async function presentRun(
  context: ToolContext,
  found: StoredRun,
  output?: JsonValue,
): Promise<JsonObject> {
  const offered = context.definitions.of(found.record)
  const run = offered === undefined ? found : await withJournaledSchemas(context.runs, found)
  const advice = context.extensions === undefined ? undefined : adviceFor(context, run)
  const resumeSchema = offered?.resumeSchema
  return runView(run, {
    maxBytes: context.resultBytes,
    ...(resumeSchema === undefined ? {} : { resumeSchema }),
    showsQuestions: offered !== undefined,
    ...(output === undefined ? {} : { output }),
    ...(advice === undefined ? {} : { advice }),
  })
}

/** The output of a completed run whose definition is offered and lets models see it; else nothing. */
export async function outputForModel(
  { definitions, supervisor }: ToolContext,
  { record }: StoredRun,
): Promise<JsonValue | undefined> {
  if (record.status !== 'completed') return undefined
  if (definitions.of(record)?.definition.outputForModels !== true) return undefined
  return supervisor.output(record.id)
}

function adviceFor(context: ToolContext, run: StoredRun): string | undefined {
  if (isTerminal(visibleStatus(run))) return undefined
  const open = isCancelRequested(run) ? [] : unansweredInterrupts(run)
  if (open.some(({ answer }) => answer === 'anyone')) {
    return 'Do not poll. Answer the open question with workflow_run_resume.'
  }
  if (open.length > 0) return 'Do not poll. A person must answer; tell the user, and stop here.'
  if (context.extensions?.waiter === undefined) {
    return 'Do not poll. The run goes on by itself; do something else and look again later.'
  }
  return 'Do not poll. Call workflow_run_get with wait_ms: it returns when something has changed.'
}
