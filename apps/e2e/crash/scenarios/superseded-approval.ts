import { cancelIntro, lookUpText } from '../expected-text.ts'
import type { Stage } from '../stage.ts'

/** A person is asked, and says something else instead: that is a no, and the rest is answered. */
export async function supersededApproval({
  name,
  browser,
  chat,
  orders,
  random,
}: Stage): Promise<void> {
  const { ledger } = browser
  const order = orders.add(random.between(1, 500))
  const other = orders.add(random.between(1, 500))
  const reply = lookUpText(other)
  ledger.expectEffect({
    scenario: name,
    orderId: order.id,
    kind: 'cancellation',
    amount: order.total,
    times: 0,
  })
  const asked = await chat.say(name, `cancel order ${order.id}`, {
    text: `${cancelIntro(order)}${reply}`,
    rightEnds: [{ status: 'completed' }],
  })
  await chat.finish(asked)
  const { messageId, follower } = await chat.interject(name, `look up order ${other.id}`)
  ledger.inbox.push({ scenario: name, kind: 'message', chatId: chat.id, messageId, reply })
  // The page that says something else begins the answer anew: it is given the whole of it.
  await chat.finish(follower)
}
