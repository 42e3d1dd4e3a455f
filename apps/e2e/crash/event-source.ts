import { setTimeout as pause } from 'node:timers/promises'
import {
  createSseDecoder,
  indexFromHeader,
  isTerminalChunk,
  lastEventIdHeader,
  parseUiChunk,
} from '@holdfast/chat-protocol'
import type { UiChunk } from '@holdfast/chat-protocol'
import type { Browser } from './browser.ts'
import type { Reading } from './evidence.ts'

/**
 * Reads a stream as a browser's `EventSource` does, which knows nothing of start indexes: after a
 * cut it says with `Last-Event-ID` what it has. Never rejects.
 */
export async function readAsEventSource(browser: Browser, streamId: string): Promise<Reading> {
  const chunks: UiChunk[] = []
  const basics = { reader: 'an event source', asked: 0, from: 0, chunks }
  let lastEventId: string | undefined
  let connections = 0
  while (!browser.deadline.aborted) {
    const decoder = createSseDecoder()
    try {
      const response = await browser.fetch(`/api/chat/${streamId}/stream`, {
        headers: lastEventId === undefined ? {} : { [lastEventIdHeader]: lastEventId },
        signal: browser.deadline,
      })
      const mayComeLater = response.status === 503 || response.status === 429
      if (response.status !== 200 && !mayComeLater) {
        const failure = `the server answered ${response.status}`
        return { ...basics, next: chunks.length, end: 'broken', failure }
      }
      if (response.ok) connections += 1
      for await (const piece of response.body ?? []) {
        for (const item of decoder.push(piece)) {
          if (item.kind === 'comment' || item.data === '[DONE]') continue
          const chunk = parseUiChunk(item.data)
          const index = indexFromHeader(item.id)
          chunks.push(chunk)
          if (index !== chunks.length - 1) {
            const failure = `chunk ${chunks.length - 1} has the id ${item.id}`
            return { ...basics, next: chunks.length, end: 'broken', failure }
          }
          lastEventId = item.id
          if (!isTerminalChunk(chunk)) continue
          browser.ledger.reconnects += connections - 1
          return { ...basics, next: chunks.length, end: 'finished' }
        }
      }
    } catch {
      // Cut. It comes back.
    }
    await pause(browser.random.between(40, 150))
  }
  return { ...basics, next: chunks.length, end: 'broken', failure: 'it was given up' }
}
