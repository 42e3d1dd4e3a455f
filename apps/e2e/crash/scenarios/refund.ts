import type { ExpectedEffect } from '../evidence.ts'
import { refundText } from '../expected-text.ts'
import { refundLimit } from '../order-tables.ts'
import type { Stage } from '../stage.ts'
import { resumeRun, watchQuestion, watchRun } from '../workflow-run.ts'
import { startWorkflow } from './started-workflow.ts'

/** A refund that no person has to decide about. */
export async function smallRefund(stage: Stage): Promise<void> {
  await refund(stage, stage.random.between(1, refundLimit), true)
}

/** A refund about which a person is asked, and says yes or no. */
export async function largeRefund(stage: Stage): Promise<void> {
  await refund(stage, stage.random.between(refundLimit + 1, 900), stage.random.next() < 0.6)
}

async function refund(stage: Stage, total: number, isPaid: boolean): Promise<void> {
  const { name, browser, orders } = stage
  const order = orders.add(total)
  const output = { order_id: order.id, refunded: isPaid, amount: isPaid ? total : 0 }
  const { ledger } = browser
  const expect = (times: ExpectedEffect['times']): void => {
    ledger.expectEffect({ scenario: name, orderId: order.id, kind: 'refund', amount: total, times })
  }
  const isAsked = total > refundLimit
  expect(isAsked ? 0 : 'at most 1')
  const runId = await startWorkflow(stage, {
    request: `refund order ${order.id}`,
    reply: (run) => refundText(order, run),
    rightEnds: [{ status: 'completed', output }],
  })
  if (isAsked) {
    const question = await watchQuestion(browser, runId)
    if (isPaid) expect('at most 1')
    await resumeRun(browser, runId, question, { approved: isPaid, note: 'decided by hand' })
    ledger.inbox.push({ scenario: name, kind: 'resume', runId, output })
  }
  if (isPaid) expect(1)
  await watchRun(browser, runId, () => false)
}
