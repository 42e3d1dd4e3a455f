import { ErrorCode, HoldfastError, isHoldfastError, type Log } from '@holdfast/core'
import { httpAnswers } from './http-status.ts'

const general: Readonly<Record<'internal' | 'store_unavailable', string>> = {
  internal: 'The server failed. The request may be sent again.',
  store_unavailable: 'The store is not available. Try again.',
}

/** Seconds after which a refused request may be sent again. */
const retryAfterSeconds = '1'

/**
 * The response that tells an error: `{ "error": { "code", "message" } }` with the status of its
 * code.
 *
 * What is no error of the caller's is logged with its cause, and told in general words. 405, 409
 * `chat_busy`, 429 and 503 carry what a client needs to go on (`allow`, `retry-after`).
 */
export function errorResponse(error: unknown, log: Log): Response {
  const code = isHoldfastError(error) ? error.code : ErrorCode.internal
  const { status, told } = httpAnswers[code]
  if (!told) {
    log.write({
      level: status >= 500 && status !== 503 ? 'error' : 'warn',
      event: 'chat_server.request.failed',
      message: 'A request failed for a reason that is not the caller’s.',
      fields: { code, status },
      cause: error,
    })
  }
  const shown = told && isHoldfastError(error) ? error : generalError(status)
  const headers = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' })
  if (status === 429 || status === 503 || code === ErrorCode.chatBusy) {
    headers.set('retry-after', retryAfterSeconds)
  }
  if (error instanceof MethodNotAllowedError) headers.set('allow', error.allow)
  const body = { error: { code: shown.code, message: shown.message } }
  return new Response(JSON.stringify(body), { status, headers })
}

function generalError(status: number): { readonly code: string; readonly message: string } {
  const code = status === 503 ? 'store_unavailable' : 'internal'
  return { code, message: general[code] }
}

/** The path exists, but not for this method. */
export class MethodNotAllowedError extends HoldfastError {
  override readonly name = 'MethodNotAllowedError'
  /** The methods that exist, as the `allow` header has them. */
  readonly allow: string

  constructor(allow: string) {
    super(ErrorCode.methodNotAllowed, { message: `Allowed here: ${allow}.` })
    this.allow = allow
  }
}

/** A response with a JSON body that no cache may keep. */
export function jsonResponse(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  })
}

/** The server is about to end. */
export function draining(): HoldfastError {
  return new HoldfastError(ErrorCode.draining, {
    message: 'The server is about to restart. Try again in a moment.',
  })
}
