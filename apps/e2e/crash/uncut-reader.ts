import { createSseDecoder, indexFromHeader, parseUiChunk } from '@holdfast/chat-protocol'
import type { UiChunk } from '@holdfast/chat-protocol'
import { RefusedError } from './browser.ts'
import type { Browser } from './browser.ts'
import type { WholeStream } from './evidence.ts'

/** A stream that has ended is there at once; one that has not is not waited for longer. */
const patienceMs = 15_000

/**
 * Reads a stream from 0 in one piece, without the client's help. `undefined`: there is no such
 * stream.
 *
 * @throws when the server does not come to the end of it
 */
export async function readUncut(
  browser: Browser,
  streamId: string,
): Promise<WholeStream | undefined> {
  const response = await browser.fetch(`/api/chat/${streamId}/stream?startIndex=0`, {
    headers: { accept: 'text/event-stream' },
    signal: AbortSignal.timeout(patienceMs),
  })
  if (response.status === 404) return undefined
  if (!response.ok || response.body === null) {
    throw new RefusedError(`stream ${streamId}: ${response.status}`)
  }
  const decoder = createSseDecoder()
  const indexes: number[] = []
  const chunks: UiChunk[] = []
  const take = (items: ReturnType<typeof decoder.push>): void => {
    for (const item of items) {
      if (item.kind === 'comment' || item.data === '[DONE]') continue
      indexes.push(indexFromHeader(item.id) ?? -1)
      chunks.push(parseUiChunk(item.data))
    }
  }
  for await (const piece of response.body) take(decoder.push(piece))
  take(decoder.end())
  return { indexes, chunks }
}
