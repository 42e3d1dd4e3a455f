import { ErrorCode, isHoldfastError, isStoreConflict, type Timers } from '@holdfast/core'

/** Codes that say that what a decision was made from is no longer so, or may not be. */
const stale: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.storeConflict,
  ErrorCode.storeOutcomeUnknown,
  ErrorCode.runConflict,
  ErrorCode.runEnded,
  ErrorCode.runExists,
  ErrorCode.runNotInterrupted,
  ErrorCode.interruptAnswered,
  ErrorCode.interruptNotFound,
])

/** Tries of one decision, with what it rests on read anew before each. */
const tries = 12

/**
 * Makes a decision and its one commit again until the commit goes through: whenever something changed between the reads and
 * the commit. Only errors of the commit count, which `decide` hands over by throwing them inside `commit`.
 *
 * @throws what the last try threw
 */
export async function decideAgain<Result>(
  timers: Timers,
  decide: (commit: <Value>(write: () => Promise<Value>) => Promise<Value>) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    let isStale = false
    try {
      return await decide(async (write) => {
        try {
          return await write()
        } catch (error) {
          isStale = isStaleError(error)
          throw error
        }
      })
    } catch (error) {
      if (!isStale || attempt === tries) throw error
      // Others, whose commit went first, get their turn.
      await new Promise<void>((resolve) => timers.macrotask(resolve))
    }
  }
}

function isStaleError(error: unknown): boolean {
  return isStoreConflict(error) || (isHoldfastError(error) && stale.has(error.code))
}
