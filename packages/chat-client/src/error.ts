/**
 * Why a chat failed for good.
 *
 * - `request_failed`: the server refused; `status` is its answer
 * - `run_id_missing`: the answer to a POST names no stream, so it could not be resumed
 * - `stream_gap`: the server went on after chunks that this reader never got
 * - `id_invalid`: a chat's id cannot be a part of a URL's path
 */
export type ChatTransportErrorCode =
  | 'request_failed'
  | 'run_id_missing'
  | 'stream_gap'
  | 'id_invalid'

/** Trying again will not help. */
export class ChatTransportError extends Error {
  override readonly name = 'ChatTransportError'
  readonly code: ChatTransportErrorCode
  /** The HTTP status that the server answered with. Absent: it is not about an answer. */
  readonly status?: number

  constructor(code: ChatTransportErrorCode, message: string, status?: number) {
    super(message)
    this.code = code
    if (status !== undefined) this.status = status
  }
}

/**
 * The network or the server was not there, however often it was tried; the run may still be going.
 *
 * It is a `TypeError` that speaks of the network because that is how `useChat` tells a lost
 * connection from a failure: it keeps what it has and resumes when the page is back online.
 */
export class ChatDisconnectedError extends TypeError {
  override readonly name = 'ChatDisconnectedError'
  readonly code = 'disconnected'
}

const maxBodyLength = 4096

/**
 * The error for an answer that is not a success, with the start of its body. Reads no more of it
 * than that.
 */
export async function errorFromResponse(response: Response): Promise<ChatTransportError> {
  const text = (await readStart(response)).trim()
  return new ChatTransportError(
    'request_failed',
    `Failed to fetch chat: ${response.status}${text === '' ? '' : ` ${text}`}`,
    response.status,
  )
}

async function readStart(response: Response): Promise<string> {
  if (response.body === null) return ''
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    while (text.length < maxBodyLength) {
      const { done, value } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
    }
  } catch {
    // What arrived before the connection broke is enough.
  }
  void reader.cancel().catch(() => undefined)
  return text.slice(0, maxBodyLength)
}
