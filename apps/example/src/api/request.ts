import { parsedJson, recordOf, textOf } from './json-reader.ts'

/** The server refused, or could not be reached (`status` 0). */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly status: number
  /** The server's code, `unreachable`, or `unexpected` for an answer that is none of its own. */
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** How a request is made. */
export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  /** Sent as JSON. Absent: no body. */
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/**
 * Asks the server and resolves with the JSON of its answer, `undefined` when there is no body.
 *
 * @throws {RequestError} the server refused or could not be reached
 * @throws the signal's reason, once it is aborted
 */
export async function requestJson(path: string, options: RequestOptions = {}): Promise<unknown> {
  const response = await request(path, { ...options, accept: 'application/json' })
  const text = await response.text()
  return text === '' ? undefined : parsedJson(text)
}

/** Asks the server and resolves with a success, whose body is not read. @throws {RequestError} */
export async function request(
  path: string,
  options: RequestOptions & { readonly accept: string },
): Promise<Response> {
  const { method = 'GET', body, signal, accept } = options
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers: { accept, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  } catch {
    signal?.throwIfAborted()
    throw new RequestError(0, 'unreachable', 'The server cannot be reached.')
  }
  if (response.ok) return response
  throw requestErrorFrom(response.status, await response.text().catch(() => ''))
}

/** The error that an answer's body tells: `{ "error": { "code", "message" } }`. */
export function requestErrorFrom(status: number, body: string): RequestError {
  const error = recordOf(recordOf(parsedJson(body))?.['error'])
  return new RequestError(
    status,
    textOf(error?.['code']) ?? 'unexpected',
    textOf(error?.['message']) ?? `The server answered with status ${status}.`,
  )
}
