// One stream as it grows, for all its readers in this process.
//
// Owns:  one watch of the stream, the newest chunks (as many as a reader may lag behind), the list
//        of readers.
// Asks:  the store for what follows, once for all readers.
// Never: waits for a reader, keeps a reader's chunks, writes.
//
// M1. A reader gets chunks from the shared ones while it keeps up, and from the store at its cursor
//     when it does not: nothing is skipped.
// M2. A reader that is further behind than the shared chunks reach and has taken nothing for
//     `stalledMs` is detached.
// M3. With its last reader gone, the watch ends.
import type {
  Clock,
  Log,
  StreamChunk,
  StreamHead,
  StreamPage,
  StreamReader,
  Watcher,
} from '@holdfast/core'

/** What a live stream works with. */
export interface LiveStreamOptions {
  readonly store: StreamReader & Watcher
  readonly system: Clock
  readonly log: Log
  readonly sessionId: string
  readonly streamId: string
  /** How many chunks are shared, which is how far behind a reader may be. */
  readonly bufferChunks: number
  /** How long a reader that is too far behind may take nothing. */
  readonly stalledMs: number
  /** Called once, when no reader is left. */
  onIdle(): void
}

/** One reader's place at a live stream. */
export interface LiveReader {
  /** Fires when the reader is too slow: it should come back at its cursor. */
  readonly detached: AbortSignal
  /** Chunks from the cursor on, if they are among the shared ones; marks the reader as moving. */
  take(cursor: number): StreamPage | undefined
  /**
   * Resolves when there may be something at the cursor, the stream has closed, the watch failed, or
   * the signal fires.
   */
  changed(cursor: number, signal: AbortSignal): Promise<void>
  leave(): void
}

/** A stream with readers. */
export interface LiveStream {
  join(cursor: number): LiveReader
}

interface Place {
  cursor: number
  takenAt: number
  readonly detach: AbortController
}

/** Most chunks of one read. */
const pageChunks = 256

/** Creates a live stream; its watch begins with the first reader. */
export function createLiveStream(options: LiveStreamOptions): LiveStream {
  const { store, system, log, sessionId, streamId, bufferChunks, stalledMs } = options
  const readers = new Set<Place>()
  const stop = new AbortController()
  const waiting = new Set<() => void>()
  let head: StreamHead | undefined
  let shared: StreamChunk[] = []
  let sharedFrom = 0
  let isStarted = false
  let hasFailed = false

  function tell(): void {
    for (const wake of [...waiting]) wake()
  }

  async function nextChange(signal: AbortSignal): Promise<void> {
    let wake: () => void = () => undefined
    try {
      await new Promise<void>((resolve) => {
        wake = resolve
        waiting.add(wake)
        signal.addEventListener('abort', wake, { once: true })
      })
    } finally {
      waiting.delete(wake)
      signal.removeEventListener('abort', wake)
    }
  }

  function detachStalled(): void {
    const next = sharedFrom + shared.length
    for (const place of readers) {
      const isBehind = next - place.cursor > bufferChunks
      if (isBehind && system.now() - place.takenAt >= stalledMs) place.detach.abort()
    }
  }

  function share(page: StreamPage): void {
    head = page.head
    if (page.chunks.length > 0) {
      shared.push(...page.chunks)
      const excess = shared.length - bufferChunks
      if (excess > 0) {
        shared = shared.slice(excess)
        sharedFrom += excess
      }
      detachStalled()
    }
    tell()
  }

  async function readOn(): Promise<void> {
    if (head === undefined) {
      const found = await store.streamHead(sessionId, streamId)
      if (found === undefined) return
      sharedFrom = found.next
      share({ head: found, from: found.next, chunks: [] })
    }
    for (;;) {
      const from = sharedFrom + shared.length
      const page = await store.streamPage(sessionId, streamId, { from, limit: pageChunks })
      if (page === undefined) return
      share(page)
      if (page.chunks.length === 0) return
    }
  }

  async function follow(): Promise<void> {
    try {
      for await (const _ of store.watch({ kind: 'stream', sessionId, streamId }, stop.signal)) {
        await readOn()
        if (head?.end !== undefined) return
      }
    } catch (cause) {
      if (stop.signal.aborted) return
      log.write({
        level: 'warn',
        event: 'chat_server.stream.failed',
        message: 'A stream cannot be followed; its readers will come back.',
        fields: { stream_id: streamId },
        cause,
      })
      hasFailed = true
      for (const place of readers) place.detach.abort()
      tell()
    }
  }

  return {
    join(cursor) {
      const place: Place = { cursor, takenAt: system.now(), detach: new AbortController() }
      readers.add(place)
      if (hasFailed) place.detach.abort()
      if (!isStarted) {
        isStarted = true
        void follow()
      }
      return {
        detached: place.detach.signal,
        take(at) {
          place.cursor = at
          place.takenAt = system.now()
          if (head === undefined || at < sharedFrom || at >= sharedFrom + shared.length) return
          return { head, from: at, chunks: shared.slice(at - sharedFrom) }
        },
        async changed(at, signal) {
          while (!hasFailed && !signal.aborted) {
            if (head !== undefined && (head.next > at || head.end !== undefined)) return
            await nextChange(signal)
          }
        },
        leave() {
          if (!readers.delete(place) || readers.size > 0) return
          stop.abort()
          options.onIdle()
        },
      }
    },
  }
}
