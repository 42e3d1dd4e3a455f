import { ErrorCode } from '../error-codes.ts'
import { HoldfastError } from '../error.ts'

/** How many bytes a page may have before it ends; it always has one item. */
export const bytesPerPage = { journal: 4 * 1024 * 1024, stream: 1024 * 1024, log: 4 * 1024 * 1024 }

/** Checks a read's limit. @throws `arguments_invalid` */
export function pageLimit(limit: number, max: number): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= max) return limit
  throw new HoldfastError(ErrorCode.argumentsInvalid, {
    message: `limit must be a whole number from 1 to ${max}.`,
  })
}

/** Checks where a read begins. @throws `arguments_invalid` */
export function pageStart(from: number): number {
  if (Number.isSafeInteger(from) && from >= 0) return from
  throw new HoldfastError(ErrorCode.argumentsInvalid, {
    message: 'from must be a whole number from 0.',
  })
}
