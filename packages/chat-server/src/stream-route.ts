import {
  ErrorCode,
  HoldfastError,
  isTerminal,
  type Log,
  parseStreamId,
  type StoredRun,
  type StreamReader,
  streamIdOf,
  type System,
  visibleStatus,
  type Watcher,
} from '@holdfast/core'
import {
  doneFrame,
  frameFromJson,
  holdfastRunIdHeader,
  isChatProtocolError,
  isTerminalChunk,
  lastEventIdHeader,
  parseStartIndex,
  parseUiChunk,
  resolveStartIndex,
  sseResponseHeaders,
  startIndexAfter,
  startIndexHeader,
  tailIndexHeader,
  tailIndexOf,
  workflowRunIdHeader,
} from '@holdfast/chat-protocol'
import { isChatId } from './chat-id.ts'
import type { ChatStore } from './chat-ports.ts'
import { chatOfRun, readChatState } from './chat-state.ts'
import type { ChatSettler } from './chat-settler.ts'
import { streamNotFound } from './not-found.ts'
import type { RunMultiplexer } from './run-multiplexer.ts'
import { sseResponse } from './sse-response.ts'
import { firstStreamOf, openStreamOf, type StreamPlace } from './stream-place.ts'
import { readStream } from './stream-reader.ts'
import type { TailStarts } from './tail-start.ts'
import { parseWholeStreamId } from './whole-stream.ts'

/** What serves streams. */
export interface StreamPorts {
  readonly store: ChatStore
  /** The store's streams, and wholes of them. */
  readonly streams: StreamReader & Watcher
  readonly settler: ChatSettler
  readonly multiplexer: RunMultiplexer
  readonly tails: TailStarts
  readonly system: System
  readonly log: Log
  readonly heartbeatMs: number
  readonly promiseWaitMs: number
  /** Fires when the server lets go of its readers. */
  readonly letGo: AbortSignal
}

/**
 * Finds the stream that an id names: a stream's (or a whole of several), a run's (its first stream), or a chat's (the stream that is being written, if any).
 * `undefined`: the chat has nothing active. A chat whose run waits for a person has nothing active: its messages show the question.
 *
 * @throws `stream_not_found`
 */
export async function findStream(
  { store, settler }: StreamPorts,
  sessionId: string,
  id: string,
): Promise<StreamPlace | undefined> {
  const whole = parseWholeStreamId(id)
  const parsed = whole === undefined ? parseStreamId(id) : { ...whole, number: whole.last }
  if (parsed !== undefined) {
    const { runId, number } = parsed
    const chatId = await chatOfRun(store, sessionId, runId)
    if (chatId !== undefined) await settler.settle(sessionId, chatId)
    const run = await store.run(sessionId, runId)
    if (run !== undefined) {
      if (await hasStream(store, sessionId, run, number)) return { runId, streamId: id }
      throw streamNotFound()
    }
    if (chatId !== undefined && number === 1) {
      const { document } = await readChatState(store, sessionId, chatId)
      const isPromised = document?.waiting.some((waiting) => waiting.runId === runId) === true
      if (isPromised) return firstStreamOf(runId)
    }
  }
  if (!isChatId(id)) throw streamNotFound()
  await settler.settle(sessionId, id)
  const { document } = await readChatState(store, sessionId, id)
  if (document === undefined) throw streamNotFound()
  const run = document.turn === undefined ? undefined : await store.run(sessionId, document.turn)
  if (run === undefined) return undefined
  const status = visibleStatus(run)
  return isTerminal(status) || status === 'interrupted' ? undefined : openStreamOf(run)
}

/** Whether the run has, or will have, this stream. */
async function hasStream(
  store: ChatStore,
  sessionId: string,
  { record }: StoredRun,
  number: number,
): Promise<boolean> {
  if (number <= record.stream) return true
  if (number > record.stream + 1) return false
  if (!isTerminal(record.status)) return true
  return (await store.streamHead(sessionId, streamIdOf(record.id, number))) !== undefined
}

/** Where a request wants to begin. A `Last-Event-ID` is newer than the URL it comes with. @throws `arguments_invalid` */
export function wantedIndex(request: Request, url: URL): number {
  try {
    const lastEventId = request.headers.get(lastEventIdHeader)
    if (lastEventId !== null) return startIndexAfter(lastEventId.trim())
    return parseStartIndex(url.searchParams.get('startIndex'))
  } catch (error) {
    if (!isChatProtocolError(error)) throw error
    throw new HoldfastError(ErrorCode.argumentsInvalid, { message: error.message, cause: error })
  }
}

/**
 * Serves a stream from an index on, as long as it grows. A negative index counts from the tail, and goes back to where a reader can
 * render all that follows; the response says at which index it begins.
 *
 * 204 for a reader that has all of a stream which ended without a last word (its run was no chat's): there is nothing to wait for.
 *
 * @throws `stream_gone`
 */
export async function serveStream(
  ports: StreamPorts,
  sessionId: string,
  place: StreamPlace,
  wanted: number,
): Promise<Response> {
  const { streams, multiplexer, tails, system, log, heartbeatMs, promiseWaitMs, letGo } = ports
  const { streamId, runId } = place
  const head = await streams.streamHead(sessionId, streamId)
  const length = head?.next ?? 0
  const resolved = resolveStartIndex(wanted, length)
  const from = wanted < 0 ? await tails.startFor(sessionId, streamId, resolved) : resolved
  if (head !== undefined && from < head.first) {
    throw new HoldfastError(ErrorCode.streamGone, {
      message: 'The beginning of this stream is no longer kept.',
      details: { first: head.first },
    })
  }
  if (
    head?.end !== undefined &&
    from >= length &&
    !(await saysEnd(streams, sessionId, place, length))
  ) {
    return new Response(null, { status: 204 })
  }
  const headers = new Headers({
    ...sseResponseHeaders,
    [workflowRunIdHeader]: streamId,
    [holdfastRunIdHeader]: runId,
    [startIndexHeader]: String(from),
    [tailIndexHeader]: String(tailIndexOf(length)),
  })
  return sseResponse({
    headers,
    timers: system,
    log,
    heartbeatMs,
    letGo,
    async *frames(signal, end) {
      const reading = readStream({
        store: streams,
        multiplexer,
        timers: system,
        sessionId,
        streamId,
        from,
        promiseWaitMs,
        signal,
        onDetached: end,
      })
      try {
        for (;;) {
          const { done, value } = await reading.next()
          if (done === true) {
            if (value === 'ended') yield doneFrame
            return
          }
          yield value.map(({ index, data }) => frameFromJson(data, { index })).join('')
        }
      } finally {
        await reading.return('cut')
      }
    },
  })
}

/** Whether a stream's last chunk tells a reader that nothing follows. */
async function saysEnd(
  streams: StreamReader,
  sessionId: string,
  { streamId }: StreamPlace,
  length: number,
): Promise<boolean> {
  if (length === 0) return false
  const page = await streams.streamPage(sessionId, streamId, { from: length - 1, limit: 1 })
  const last = page?.chunks[0]
  return last !== undefined && isTerminalChunk(parseUiChunk(last.data))
}
