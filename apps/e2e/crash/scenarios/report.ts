import { setTimeout as pause } from 'node:timers/promises'
import { reportOutput, reportText } from '../expected-text.ts'
import type { Stage } from '../stage.ts'
import { cancelRun, watchRun } from '../workflow-run.ts'
import { startWorkflow } from './started-workflow.ts'

/** A report with durable pauses and a child run, to its end. */
export async function report(stage: Stage): Promise<void> {
  const runId = await startReport(stage)
  await watchRun(stage.browser, runId, () => false)
}

/** A report that is cancelled on its way. */
export async function cancelledReport(stage: Stage): Promise<void> {
  const { name, browser, random } = stage
  const { ledger } = browser
  const runId = await startReport(stage)
  await pause(random.between(0, 1_500))
  const run = ledger.runs.get(runId)
  const isCancelled = await cancelRun(browser, runId)
  if (isCancelled) {
    ledger.inbox.push({ scenario: name, kind: 'cancel', runId })
    if (run !== undefined) run.rightEnds = [{ status: 'cancelled' }]
  }
  await watchRun(browser, runId, () => false)
}

async function startReport(stage: Stage): Promise<string> {
  const topic = stage.random.pick(['kelp', 'tides', 'moored boats', 'rope', 'harbour seals'])
  return await startWorkflow(stage, {
    request: `write a report on ${topic}`,
    reply: (run) => reportText(topic, run),
    rightEnds: [{ status: 'completed', output: reportOutput(topic) }],
  })
}
