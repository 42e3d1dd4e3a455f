// All streams that have readers in this process.
//
// Owns:  one live stream for each stream with readers.
// Asks:  the live streams.
// Never: keeps a stream without readers.
import type { Clock, Log, StreamReader, Watcher } from '@holdfast/core'
import { createLiveStream, type LiveReader, type LiveStream } from './live-stream.ts'

/** What a multiplexer works with. */
export interface RunMultiplexerOptions {
  readonly store: StreamReader & Watcher
  readonly system: Clock
  readonly log: Log
  readonly bufferChunks: number
  readonly stalledMs: number
}

/** Gives many readers of one stream one watch and one read. */
export interface RunMultiplexer {
  join(sessionId: string, streamId: string, cursor: number): LiveReader
}

/** Creates a multiplexer over a store. */
export function createRunMultiplexer(options: RunMultiplexerOptions): RunMultiplexer {
  const streams = new Map<string, LiveStream>()
  return {
    join(sessionId, streamId, cursor) {
      const key = `${sessionId}/${streamId}`
      const known = streams.get(key)
      if (known !== undefined) return known.join(cursor)
      const stream = createLiveStream({
        ...options,
        sessionId,
        streamId,
        onIdle: () => streams.delete(key),
      })
      streams.set(key, stream)
      return stream.join(cursor)
    },
  }
}
