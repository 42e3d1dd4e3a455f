import { createSseDecoder, parseUiChunk, type SseItem, type UiChunk } from '@holdfast/chat-protocol'
import type { TransportSystem } from './system.ts'

/** What a connection says: a chunk, that it lives, or (last) that it is over. */
export type ReadItem =
  | { readonly kind: 'chunk'; readonly chunk: UiChunk; readonly id?: string }
  | { readonly kind: 'heartbeat' }
  | { readonly kind: 'cut'; readonly cause: unknown }

/** What reading a response needs. */
export interface ReadOptions {
  readonly system: TransportSystem
  /** Milliseconds of silence after which a connection counts as dead. */
  readonly idleTimeoutMs: number
  /** Aborted when nobody wants the chunks any more; that is a cut, too. */
  readonly signal: AbortSignal
}

/**
 * Reads the chunks of one response until it ends, breaks, falls silent or says something that is no
 * chunk; then one `cut`.
 *
 * `[DONE]` is no end: only a terminal chunk is, and the caller knows those. Returning early closes
 * the connection without waiting for the server. Never throws.
 */
export async function* readResponse(
  response: Response,
  options: ReadOptions,
): AsyncGenerator<ReadItem, void, undefined> {
  if (response.body === null) {
    yield { kind: 'cut', cause: new Error('The response has no body.') }
    return
  }
  const reader = response.body.getReader()
  const decoder = createSseDecoder()
  try {
    for (;;) {
      const piece = await readPiece(reader, options)
      if ('cause' in piece) {
        yield { kind: 'cut', cause: piece.cause }
        return
      }
      const parsed = parseItems(() => (piece.done ? decoder.end() : decoder.push(piece.value)))
      yield* parsed
      if (parsed.at(-1)?.kind === 'cut') return
      if (piece.done) {
        yield { kind: 'cut', cause: new Error('The stream ended before the message did.') }
        return
      }
    }
  } finally {
    // Not awaited: a server that will not let go must not hold the page.
    void reader.cancel().catch(() => undefined)
  }
}

type Piece =
  | { readonly done: false; readonly value: Uint8Array }
  | { readonly done: true }
  | { readonly cause: unknown }

async function readPiece(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { system, idleTimeoutMs, signal }: ReadOptions,
): Promise<Piece> {
  let isSilent = false
  const stopTimer = system.startTimer(() => {
    isSilent = true
    letGo()
  }, idleTimeoutMs)
  signal.addEventListener('abort', letGo, { once: true })

  function letGo(): void {
    void reader.cancel().catch(() => undefined)
  }

  try {
    const { done, value } = await reader.read()
    if (isSilent) return { cause: new Error(`Nothing was heard for ${idleTimeoutMs} ms.`) }
    return done ? { done } : { done, value }
  } catch (cause) {
    return { cause }
  } finally {
    stopTimer()
    signal.removeEventListener('abort', letGo)
  }
}

function parseItems(decode: () => readonly SseItem[]): ReadItem[] {
  const items: ReadItem[] = []
  try {
    for (const item of decode()) {
      if (item.kind === 'comment') {
        // The first comment of a connection says only that it was opened.
        if (item.text !== 'stream-open') items.push({ kind: 'heartbeat' })
        continue
      }
      const data = item.data.trim()
      if (data === '' || data === '[DONE]') continue
      const id = item.id === undefined ? {} : { id: item.id }
      items.push({ kind: 'chunk', chunk: parseUiChunk(data), ...id })
    }
  } catch (cause) {
    items.push({ kind: 'cut', cause })
  }
  return items
}
