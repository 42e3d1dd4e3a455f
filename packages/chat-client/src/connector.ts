// Opens one stream again and again.
//
// Owns:  the count of errors, the back-off.
// Asks:  the caller for each request, `fetch` for its answer, the system for time.
// Never: reads a body, knows an index's meaning.
//
// K1. Between two requests there is a pause, except before the first.
// K2. A chunk, a heartbeat or a connection that stood for 20 s resets the count of errors; the
//     pause grows until a chunk or such a connection, so that a server that only says hello is not
//     asked without end in haste.
// K3. After `maxConsecutiveErrors` errors in a row it gives up with one error.

import {
  type BackoffOptions,
  isRetryableStatus,
  reconnectDelay,
  retryAfterFromHeader,
} from './backoff.ts'
import { ChatDisconnectedError, errorFromResponse } from './error.ts'
import type { PreparedRequest } from './request.ts'
import { type TransportSystem, wait } from './system.ts'

/** What a connector works with. */
export interface ConnectorOptions {
  readonly fetch: typeof fetch
  readonly system: TransportSystem
  readonly backoff: BackoffOptions
  readonly maxConsecutiveErrors: number
  /** Aborted when nobody wants the stream any more. */
  readonly signal: AbortSignal
  /** The request for the chunks from an index on. A throw is final. */
  prepare(startIndex: number): Promise<PreparedRequest>
  onReconnect(attempt: number, delayMs: number): void
}

/** What a connection brought before it was cut. */
export interface CutConnection {
  readonly progressed: boolean
  readonly heard: boolean
  readonly openMs: number
  /** Whether a connection that brought nothing is an error. The answer to a POST is not counted. */
  readonly counted: boolean
  readonly cause: unknown
}

/** Opens one stream as often as it takes. */
export interface Connector {
  /**
   * Asks for the stream from an index on, again and again while that may help.
   *
   * Resolves with a success, or with `null` when the server has nothing active (204).
   *
   * @throws {ChatTransportError} the server refused for good
   * @throws {ChatDisconnectedError} too many errors in a row
   * @throws the signal's reason, once it is aborted
   */
  open(startIndex: number): Promise<Response | null>
  /**
   * Says that a connection ended before the stream did.
   *
   * @throws {ChatDisconnectedError} too many errors in a row
   */
  cut(connection: CutConnection): void
}

const longConnectionMs = 20_000

/** Creates a connector for one stream. */
export function createConnector(options: ConnectorOptions): Connector {
  const { system, signal, maxConsecutiveErrors } = options
  let errors = 0
  let attempt = 0
  let retryAfterMs: number | undefined

  function countError(cause: unknown): void {
    errors += 1
    attempt += 1
    if (errors < maxConsecutiveErrors) return
    throw new ChatDisconnectedError(
      `Network connection to the chat lost: failed to reconnect after ${errors} consecutive errors.`,
      { cause },
    )
  }

  async function pause(): Promise<void> {
    if (attempt === 0) return
    const delayMs = reconnectDelay(
      { attempt, retryAfterMs, random: system.random() },
      options.backoff,
    )
    retryAfterMs = undefined
    options.onReconnect(attempt, delayMs)
    await wait(system, delayMs, signal)
  }

  /** The answer, or the error that took its place. */
  async function ask(startIndex: number): Promise<Response | { readonly networkError: unknown }> {
    const { url, init } = await options.prepare(startIndex)
    signal.throwIfAborted()
    try {
      return await options.fetch(url, { ...init, signal })
    } catch (networkError) {
      signal.throwIfAborted()
      return { networkError }
    }
  }

  return {
    async open(startIndex) {
      for (;;) {
        await pause()
        signal.throwIfAborted()
        const answer = await ask(startIndex)
        if ('networkError' in answer) {
          countError(answer.networkError)
          continue
        }
        if (answer.status === 204) return null
        if (answer.ok) return answer
        const error = await errorFromResponse(answer)
        if (!isRetryableStatus(answer.status)) throw error
        retryAfterMs = retryAfterFromHeader(answer.headers.get('retry-after'), system.now())
        countError(error)
      }
    },
    cut(connection) {
      if (connection.progressed || connection.openMs >= longConnectionMs) {
        errors = 0
        attempt = 1
      } else if (connection.heard || !connection.counted) {
        errors = 0
        attempt += 1
      } else {
        countError(connection.cause)
      }
    },
  }
}
