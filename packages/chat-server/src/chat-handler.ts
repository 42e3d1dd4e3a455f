// Chats over HTTP: a request in, a response out.
//
// Owns:  the settler's watches, the shared streams, the lanes of chats, the buckets of the rate limit.
// Asks:  the host who asks; the store and the supervisors for everything else.
// Never: keeps a conversation, runs an agent, tells one session of another's things.
//
// H1. A response to a POST comes after its commit.
// H2. A client that goes takes only its own reader with it.
// H3. What is another session's answers exactly as what does not exist.
import {
  type JsonObject,
  Limits,
  type Log,
  silentLog,
  type Supervisors,
  type System,
  wholeNumberOption,
} from '@holdfast/core'
import { system as realSystem } from '@holdfast/core/system'
import { type Authorize, sessionOf } from './authorize.ts'
import { isChatId } from './chat-id.ts'
import { listChats } from './chat-list.ts'
import { readChatMessages } from './chat-messages.ts'
import type { AgentChoice, ChatPorts, ChatStore, OnBusy } from './chat-ports.ts'
import { createChatSettler } from './chat-settler.ts'
import { forgetChat } from './forget-chat.ts'
import { draining, errorResponse, jsonResponse } from './http-error.ts'
import { createLanes } from './lanes.ts'
import { chatNotFound, pathNotFound } from './not-found.ts'
import { createRateLimit } from './rate-limit.ts'
import { readJsonBody } from './request-body.ts'
import { assertMethod, checkedBasePath, pageLimit, segmentsBelow } from './request-path.ts'
import { createRunJournal, type JournalReader } from './run-journal.ts'
import { createRunMultiplexer } from './run-multiplexer.ts'
import type { Settled } from './settle.ts'
import { stopByAnyId } from './stop.ts'
import { firstStreamOf } from './stream-place.ts'
import { findStream, serveStream, type StreamPorts, wantedIndex } from './stream-route.ts'
import { createTailStarts } from './tail-start.ts'
import { acceptTurn } from './turn.ts'
import { parseTurnRequest } from './turn-request.ts'
import { withWholeStreams } from './whole-stream.ts'

/** Bounds of a chat handler; each has its default from `Limits` of `@holdfast/core`. */
export interface ChatHandlerLimits {
  /** Bytes of a request's body. Default 4 MiB. */
  readonly bodyBytes?: number
  /** Bytes of one message of a person. Default 1 MiB. */
  readonly messageBytes?: number
  /** Messages that may wait in a chat. Default 64. */
  readonly waitingMessages?: number
  /** Requests a second of one session. Default 20. */
  readonly requestsPerSecond?: number
  /** Chunks that a reader may be behind before it is let go of. Default 256. */
  readonly readerBufferChunks?: number
  /** Milliseconds of taking nothing after which a reader that is too far behind is let go of. Default 1,000. */
  readonly readerStalledMs?: number
  /** Milliseconds between heartbeats. Default 15,000. */
  readonly heartbeatMs?: number
  /** Milliseconds to wait for a stream that was promised, before the client has to ask again. Default 30,000. */
  readonly promiseWaitMs?: number
}

/** Options of {@link createChatHandler}. */
export interface ChatHandlerOptions {
  readonly authorize: Authorize
  readonly supervisors: Supervisors
  readonly store: ChatStore & JournalReader
  readonly agent: AgentChoice
  /** Default `/api/chat`. */
  readonly basePath?: string
  /** What becomes of a message that comes while the chat's run is going. Default `steer`. */
  readonly onBusy?: OnBusy
  readonly system?: System
  readonly log?: Log
  readonly limits?: ChatHandlerLimits
}

/** Serves chats. */
export interface ChatHandler {
  /** Answers a request; `undefined` for a path that is not below `basePath`. Never rejects. */
  handle(request: Request): Promise<Response | undefined>
  /** Makes the next turn of messages that came too late for the last one; on its own initiative this happens with every request. */
  settle(sessionId: string, chatId: string): Promise<Settled>
  /** Refuses requests from now on (503), and lets go of the readers: they come back elsewhere or later. */
  drain(): void
}

/**
 * Creates the handler of a session's chats.
 *
 * | route | answer |
 * | --- | --- |
 * | `POST {base}` | the stream of a turn: `{ id, messages, trigger, messageId? }` as `useChat` sends it |
 * | `GET {base}/{id}/stream?startIndex=N` | the stream of a stream's, run's or chat's id; 204 when the chat has nothing active |
 * | `POST {base}/{id}/cancel` | stops it |
 * | `GET {base}/{chatId}/messages?limit&before` | the conversation |
 * | `GET {base}?limit&after` | the session's chats |
 * | `DELETE {base}/{chatId}` | forgets a chat |
 *
 * @throws `configuration_invalid`
 */
export function createChatHandler(options: ChatHandlerOptions): ChatHandler {
  const { authorize, supervisors, store, agent } = options
  const { system = realSystem, log = silentLog, onBusy = 'steer' } = options
  const basePath = checkedBasePath(options.basePath ?? '/api/chat')
  const limits = checkedLimits(options.limits ?? {})
  const ports: ChatPorts = {
    store,
    supervisors,
    agent,
    onBusy,
    system,
    log,
    journal: createRunJournal(store),
    limits: {
      messageBytes: limits.messageBytes,
      steeringBytes: steeringBytes(limits.messageBytes),
      waitingMessages: limits.waitingMessages,
    },
  }
  const settler = createChatSettler(ports)
  const lanes = createLanes()
  const letGo = new AbortController()
  const rateLimit = createRateLimit(limits.requestsPerSecond, system)
  const whole = withWholeStreams(store)
  const streams: StreamPorts = {
    store,
    streams: whole,
    settler,
    multiplexer: createRunMultiplexer({
      store: whole,
      system,
      log,
      bufferChunks: limits.readerBufferChunks,
      stalledMs: limits.readerStalledMs,
    }),
    tails: createTailStarts(whole),
    system,
    log,
    heartbeatMs: limits.heartbeatMs,
    promiseWaitMs: limits.promiseWaitMs,
    letGo: letGo.signal,
  }

  async function route(
    request: Request,
    url: URL,
    sessionId: string,
    [id, resource, ...rest]: readonly string[],
  ): Promise<Response> {
    if (id === undefined) {
      assertMethod(request, 'GET', 'POST')
      return request.method === 'POST' ? await post(request, sessionId) : await list(url, sessionId)
    }
    if (rest.length > 0) throw pathNotFound()
    switch (resource) {
      case undefined:
        assertMethod(request, 'DELETE')
        if (!isChatId(id)) throw chatNotFound()
        await forgetChat(ports, sessionId, id)
        return new Response(null, { status: 204 })
      case 'stream':
        assertMethod(request, 'GET')
        return await stream(request, url, sessionId, id)
      case 'cancel':
        assertMethod(request, 'POST')
        return jsonResponse(await stopByAnyId(ports, sessionId, id))
      case 'messages':
        assertMethod(request, 'GET')
        return await messages(url, sessionId, id)
      default:
        throw pathNotFound()
    }
  }

  async function post(request: Request, sessionId: string): Promise<Response> {
    const body: JsonObject = await readJsonBody(request, limits.bodyBytes)
    const turn = parseTurnRequest(body, limits)
    const { place, promisedRunId } = await lanes.run(`${sessionId}/${turn.chatId}`, () =>
      acceptTurn(ports, sessionId, turn, body),
    )
    if (promisedRunId === undefined) return await serveStream(streams, sessionId, place, 0)
    await settler.settle(sessionId, turn.chatId)
    // Its run may have ended since: then the message's own turn has begun.
    const isOwnTurn = (await store.run(sessionId, promisedRunId)) !== undefined
    const answered = isOwnTurn ? firstStreamOf(promisedRunId) : place
    return await serveStream(streams, sessionId, answered, 0)
  }

  async function list(url: URL, sessionId: string): Promise<Response> {
    const after = url.searchParams.get('after')
    const limit = pageLimit(url)
    const request = after === null ? { limit } : { limit, after }
    return jsonResponse(await listChats(store, sessionId, request))
  }

  async function stream(
    request: Request,
    url: URL,
    sessionId: string,
    id: string,
  ): Promise<Response> {
    const wanted = wantedIndex(request, url)
    const place = await findStream(streams, sessionId, id)
    if (place === undefined) return new Response(null, { status: 204 })
    return await serveStream(streams, sessionId, place, wanted)
  }

  async function messages(url: URL, sessionId: string, chatId: string): Promise<Response> {
    if (!isChatId(chatId)) throw chatNotFound()
    await settler.settle(sessionId, chatId)
    const before = url.searchParams.get('before')
    const limit = pageLimit(url)
    const request = before === null ? { limit } : { limit, before }
    return jsonResponse(await readChatMessages(ports, sessionId, chatId, request))
  }

  return {
    async handle(request) {
      try {
        const url = new URL(request.url)
        const segments = segmentsBelow(basePath, url)
        if (segments === undefined) return undefined
        if (letGo.signal.aborted) throw draining()
        const sessionId = await sessionOf(authorize, request)
        if (sessionId instanceof Response) return sessionId
        rateLimit.take(sessionId)
        return await route(request, url, sessionId, segments)
      } catch (error) {
        return errorResponse(error, log)
      }
    },
    settle: (sessionId, chatId) => settler.settle(sessionId, chatId),
    drain() {
      letGo.abort()
      settler.stop()
    },
  }
}

function checkedLimits(limits: ChatHandlerLimits): Required<ChatHandlerLimits> {
  const MiB = 1024 * 1024
  const bound = (name: keyof ChatHandlerLimits, absent: number, max: number, min = 1): number =>
    wholeNumberOption(`limits.${name}`, limits[name] ?? absent, { min, max })
  return {
    bodyBytes: bound('bodyBytes', Limits.httpBodyBytes, 64 * MiB),
    messageBytes: bound('messageBytes', MiB, 8 * MiB),
    waitingMessages: bound('waitingMessages', 64, 128),
    requestsPerSecond: bound('requestsPerSecond', Limits.requestsPerSecond, 1_000_000),
    readerBufferChunks: bound('readerBufferChunks', Limits.readerBufferChunks, 65_536),
    readerStalledMs: bound('readerStalledMs', 1_000, 600_000, 0),
    heartbeatMs: bound('heartbeatMs', Limits.heartbeatMs, 3_600_000),
    promiseWaitMs: bound('promiseWaitMs', 30_000, 3_600_000),
  }
}

/** A message in an inbox has some words of the inbox's own around it. */
function steeringBytes(messageBytes: number): number {
  return Math.min(messageBytes, Limits.inboxEntryBytes - 1_024)
}
