// How often a run could not be executed in this process, and what follows from it.
import { ErrorCode, hasErrorCode, isHoldfastError } from '@holdfast/core'

const backoffMs = 200
/** The longest pause before a run is tried again. */
export const backoffMaxMs = 30_000
const failuresBorne = 5

/** Counts failures without a new journal entry between them. */
export class RunFailures {
  #count = 0
  #journalNext = -1

  /** Another failure: try again after so long, or give up. */
  next(error: unknown, journalNext: number): { readonly retryAfterMs: number } | 'give-up' {
    this.#count = journalNext === this.#journalNext ? this.#count + 1 : 1
    this.#journalNext = journalNext
    const isHopeless = this.#count >= failuresBorne && !isPassing(error)
    if (isHopeless && !hasErrorCode(error, ErrorCode.recordFromNewerVersion)) return 'give-up'
    return { retryAfterMs: Math.min(backoffMs * 2 ** (this.#count - 1), backoffMaxMs) }
  }
}

/** Whether an error says that the session, or the store, is not ours any more. */
export function isLost(error: unknown): boolean {
  return (
    hasErrorCode(error, ErrorCode.storeFenced) ||
    hasErrorCode(error, ErrorCode.storeClosed) ||
    hasErrorCode(error, ErrorCode.storeReadOnly)
  )
}

function isPassing(error: unknown): boolean {
  return isHoldfastError(error) && error.retryable
}
