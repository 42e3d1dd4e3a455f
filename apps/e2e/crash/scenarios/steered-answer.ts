import { setTimeout as pause } from 'node:timers/promises'
import { RefusedError } from '../browser.ts'
import type { Chat } from '../chat.ts'
import { countText, lookUpText } from '../expected-text.ts'
import { shownMessages } from '../shown-messages.ts'
import type { Stage } from '../stage.ts'
import { watchRun } from '../workflow-run.ts'
import { somewhere } from './somewhere.ts'

/**
 * A person says something more while an answer is under way. The run takes it up, or it becomes the
 * next turn: in either case it is answered once.
 */
export async function steeredAnswer({ name, browser, chat, orders, random }: Stage): Promise<void> {
  const { ledger } = browser
  const to = random.between(20, 50)
  const order = orders.add(random.between(1, 500))
  const reply = lookUpText(order)
  const first = await chat.say(name, `count to ${to}`, {
    text: countText(to),
    rightEnds: [{ status: 'completed' }],
  })
  await first.hasRead(somewhere(random, to))
  const { messageId, follower } = await chat.interject(name, `look up order ${order.id}`)
  ledger.inbox.push({ scenario: name, kind: 'message', chatId: chat.id, messageId, reply })
  const { id: firstRun } = await chat.finish(first)
  const taken = first.chunks.some(
    (chunk) => chunk.type === 'steering-message' && chunk.id === messageId,
  )
  if (taken) {
    chat.expectText(firstRun, `${countText(to)}${reply}`)
    await follower.reading
    return
  }
  await follower.reading
  const runId = await ownTurn(chat, messageId)
  chat.acknowledge(
    name,
    { runId, streamId: runId },
    { text: reply, rightEnds: [{ status: 'completed' }] },
  )
  const own = await chat.join('the reader of the next turn', 0)
  if (own !== null) await chat.finish(own)
  await watchRun(browser, runId, () => false)
}

/** The run that answers a message which came too late for the one before. */
async function ownTurn(chat: Chat, messageId: string): Promise<string> {
  for (;;) {
    const body = await chat.browser.get(`/api/chat/${chat.id}/messages?limit=100`)
    const shown = shownMessages(body)
    const at = shown.findIndex(({ id }) => id === messageId)
    const answer = shown[at + 1]
    if (at !== -1 && answer?.role === 'assistant') return answer.id
    if (at !== -1 && answer !== undefined) {
      throw new RefusedError(`message ${messageId} is followed by ${JSON.stringify(answer)}`)
    }
    await pause(100, undefined, { signal: chat.browser.deadline })
  }
}
