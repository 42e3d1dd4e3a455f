import type {
  ChatRequestOptions,
  PrepareReconnectToStreamRequest,
  PrepareSendMessagesRequest,
  UIMessage,
} from 'ai'
import type { BackoffOptions } from './backoff.ts'
import type { ChatOutcome, ConnectionChange } from './connection.ts'
import type { Resolvable } from './request.ts'
import type { TransportSystem } from './system.ts'

/** What `useChat` passes when it sends. */
export interface SendMessagesOptions<TMessage extends UIMessage> extends ChatRequestOptions {
  readonly trigger: 'submit-message' | 'regenerate-message'
  readonly chatId: string
  /** The message that is edited, regenerated or answered. Absent: a new one. */
  readonly messageId?: string | undefined
  readonly messages: TMessage[]
  /** Aborting it disconnects; it does not stop the run. */
  readonly abortSignal?: AbortSignal | undefined
}

/** What `useChat` passes when it resumes. */
export interface ReconnectToStreamOptions extends ChatRequestOptions {
  readonly chatId: string
  /** Aborting it disconnects; it does not stop the run. */
  readonly abortSignal?: AbortSignal | undefined
  /** Where to begin. Absent: the transport's `initialStartIndex`. */
  readonly startIndex?: number
}

/** Which chat to stop. */
export interface StopOptions {
  readonly chatId: string
  readonly headers?: HeadersInit | undefined
  readonly abortSignal?: AbortSignal | undefined
}

/** How a chat ended for this page. */
export interface ChatEndEvent {
  readonly chatId: string
  /** The index after the last chunk that was read. */
  readonly chunkIndex: number
  readonly outcome: ChatOutcome
}

/**
 * Prepares each request for a stream's chunks.
 *
 * AI SDK's own kind of hook fits. It also gets `chatId`, `startIndex`, and `runId` once the
 * stream's id is known. `api` is the stream's whole URL; `startIndex` is merged into whatever URL
 * comes back.
 */
export type PrepareReconnectRequest = (
  request: Parameters<PrepareReconnectToStreamRequest>[0] & {
    readonly chatId: string
    readonly startIndex: number
    readonly runId?: string
  },
) => ReturnType<PrepareReconnectToStreamRequest>

/** Options of a `WorkflowChatTransport`. */
export interface WorkflowChatTransportOptions<TMessage extends UIMessage> {
  /** The chat's URL; its query is kept in every request. Absent: `/api/chat`. */
  readonly api?: string
  /** Absent: the global one. */
  readonly fetch?: typeof fetch
  /** Sent with every request. */
  readonly headers?: Resolvable<HeadersInit>
  /** Sent with every message, besides what the transport sends itself. */
  readonly body?: Resolvable<object>
  readonly credentials?: Resolvable<RequestCredentials>
  /** Errors in a row after which a stream is given up. Absent, or no positive number: 3. */
  readonly maxConsecutiveErrors?: number
  /**
   * Where `reconnectToStream` begins; negative counts from the tail. Absent: 0, the whole message.
   */
  readonly initialStartIndex?: number
  /**
   * Whether a POST is tried once more after a network error (new messages and answers only), a 503,
   * or a 409, 425 or 429 with `retry-after`. Needs a server that knows a message id it has had, as
   * Holdfast's does. Absent: true.
   */
  readonly retrySend?: boolean
  readonly backoff?: BackoffOptions
  /**
   * Milliseconds of silence after which a connection is taken for dead and replaced. Absent: 60
   * 000.
   */
  readonly idleTimeoutMs?: number
  /**
   * Sees the answer to a POST before its chunks. A throw fails the call. Must not read the body.
   */
  readonly onChatSendMessage?: (
    response: Response,
    options: SendMessagesOptions<TMessage>,
  ) => void | Promise<void>
  /**
   * Called exactly once for each call that did not resolve to `null`, also after an abort or a
   * failure.
   */
  readonly onChatEnd?: (event: ChatEndEvent) => void | Promise<void>
  /** Lets a page show that it is reconnecting. */
  readonly onConnectionChange?: (change: ConnectionChange) => void
  /**
   * May replace the URL (which reconnects then start from, too), the body, the headers and the
   * credentials of a POST.
   */
  readonly prepareSendMessagesRequest?: PrepareSendMessagesRequest<TMessage>
  readonly prepareReconnectToStreamRequest?: PrepareReconnectRequest
  /** Time, chance and warnings. Absent: those of the page or process. */
  readonly system?: TransportSystem
}
