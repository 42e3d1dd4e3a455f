// The history of one run as it happens, for whoever on the page looks at it.
//
// Owns:  one connection for a run, however many look; what it has told.
// Asks:  the browser's EventSource, which comes back by itself with the place where it was.
// Never: keeps a connection that nobody looks at: a browser has six for all its tabs.

import { parsedJson } from '../api/json-reader.ts'
import { type HistoryEntry, historyEntryFrom } from './history-entry.ts'
import { historyPath } from './run-api.ts'

/** What a feed has told so far. A new object after each change. */
export interface History {
  readonly entries: readonly HistoryEntry[]
  /** The run has ended: nothing follows. */
  readonly isWhole: boolean
}

interface Feed {
  history: History
  readonly listeners: Set<() => void>
  close(): void
}

const noHistory: History = { entries: [], isWhole: false }
const retryMs = 3_000
const feeds = new Map<string, Feed>()

/** Follows a run's history; returns what ends that. */
export function followHistory(runId: string, listener: () => void): () => void {
  const feed = feeds.get(runId) ?? beginFeed(runId)
  feed.listeners.add(listener)
  return () => {
    feed.listeners.delete(listener)
    if (feed.listeners.size > 0) return
    feed.close()
    if (feeds.get(runId) === feed) feeds.delete(runId)
  }
}

/** What has been told of a run that is followed. The same object until something has changed. */
export function historySoFar(runId: string): History {
  return feeds.get(runId)?.history ?? noHistory
}

function beginFeed(runId: string): Feed {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const known = new Set<string>()

  const feed: Feed = {
    history: noHistory,
    listeners: new Set(),
    close() {
      source?.close()
      clearTimeout(timer)
    },
  }

  function change(history: History): void {
    feed.history = history
    for (const listener of feed.listeners) listener()
  }

  function onMessage({ data }: MessageEvent<string>): void {
    if (data === '[DONE]') {
      feed.close()
      change({ ...feed.history, isWhole: true })
      return
    }
    const entry = historyEntryFrom(parsedJson(data))
    if (entry === undefined || known.has(entry.id)) return
    known.add(entry.id)
    change({ entries: [...feed.history.entries, entry], isWhole: false })
  }

  function connect(): void {
    source = new EventSource(historyPath(runId))
    source.addEventListener('message', onMessage)
    source.addEventListener('error', () => {
      // It comes back by itself after a cut, but not after a refusal.
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(connect, retryMs)
    })
  }

  feeds.set(runId, feed)
  connect()
  return feed
}
