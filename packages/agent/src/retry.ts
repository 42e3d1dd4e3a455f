import { APICallError } from '@ai-sdk/provider'
import { isProviderStreamError } from '@ai-sdk/provider-utils'
import { hasErrorCode, ErrorCode, isHoldfastError } from '@holdfast/core'
import type { System } from '@holdfast/core'
import { untilAborted } from './timeouts.ts'

const baseMs = 1_000
const longestMs = 60_000
/** What network code throws when a connection breaks. */
const networkCodes: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENOTFOUND',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])

/**
 * Whether a model call's failure may pass by itself: what the provider says can be retried, status 408, 409, 429
 * and 5xx, a broken connection, and an output that was waited for too long.
 */
export function isPassingFailure(error: unknown): boolean {
  if (APICallError.isInstance(error)) {
    return error.isRetryable || isPassingStatus(error.statusCode)
  }
  if (isProviderStreamError(error)) return error.isRetryable === true
  if (hasErrorCode(error, ErrorCode.timeout)) {
    return error.details['reason'] === 'chunk' || error.details['reason'] === 'firstChunk'
  }
  if (isHoldfastError(error)) return error.retryable
  return isBrokenConnection(error)
}

/** How long to wait before the next try: as the provider says, else doubling from 1 s with jitter, at most 60 s. */
export function retryDelayMs(
  error: unknown,
  failures: number,
  system: Pick<System, 'now' | 'next'>,
): number {
  const asked = retryAfterMs(headersOf(error), system.now())
  if (asked !== undefined && asked >= 0 && asked <= longestMs) return asked
  const full = Math.min(longestMs, baseMs * 2 ** (failures - 1))
  return Math.round(full / 2 + (full / 2) * system.next())
}

/** Waits, unless the signal fires first: then rejects with its reason. */
export function pause(delayMs: number, system: System, signal: AbortSignal): Promise<void> {
  let cancel: () => void = () => undefined
  const over = new Promise<void>((resolve) => {
    cancel = system.after(delayMs, resolve)
  })
  return untilAborted(over, signal).finally(cancel)
}

function isPassingStatus(status: number | undefined): boolean {
  return (
    status !== undefined && (status === 408 || status === 409 || status === 429 || status >= 500)
  )
}

function isBrokenConnection(error: unknown): boolean {
  let current: unknown = error
  for (let depth = 0; depth < 4 && typeof current === 'object' && current !== null; depth += 1) {
    if ('code' in current && networkCodes.has(current.code)) return true
    current = 'cause' in current ? current.cause : undefined
  }
  return error instanceof TypeError && /fetch failed|terminated|network/i.test(error.message)
}

function headersOf(error: unknown): Readonly<Record<string, string>> {
  if (APICallError.isInstance(error)) return error.responseHeaders ?? {}
  const cause = error instanceof Error ? error.cause : undefined
  return APICallError.isInstance(cause) ? (cause.responseHeaders ?? {}) : {}
}

function retryAfterMs(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const milliseconds = Number.parseFloat(headers['retry-after-ms'] ?? '')
  if (!Number.isNaN(milliseconds)) return milliseconds
  const after = headers['retry-after']
  if (after === undefined) return undefined
  const seconds = Number(after)
  const wait = Number.isNaN(seconds) ? Date.parse(after) - now : seconds * 1_000
  return Number.isNaN(wait) ? undefined : wait
}
