import type { UIMessage } from 'ai'
import { RefusedError } from '../browser.ts'
import type { RightEnd } from '../evidence.ts'
import { isRecord } from '../json.ts'
import type { Stage } from '../stage.ts'

/** A workflow that the agent starts when it is asked to. */
export interface WorkflowRequest {
  readonly request: string
  /** What the agent says of the run. */
  readonly reply: (runId: string) => string
  readonly rightEnds: readonly RightEnd[]
}

/** Has the agent start a workflow, and resolves with its run, which is acknowledged by then. */
export async function startWorkflow(
  { name, browser, chat }: Stage,
  { request, reply, rightEnds }: WorkflowRequest,
): Promise<string> {
  const follower = await chat.say(name, request, {
    text: '',
    rightEnds: [{ status: 'completed' }],
  })
  const runId = startedRun(await chat.finish(follower))
  chat.expectText(follower.runId, reply(runId))
  browser.ledger.acknowledgeRun({ runId, scenario: name, browser: browser.number, rightEnds })
  return runId
}

function startedRun({ parts }: UIMessage): string {
  const runIds = parts.flatMap((part) =>
    'output' in part && isRecord(part.output) && typeof part.output['run_id'] === 'string'
      ? [part.output['run_id']]
      : [],
  )
  const [runId] = runIds
  if (runId === undefined || runIds.length > 1) {
    throw new RefusedError(`started ${runIds.length} runs: ${JSON.stringify(parts)}`)
  }
  return runId
}
