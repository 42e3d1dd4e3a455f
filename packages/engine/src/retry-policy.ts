// When a failing step is tried again.
import { isHoldfastError, Limits } from '@holdfast/core'
import type { Random, StepOptions } from '@holdfast/core'

/** What becomes of a failed attempt: another at this distance, or none. */
export type Verdict =
  | { readonly kind: 'again'; readonly delayMs: number }
  | { readonly kind: 'give-up'; readonly retryable: boolean }

/** Judges a failed attempt. The delay doubles, is bounded, and has jitter of half its length. */
export function judgeFailure(
  options: StepOptions,
  attempt: number,
  error: unknown,
  random: Random,
): Verdict {
  const retryable = isWorthAnother(options, error)
  if (!retryable || attempt > (options.retries ?? Limits.stepRetries)) {
    return { kind: 'give-up', retryable }
  }
  const base = options.retryBaseMs ?? Limits.stepRetryBaseMs
  const max = options.retryMaxMs ?? Limits.stepRetryMaxMs
  const grown = Math.min(max, base * 2 ** (attempt - 1))
  return { kind: 'again', delayMs: Math.round(grown * (0.5 + random.next() / 2)) }
}

/** What an author's `shouldRetry` says; if that throws, or there is none: what the error says of itself. */
function isWorthAnother({ shouldRetry }: StepOptions, error: unknown): boolean {
  try {
    if (shouldRetry !== undefined) return shouldRetry(error)
  } catch {
    return false
  }
  if (isHoldfastError(error)) return error.retryable
  return !(error instanceof Error && 'retryable' in error && error.retryable === false)
}
