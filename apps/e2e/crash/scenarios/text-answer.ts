import { countText } from '../expected-text.ts'
import type { Stage } from '../stage.ts'

/** A person asks twice, and reads both answers to the end. */
export async function textAnswer({ name, chat, random }: Stage): Promise<void> {
  for (const to of [random.between(30, 60), random.between(2, 12)]) {
    const follower = await chat.say(name, `count to ${to}`, {
      text: countText(to),
      rightEnds: [{ status: 'completed' }],
    })
    await chat.finish(follower)
  }
}
