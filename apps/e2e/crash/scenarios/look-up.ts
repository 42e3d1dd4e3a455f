import { lookUpText } from '../expected-text.ts'
import type { Stage } from '../stage.ts'

/** A tool that only looks. */
export async function lookUp({ name, chat, orders, random }: Stage): Promise<void> {
  const order = orders.add(random.between(1, 500))
  const follower = await chat.say(name, `look up order ${order.id}`, {
    text: lookUpText(order),
    rightEnds: [{ status: 'completed' }],
  })
  await chat.finish(follower)
}
