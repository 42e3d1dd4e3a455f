// What a failure of the server or of the line to it means.
import { configurationInvalid, ErrorCode, HoldfastError, isHoldfastError } from '@holdfast/core'
import { ColumnError } from './columns.ts'

/** What can be done about a failure. */
export type FailureKind =
  /** The line is gone, or the server is not there: the same may succeed on another connection. */
  | 'line'
  /** The server gave up this transaction for another's sake: the same may succeed at once. */
  | 'contended'
  /** What was asked for took too long, or had to wait too long. */
  | 'slow'
  | 'full'
  | 'damaged'
  | 'read-only'
  /** How the store was opened is wrong: password, database, privileges. */
  | 'setup'
  | 'other'

const sqlState = /^[0-9A-Z]{5}$/

/** The SQLSTATE of an error, or `undefined` if the server did not send it. */
export function sqlStateOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  // Node's own codes of five letters (`EPIPE`) come without a severity.
  if (!('code' in error) || !('severity' in error) || typeof error.code !== 'string')
    return undefined
  return sqlState.test(error.code) ? error.code : undefined
}

/** What kind of failure it is. What is no error of the server's or of ours is one of the line. */
export function failureKind(error: unknown): FailureKind {
  if (isHoldfastError(error)) return 'other'
  if (error instanceof ColumnError) return 'damaged'
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) {
    return 'other'
  }
  const state = sqlStateOf(error)
  if (state === undefined) return 'line'
  switch (state) {
    case '40001':
    case '40P01':
      return 'contended'
    case '55P03':
    case '57014':
      return 'slow'
    // Shutting down, crashed, starting, too many connections, ended while idle.
    case '57P01':
    case '57P02':
    case '57P03':
    case '57P05':
    case '25P03':
    case '53300':
      return 'line'
    case '53100':
    case '53200':
      return 'full'
    case 'XX001':
    case 'XX002':
      return 'damaged'
    case '25006':
      return 'read-only'
    case '28000':
    case '28P01':
    case '3D000':
    case '42501':
      return 'setup'
    // PgBouncer speaks through 08P01 for all that it refuses: a server that is away, and a login.
    default:
      return state.startsWith('08') ? 'line' : 'other'
  }
}

/** Turns what the driver threw into a Holdfast error: the one door of this package for foreign throws. */
export function storageError(error: unknown): HoldfastError {
  if (isHoldfastError(error)) return error
  switch (failureKind(error)) {
    case 'line':
      return failure(ErrorCode.storeUnavailable, 'The database cannot be reached.', error)
    case 'contended':
      return failure(ErrorCode.storeUnavailable, 'The database gave other work precedence.', error)
    case 'slow':
      return failure(ErrorCode.storeUnavailable, 'The database took too long.', error)
    case 'full':
      return failure(ErrorCode.storeFull, 'The database has no space left.', error)
    case 'damaged':
      return failure(ErrorCode.storeCorrupt, 'The database holds what it cannot.', error)
    case 'read-only':
      return failure(ErrorCode.storeReadOnly, 'The database takes no writes now.', error)
    case 'setup':
      return configurationInvalid(
        `The database refuses: ${error instanceof Error ? error.message : 'no reason given'}.`,
      )
    case 'other':
      return failure(ErrorCode.internal, 'The store failed on its database.', error)
  }
}

function failure(code: ErrorCode, message: string, cause: unknown): HoldfastError {
  return new HoldfastError(code, { message, cause })
}

/** The failure of a call after the store was closed. */
export function storeClosed(): HoldfastError {
  return new HoldfastError(ErrorCode.storeClosed, { message: 'The store is closed.' })
}
