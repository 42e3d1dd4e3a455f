import type { StreamReader, Timers } from '@holdfast/core'
import type { RunMultiplexer } from './run-multiplexer.ts'

/** One reader of one stream. */
export interface StreamReading {
  readonly store: StreamReader
  readonly multiplexer: RunMultiplexer
  readonly timers: Timers
  readonly sessionId: string
  readonly streamId: string
  /** The index of the first chunk that is wanted. */
  readonly from: number
  /** How long to wait for a stream that was promised and is not there yet. */
  readonly promiseWaitMs: number
  /** Fires when nobody reads any more. */
  readonly signal: AbortSignal
  /**
   * Called when this reader is too slow or the stream cannot be followed: the connection is to be
   * ended.
   */
  onDetached(): void
}

/** A chunk as stored, with its index. */
export interface IndexedChunk {
  readonly index: number
  /** JSON text. */
  readonly data: string
}

/**
 * How a reading ended: the stream was closed and all of it was given, or there may be more later.
 */
export type ReadingEnd = 'ended' | 'cut'

/** Most chunks of one read. */
const pageChunks = 256

/**
 * Gives a stream's chunks from an index on, in batches, as they become durable, until the stream is
 * closed and all were given.
 *
 * Reads only when it is asked for more, so a slow reader costs no memory. Ends early (`cut`) when
 * the stream is not there within `promiseWaitMs`, when the reader was detached, or when the signal
 * fires.
 *
 * @throws `stream_gone`, and what the store throws
 */
export async function* readStream(
  reading: StreamReading,
): AsyncGenerator<readonly IndexedChunk[], ReadingEnd, undefined> {
  const { store, sessionId, streamId, signal } = reading
  // Joined before the first read: what comes between the read and the wait is not missed.
  const live = reading.multiplexer.join(sessionId, streamId, reading.from)
  const letGo = AbortSignal.any([signal, live.detached])
  const onDetached = (): void => reading.onDetached()
  live.detached.addEventListener('abort', onDetached, { once: true })
  const promise = waitingTime(reading)
  const anyEnd = AbortSignal.any([letGo, promise.signal])
  let cursor = reading.from
  try {
    for (;;) {
      if (letGo.aborted) return 'cut'
      const page =
        live.take(cursor) ??
        (await store.streamPage(sessionId, streamId, { from: cursor, limit: pageChunks }))
      if (page !== undefined && page.chunks.length > 0) {
        promise.keep()
        const batch = page.chunks.map(({ data }, at) => ({ index: cursor + at, data }))
        cursor += batch.length
        yield batch
        continue
      }
      if (page !== undefined) {
        promise.keep()
        if (page.head.end !== undefined && cursor >= page.head.next) return 'ended'
      }
      if (promise.signal.aborted) return 'cut'
      await live.changed(cursor, anyEnd)
    }
  } finally {
    promise.keep()
    live.detached.removeEventListener('abort', onDetached)
    live.leave()
  }
}

/** Fires once a promised stream has been waited for long enough, unless it was kept. */
function waitingTime({ timers, promiseWaitMs }: StreamReading): {
  readonly signal: AbortSignal
  keep(): void
} {
  const controller = new AbortController()
  const keep = timers.after(promiseWaitMs, () => controller.abort())
  return { signal: controller.signal, keep }
}
