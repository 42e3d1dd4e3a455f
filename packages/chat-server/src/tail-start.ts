// Where a reader of a stream's tail may begin.
//
// Owns:  for some streams, the safe starts found so far.
// Asks:  the store for chunks that have not been looked at, each once.
// Never: looks at a chunk twice while the stream is remembered.
//
// T1. The answer for an index depends only on the chunks before it, so what was found stays true.
import { createStartTracker, parseUiChunk, type StartTracker } from '@holdfast/chat-protocol'
import type { StreamReader } from '@holdfast/core'

/** Finds where a reader may begin. */
export interface TailStarts {
  /**
   * The greatest index not above `from` where nothing is open, so that all that follows can be
   * rendered.
   */
  startFor(sessionId: string, streamId: string, from: number): Promise<number>
}

interface Found {
  readonly tracker: StartTracker
  /** Ascending. */
  readonly starts: number[]
  /** The scan that is under way. Scans of one stream follow each other. */
  scan: Promise<void>
}

const pageChunks = 1_000

/** Creates a finder that remembers up to `streams` streams, the least used forgotten first. */
export function createTailStarts(store: StreamReader, streams = 128): TailStarts {
  const known = new Map<string, Found>()

  function foundOf(key: string): Found {
    const found = known.get(key) ?? {
      tracker: createStartTracker(),
      starts: [0],
      scan: Promise.resolve(),
    }
    known.delete(key)
    known.set(key, found)
    const [oldest] = known.keys()
    if (known.size > streams && oldest !== undefined) known.delete(oldest)
    return found
  }

  return {
    async startFor(sessionId, streamId, from) {
      const found = foundOf(`${sessionId}/${streamId}`)
      const scan = found.scan
        .catch(() => undefined)
        .then(() => scanTo(store, sessionId, streamId, found, from))
      found.scan = scan
      await scan
      return greatestNotAbove(found.starts, from)
    },
  }
}

async function scanTo(
  store: StreamReader,
  sessionId: string,
  streamId: string,
  { tracker, starts }: Found,
  index: number,
): Promise<void> {
  while (tracker.nextIndex < index) {
    const from = tracker.nextIndex
    const limit = Math.min(pageChunks, index - from)
    const page = await store.streamPage(sessionId, streamId, { from, limit })
    if (page === undefined || page.chunks.length === 0) return
    for (const { data } of page.chunks) {
      tracker.push(parseUiChunk(data))
      if (tracker.start === tracker.nextIndex) starts.push(tracker.start)
    }
  }
}

function greatestNotAbove(ascending: readonly number[], limit: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ascending[middle] ?? Infinity) <= limit) low = middle + 1
    else high = middle
  }
  return ascending[low - 1] ?? 0
}
