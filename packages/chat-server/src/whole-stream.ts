// The first streams of a run read as one, for a page that has not got the message's beginning.
//
// Owns:  the lengths of closed streams that it has looked at: they never change.
// Asks:  the store for each stream's chunks.
// Never: stores anything: index i of the whole is always the same chunk.
//
// O1. The whole is stream 1 without its terminal chunk, stream 2 without its own, …, and the last one as it is.
// O2. All streams but the last are closed when a whole is first named.
import {
  isUuid,
  streamIdOf,
  type StreamHead,
  type StreamReader,
  type Watcher,
} from '@holdfast/core'
import { isTerminalChunk, parseUiChunk } from '@holdfast/chat-protocol'

/** The id of a run's streams 1 to `last` as one: `<runId>.1-<last>`. */
export function wholeStreamIdOf(runId: string, last: number): string {
  return last === 1 ? streamIdOf(runId, 1) : `${runId}.1-${last}`
}

/** Takes the id of a whole apart, or answers `undefined` if it is none. */
export function parseWholeStreamId(
  id: string,
): { readonly runId: string; readonly last: number } | undefined {
  const [, runId, last] = /^([0-9a-f-]{36})\.1-([1-9][0-9]{0,8})$/.exec(id) ?? []
  if (runId === undefined || last === undefined || !isUuid(runId) || last === '1') return undefined
  return { runId, last: Number(last) }
}

const lengthsKept = 10_000

/** A store's streams, and their wholes by their ids. Everything else of the store is as it is. */
export function withWholeStreams(store: StreamReader & Watcher): StreamReader & Watcher {
  const lengths = new Map<string, number>()

  /** How many chunks of a closed stream are in a whole. */
  async function closedLength(sessionId: string, streamId: string): Promise<number> {
    const key = `${sessionId}/${streamId}`
    const known = lengths.get(key)
    if (known !== undefined) return known
    const head = await store.streamHead(sessionId, streamId)
    const length = head === undefined ? 0 : await withoutTerminal(sessionId, streamId, head)
    if (head?.end === undefined) return length
    const [oldest] = lengths.keys()
    if (lengths.size >= lengthsKept && oldest !== undefined) lengths.delete(oldest)
    lengths.set(key, length)
    return length
  }

  async function withoutTerminal(
    sessionId: string,
    streamId: string,
    { first, next }: StreamHead,
  ): Promise<number> {
    if (next <= first) return next
    const page = await store.streamPage(sessionId, streamId, { from: next - 1, limit: 1 })
    const last = page?.chunks[0]
    return last !== undefined && isTerminalChunk(parseUiChunk(last.data)) ? next - 1 : next
  }

  /** Where each stream but the last begins and ends in the whole, and where the last one begins. */
  async function offsetsOf(
    sessionId: string,
    runId: string,
    last: number,
  ): Promise<readonly number[]> {
    const offsets = [0]
    for (let number = 1; number < last; number += 1) {
      const length = await closedLength(sessionId, streamIdOf(runId, number))
      offsets.push((offsets.at(-1) ?? 0) + length)
    }
    return offsets
  }

  async function headOf(
    sessionId: string,
    runId: string,
    last: number,
    lastBegin: number,
  ): Promise<StreamHead | undefined> {
    const begin = await store.streamHead(sessionId, streamIdOf(runId, 1))
    if (begin === undefined) return undefined
    const head = await store.streamHead(sessionId, streamIdOf(runId, last))
    return {
      first: begin.first,
      next: lastBegin + (head?.next ?? 0),
      ...(head?.end === undefined ? {} : { end: head.end }),
    }
  }

  return {
    async streamHead(sessionId, streamId) {
      const whole = parseWholeStreamId(streamId)
      if (whole === undefined) return await store.streamHead(sessionId, streamId)
      const offsets = await offsetsOf(sessionId, whole.runId, whole.last)
      return await headOf(sessionId, whole.runId, whole.last, offsets.at(-1) ?? 0)
    },
    async streamPage(sessionId, streamId, { from, limit }) {
      const whole = parseWholeStreamId(streamId)
      if (whole === undefined) return await store.streamPage(sessionId, streamId, { from, limit })
      const { runId, last } = whole
      const offsets = await offsetsOf(sessionId, runId, last)
      const at = Math.max(
        0,
        offsets.findLastIndex((offset) => offset <= from),
      )
      const begin = offsets[at] ?? 0
      const end = offsets[at + 1] ?? Infinity
      const page = await store.streamPage(sessionId, streamIdOf(runId, at + 1), {
        from: from - begin,
        limit: Math.min(limit, end - from),
      })
      const head = await headOf(sessionId, runId, last, offsets.at(-1) ?? 0)
      if (head === undefined) return undefined
      // Read after the page, the head may know of more than the page has: then the page is not the last.
      const chunks = page?.chunks ?? []
      return { head, from, chunks }
    },
    watch(topic, signal) {
      const whole = topic.kind === 'stream' ? parseWholeStreamId(topic.streamId) : undefined
      if (whole === undefined || topic.kind !== 'stream') return store.watch(topic, signal)
      const streamId = streamIdOf(whole.runId, whole.last)
      return store.watch({ ...topic, streamId }, signal)
    },
  }
}
