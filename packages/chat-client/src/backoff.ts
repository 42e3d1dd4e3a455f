/** How long to wait before a connection is tried again. */
export interface BackoffOptions {
  /**
   * Milliseconds before the first attempt; doubled for each further one that brings nothing.
   * Absent: 500.
   */
  readonly initialDelayMs?: number
  /** Milliseconds that doubling stops at. Absent: 15 000. */
  readonly maxDelayMs?: number
}

/** What {@link reconnectDelay} decides by. */
export interface DelayInput {
  /** 1 for the first attempt since something came. */
  readonly attempt: number
  /** What the server asked for. Absent: nothing. */
  readonly retryAfterMs?: number | undefined
  /** From 0 up to, not including, 1. */
  readonly random: number
}

const longestRetryAfterMs = 120_000

/**
 * The milliseconds to wait before an attempt: exponential, of which the upper half is left to
 * chance, so that many pages do not come back at once. Never shorter than what the server asked
 * for, up to two minutes of it.
 */
export function reconnectDelay(input: DelayInput, options: BackoffOptions = {}): number {
  const { initialDelayMs = 500, maxDelayMs = 15_000 } = options
  const full = Math.min(maxDelayMs, initialDelayMs * 2 ** Math.min(30, input.attempt - 1))
  const jittered = full / 2 + (full / 2) * input.random
  return Math.max(jittered, Math.min(longestRetryAfterMs, input.retryAfterMs ?? 0))
}

/** Whether an answer to a reconnect may be different the next time: 408, 425, 429 and 5xx. */
export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500
}

/**
 * The milliseconds that a `retry-after` header asks for, as seconds or as a date; `undefined` if it
 * is absent or neither.
 */
export function retryAfterFromHeader(value: string | null, now: number): number | undefined {
  if (value === null) return undefined
  const text = value.trim()
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  if (!/[a-z]/i.test(text)) return undefined
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
