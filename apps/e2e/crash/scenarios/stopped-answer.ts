import { countText } from '../expected-text.ts'
import type { Stage } from '../stage.ts'
import { somewhere } from './somewhere.ts'

/** A long answer that a person stops. */
export async function stoppedAnswer({ name, browser, chat, random }: Stage): Promise<void> {
  const { ledger } = browser
  const to = random.between(60, 100)
  const text = countText(to)
  const follower = await chat.say(name, `count to ${to}`, {
    text,
    rightEnds: [{ status: 'completed' }],
  })
  await follower.hasRead(somewhere(random, to))
  const run = ledger.runs.get(follower.runId)
  // From the moment that it is sent on, the run may be stopped.
  if (run !== undefined) run.rightEnds = [{ status: 'completed' }, { status: 'cancelled' }]
  const { alreadyEnded } = await chat.stop()
  if (!alreadyEnded) {
    ledger.inbox.push({ scenario: name, kind: 'cancel', runId: follower.runId })
    if (run !== undefined) run.rightEnds = [{ status: 'cancelled' }]
  }
  await chat.finish(follower)
}
