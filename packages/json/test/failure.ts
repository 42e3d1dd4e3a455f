import { isHoldfastError, type HoldfastError } from '@holdfast/core'

/** The Holdfast error that an action throws; anything else fails the test. */
export function failureOf(action: () => unknown): HoldfastError {
  try {
    action()
  } catch (error) {
    if (isHoldfastError(error)) return error
    throw error
  }
  throw new Error('Nothing was thrown.')
}

/** The code of the error that an action throws, or `undefined` if it succeeds. */
export function codeOf(action: () => unknown): string | undefined {
  try {
    action()
    return undefined
  } catch (error) {
    if (isHoldfastError(error)) return error.code
    throw error
  }
}
