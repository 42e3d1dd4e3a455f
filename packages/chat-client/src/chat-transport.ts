import {
  createFramingRepair,
  createOrphanFilter,
  holdfastRunIdHeader,
  indexFromHeader,
  startIndexHeader,
  tailIndexHeader,
  type UiChunk,
  workflowRunIdHeader,
} from '@holdfast/chat-protocol'
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai'
import { type ChatSession, chatStream, createChatSession } from './chat-session.ts'
import { type Connector, createConnector } from './connector.ts'
import { ChatTransportError } from './error.ts'
import { type FirstConnection, followStream } from './follow-stream.ts'
import {
  prepareReconnect,
  prepareSend,
  prepareStop,
  type RequestSettings,
} from './prepare-request.ts'
import { send } from './send.ts'
import { realSystem, type TransportSystem } from './system.ts'
import type {
  ReconnectToStreamOptions,
  SendMessagesOptions,
  StopOptions,
  WorkflowChatTransportOptions,
} from './transport-options.ts'

const defaultMaxConsecutiveErrors = 3
const defaultIdleTimeoutMs = 60_000

/**
 * Carries a chat between `useChat` and a server that keeps its streams.
 *
 * A stream that is cut is read on where it was left, until `finish`, `abort` or `error`; no chunk
 * is delivered twice or left out. Aborting a call, or closing the page, only disconnects: the run
 * goes on and can be resumed. {@link WorkflowChatTransport.stop} is what stops it. One transport
 * serves any number of chats.
 */
export class WorkflowChatTransport<
  TMessage extends UIMessage = UIMessage,
> implements ChatTransport<TMessage> {
  readonly #options: WorkflowChatTransportOptions<TMessage>
  readonly #api: string
  readonly #fetch: typeof fetch
  readonly #system: TransportSystem
  readonly #maxConsecutiveErrors: number
  #isReplay: boolean

  constructor(options: WorkflowChatTransportOptions<TMessage> = {}) {
    this.#options = options
    this.#api = options.api ?? '/api/chat'
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
    this.#system = options.system ?? realSystem
    const { maxConsecutiveErrors = defaultMaxConsecutiveErrors } = options
    this.#maxConsecutiveErrors =
      maxConsecutiveErrors > 0 ? maxConsecutiveErrors : defaultMaxConsecutiveErrors
    this.#isReplay = (options.initialStartIndex ?? 0) === 0
  }

  /**
   * Whether what `reconnectToStream` resolved with last is the whole message, so that `useChat`
   * begins it anew. A tail is not, nor is the stream that goes on after an answered approval.
   */
  get resumeStreamIsReplay(): boolean {
    return this.#isReplay
  }

  /**
   * Sends the messages and resolves with the answer's chunks as soon as the server has
   * acknowledged.
   *
   * From then on a cut connection is resumed. Before, the POST is tried once more where that is
   * safe (`retrySend`).
   *
   * @throws {ChatTransportError} the server refused, or named no stream to resume
   * @throws {ChatDisconnectedError} the network failed
   */
  async sendMessages(
    options: SendMessagesOptions<TMessage>,
  ): Promise<ReadableStream<UIMessageChunk>> {
    const session = this.#begin(options)
    try {
      const request = await prepareSend(this.#requestSettings(), options)
      session.signal.throwIfAborted()
      const response = await send(request, {
        fetch: this.#fetch,
        system: this.#system,
        signal: session.signal,
        retry: retryOf(this.#options.retrySend, options.trigger),
      })
      const runId = response.headers.get(workflowRunIdHeader)
      if (runId === null || runId === '') {
        void response.body?.cancel().catch(() => undefined)
        throw new ChatTransportError(
          'run_id_missing',
          `Workflow run ID not found in "${workflowRunIdHeader}" response header.`,
        )
      }
      await this.#options.onChatSendMessage?.(response, options)
      const connector = this.#connector(session, options, () => ({ api: request.url, runId }))
      const first = { response, from: 0, isReconnect: false }
      return this.#stream(session, { first, connector, chatId: options.chatId, isTail: false })
    } catch (error) {
      return await fail(session, error)
    }
  }

  /**
   * Reads a chat's active stream, or resolves with `null` when nothing is active or the server
   * knows no such chat.
   *
   * Begins at `startIndex`: 0 is the whole message; a positive one is the cursor of a reader that
   * has the chunks before it; a negative one is a tail, from the start of a part if the server can
   * tell, else without what has no beginning. If the server does not say where a tail begins, the
   * whole message is read instead.
   *
   * @throws {ChatTransportError} the server refused
   * @throws {ChatDisconnectedError} the network or the server failed too often
   */
  async reconnectToStream(
    options: ReconnectToStreamOptions,
  ): Promise<ReadableStream<UIMessageChunk> | null> {
    const { chatId, startIndex = this.#options.initialStartIndex ?? 0 } = options
    const session = this.#begin(options)
    let runId: string | undefined
    try {
      const connector = this.#connector(session, options, () => ({
        api: this.#api,
        ...(runId === undefined ? {} : { runId }),
      }))
      const opened = await this.#openAt(connector, startIndex).catch(nullWhereThereIsNothing)
      if (opened === null) {
        session.dismiss()
        return null
      }
      const { headers } = opened.first.response
      runId = headers.get(workflowRunIdHeader) ?? undefined
      session.state.cursor = opened.cursor
      this.#isReplay = opened.cursor === 0 && !isContinuation(headers)
      return this.#stream(session, { ...opened, connector, chatId })
    } catch (error) {
      return await fail(session, error)
    }
  }

  /**
   * Stops a chat's run for good; its readers get `abort`, and what was written is kept.
   *
   * Resolves once the server has taken it, which is durable on Holdfast's. Harmless when the run
   * has ended already.
   *
   * @throws {ChatTransportError} the server refused
   * @throws {ChatDisconnectedError} the network or the server failed too often: the run may go on
   */
  async stop({ chatId, headers, abortSignal }: StopOptions): Promise<void> {
    const connector = createConnector({
      ...this.#connectorBasics(),
      signal: abortSignal ?? new AbortController().signal,
      onReconnect: () => undefined,
      prepare: () => prepareStop(this.#requestSettings(), { chatId, headers }),
    })
    try {
      const response = await connector.open(0)
      void response?.body?.cancel().catch(() => undefined)
    } catch (error) {
      const hasEnded = error instanceof ChatTransportError && error.status === 409
      if (!hasEnded) throw error
    }
  }

  #begin({ chatId, abortSignal }: Pick<ReconnectToStreamOptions, 'chatId' | 'abortSignal'>) {
    return createChatSession({
      abortSignal,
      onEnd: async (outcome, chunkIndex) => {
        this.#tell(() => this.#options.onConnectionChange?.({ state: 'closed', chatId, outcome }))
        try {
          await this.#options.onChatEnd?.({ chatId, chunkIndex, outcome })
        } catch (error) {
          this.#system.warn('onChatEnd threw; the chat went on.', error)
        }
      },
    })
  }

  #stream(
    session: ChatSession,
    input: {
      readonly first: FirstConnection
      readonly connector: Connector
      readonly chatId: string
      readonly isTail: boolean
    },
  ): ReadableStream<UIMessageChunk> {
    const { first, connector, chatId, isTail } = input
    const chunks = followStream(first, session.state, {
      connector,
      system: this.#system,
      signal: session.signal,
      idleTimeoutMs: this.#options.idleTimeoutMs ?? defaultIdleTimeoutMs,
      onOpen: () => {
        this.#tell(() => this.#options.onConnectionChange?.({ state: 'open', chatId }))
      },
    })
    // The chunk types are the same on the wire; AI SDK's have mutable fields and type parameters.
    return chatStream(session, this.#renderable(chunks, isTail)) as ReadableStream<UIMessageChunk>
  }

  async *#renderable(
    chunks: AsyncGenerator<UiChunk, void, undefined>,
    isTail: boolean,
  ): AsyncGenerator<UiChunk, void, undefined> {
    const repair = createFramingRepair()
    const belongs = isTail
      ? createOrphanFilter(() => {
          this.#system.warn(
            'A tail began in the middle of a part, which is left out. A server that goes back to the start of a part avoids that.',
          )
        })
      : () => true
    for await (const chunk of chunks) if (belongs(chunk)) yield* repair(chunk)
  }

  async #openAt(
    connector: Connector,
    startIndex: number,
  ): Promise<{ first: FirstConnection; cursor: number; isTail: boolean } | null> {
    const response = await connector.open(startIndex)
    if (response === null) return null
    const isReconnect = true
    if (startIndex >= 0) {
      const first = { response, from: startIndex, isReconnect }
      return { first, cursor: startIndex, isTail: false }
    }
    const served = indexFromHeader(response.headers.get(startIndexHeader))
    if (served !== undefined && served >= 0) {
      return { first: { response, from: served, isReconnect }, cursor: served, isTail: false }
    }
    const tail = indexFromHeader(response.headers.get(tailIndexHeader))
    if (tail !== undefined) {
      const from = Math.max(0, tail + 1 + startIndex)
      return { first: { response, from, isReconnect }, cursor: from, isTail: true }
    }
    this.#system.warn(
      `A tail was asked for, but "${tailIndexHeader}" is missing: the whole message is read instead.`,
    )
    void response.body?.cancel().catch(() => undefined)
    return await this.#openAt(connector, 0)
  }

  #connector(
    session: ChatSession,
    options: SendMessagesOptions<TMessage> | ReconnectToStreamOptions,
    target: () => { readonly api: string; readonly runId?: string },
  ): Connector {
    const { chatId } = options
    return createConnector({
      ...this.#connectorBasics(),
      signal: session.signal,
      prepare: (startIndex) =>
        prepareReconnect(this.#requestSettings(), options, { ...target(), startIndex }),
      onReconnect: (attempt, delayMs) => {
        this.#tell(() =>
          this.#options.onConnectionChange?.({ state: 'reconnecting', chatId, attempt, delayMs }),
        )
      },
    })
  }

  #requestSettings(): RequestSettings<TMessage> {
    return { ...this.#options, api: this.#api }
  }

  #connectorBasics() {
    return {
      fetch: this.#fetch,
      system: this.#system,
      backoff: this.#options.backoff ?? {},
      maxConsecutiveErrors: this.#maxConsecutiveErrors,
    }
  }

  #tell(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.#system.warn('onConnectionChange threw; the chat went on.', error)
    }
  }
}

/** A chat that the server does not know has nothing to resume: a page may ask before its first message. */
function nullWhereThereIsNothing(error: unknown): null {
  if (error instanceof ChatTransportError && error.status === 404) return null
  throw error
}

/** Ends the session of a call that did not come to a stream, and throws. */
async function fail(session: ChatSession, error: unknown): Promise<never> {
  const wasAborted = session.signal.aborted
  await session.end(wasAborted ? 'disconnected' : 'failed')
  throw error
}

/**
 * A message is deduplicated by its id and an answer by its interrupt; a regeneration would begin
 * anew.
 */
function retryOf(
  retrySend: boolean | undefined,
  trigger: 'submit-message' | 'regenerate-message',
): 'nothing' | 'refused' | 'anything' {
  if (retrySend === false) return 'nothing'
  return trigger === 'submit-message' ? 'anything' : 'refused'
}

/** Whether the stream goes on with a message that another stream of the same run began. */
function isContinuation(headers: Headers): boolean {
  const runId = headers.get(holdfastRunIdHeader)
  return runId !== null && runId !== headers.get(workflowRunIdHeader)
}
