import { counterText } from '../expected-text.ts'
import type { Stage } from '../stage.ts'
import { resumeRun, watchQuestion, watchRun } from '../workflow-run.ts'
import { startWorkflow } from './started-workflow.ts'

/** A counter whose question is answered on the page. */
export async function counterByHost(stage: Stage): Promise<void> {
  await count(stage, async (runId, increment) => {
    const question = await watchQuestion(stage.browser, runId)
    await resumeRun(stage.browser, runId, question, { increment })
  })
}

/** A counter whose question the model answers. */
export async function counterByModel(stage: Stage): Promise<void> {
  await count(stage, async (runId, increment) => {
    const { browser, chat, name } = stage
    await watchQuestion(browser, runId)
    const follower = await chat.say(name, `add ${increment} to the counter`, {
      text: 'Done.',
      rightEnds: [{ status: 'completed' }],
    })
    await chat.finish(follower)
  })
}

async function count(
  stage: Stage,
  answer: (runId: string, increment: number) => Promise<void>,
): Promise<void> {
  const { name, browser, random } = stage
  const from = random.between(0, 1_000)
  const increment = random.between(1, 1_000)
  const output = { count: from + 1 + increment }
  await stage.counterTurn.pass(async () => {
    const runId = await startWorkflow(stage, {
      request: `count from ${from}`,
      reply: counterText,
      rightEnds: [{ status: 'completed', output }],
    })
    await answer(runId, increment)
    browser.ledger.inbox.push({ scenario: name, kind: 'resume', runId, output })
    await watchRun(browser, runId, () => false)
  })
}
