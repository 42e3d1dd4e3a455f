/** Registry symbol, so that two copies of this package agree on what a protocol error is. */
const brand = Symbol.for('@holdfast/chat-protocol/ChatProtocolError')

/**
 * What can be wrong with what came over the wire.
 *
 * - `chunk_malformed`: a frame's data is no JSON object with a string `type`
 * - `chunk_too_large`: a frame's data is longer than the limit; details `length`, `limit`
 * - `event_too_large`: a line or an event of an SSE stream is longer than the limit; details
 *   `limit`
 * - `start_index_invalid`: a start index is no safe integer
 */
export type ChatProtocolErrorCode =
  | 'chunk_malformed'
  | 'chunk_too_large'
  | 'event_too_large'
  | 'start_index_invalid'

/** The other side broke the protocol. Never carries the data that broke it. */
export class ChatProtocolError extends Error {
  override readonly name = 'ChatProtocolError'
  readonly [brand] = true
  readonly code: ChatProtocolErrorCode
  /** Plain JSON, safe to show. */
  readonly details: Readonly<Record<string, number>>

  constructor(
    code: ChatProtocolErrorCode,
    message: string,
    details: Readonly<Record<string, number>> = {},
  ) {
    super(message)
    this.code = code
    this.details = details
  }
}

/** Whether a value is a {@link ChatProtocolError}, whichever copy of this package made it. */
export function isChatProtocolError(value: unknown): value is ChatProtocolError {
  return typeof value === 'object' && value !== null && brand in value
}
