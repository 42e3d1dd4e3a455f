import { RefusedError } from '../browser.ts'
import type { Chat } from '../chat.ts'
import { countText } from '../expected-text.ts'
import type { Follower } from '../follower.ts'
import { hasEnded, shownRun } from '../workflow-run.ts'
import type { Stage } from '../stage.ts'

/** One answer and many readers: some come in the middle, some go, one has reloaded its page. */
export async function sharedAnswer({ name, chat, random }: Stage): Promise<void> {
  const to = random.between(40, 60)
  const first = await chat.say(name, `count to ${to}`, {
    text: countText(to),
    rightEnds: [{ status: 'completed' }],
  })
  await first.hasRead(random.between(1, 40))
  const events = chat.listen(first)
  const later = await Promise.all([
    join(chat, first, 'a second tab', 0),
    join(chat, first, 'a reader with a cursor', random.between(0, first.chunks.length)),
    join(chat, first, 'a reader of the tail', -random.between(1, 25)),
    reload(chat, first, random.between(1, 20)),
  ])
  await chat.finish(first)
  await Promise.all([events, ...later.map(async (follower) => await follower?.reading)])
}

/** A page that is closed in the middle of an answer, and opened again. */
async function reload(chat: Chat, first: Follower, after: number): Promise<Follower | null> {
  const before = await join(chat, first, 'a page that is closed', 0)
  await before?.hasRead(after)
  before?.leave()
  await before?.reading
  return await join(chat, first, 'a page opened again', 0)
}

/** Joins by the chat's id. There must be something to join as long as the run goes on. */
async function join(
  chat: Chat,
  { runId }: Follower,
  reader: string,
  startIndex: number,
): Promise<Follower | null> {
  const follower = await chat.join(reader, startIndex)
  if (follower !== null) return follower
  const run = shownRun(await chat.browser.get(`/api/runs/${runId}`))
  if (hasEnded(run)) return null
  throw new RefusedError(
    `chat ${chat.id} has nothing active while its run ${runId} is ${run.status}`,
  )
}
