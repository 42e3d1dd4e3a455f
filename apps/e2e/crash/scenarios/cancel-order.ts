import type { UIMessage } from 'ai'
import { RefusedError } from '../browser.ts'
import { cancelIntro } from '../expected-text.ts'
import { isRecord } from '../json.ts'
import type { Stage } from '../stage.ts'

const reason = 'the customer wants it after all'

/** A tool with an effect, for which a person is asked, and says yes or no. */
export async function cancelOrder({ name, browser, chat, orders, random }: Stage): Promise<void> {
  const { ledger } = browser
  const approved = random.next() < 0.6
  const order = orders.add(random.between(1, 500))
  const { id: orderId, total: amount } = order
  const effect = { scenario: name, orderId, kind: 'cancellation', amount } as const
  ledger.expectEffect({ ...effect, times: 0 })
  const said = approved ? 'cancelled.' : `not cancelled: ${reason}.`
  const expected = {
    text: `${cancelIntro(order)}Order ${order.id}${approved ? ': ' : ' was '}${said}`,
    rightEnds: [{ status: 'completed' }],
  } as const
  const asked = await chat.say(name, `cancel order ${order.id}`, expected)
  const question = await chat.finish(asked)
  const { message, toolCallId } = answered(question, approved)
  if (approved) ledger.expectEffect({ ...effect, times: 'at most 1' })
  const told = await chat.decide(name, message, expected)
  if (approved) ledger.expectEffect({ ...effect, times: 1 })
  ledger.inbox.push({ scenario: name, kind: 'approval', runId: told.runId, toolCallId, approved })
  await chat.finish(asked, told)
}

/** The message with the decision in it, as `addToolApprovalResponse` makes it. */
function answered(
  message: UIMessage,
  approved: boolean,
): { readonly message: UIMessage; readonly toolCallId: string } {
  let toolCallId: string | undefined
  const parts = message.parts.map((part) => {
    if (!('state' in part) || part.state !== 'approval-requested') return part
    toolCallId = part.toolCallId
    const { approval } = part
    if (!isRecord(approval)) return part
    const decided = { ...approval, approved, ...(approved ? {} : { reason }) }
    return { ...part, state: 'approval-responded', approval: decided }
  })
  if (toolCallId === undefined) {
    throw new RefusedError(`nobody is asked: ${JSON.stringify(message.parts)}`)
  }
  return { message: { ...message, parts: parts as UIMessage['parts'] }, toolCallId }
}
