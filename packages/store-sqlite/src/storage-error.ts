import { ErrorCode, HoldfastError, isHoldfastError } from '@holdfast/core'

/** SQLite's primary result codes that mean something to a caller. */
const primary = {
  perm: 3,
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const

/** The same by name, as better-sqlite3 tells them; an extended code begins with its primary one. */
const primaryByName: ReadonlyMap<string, number> = new Map([
  ['PERM', primary.perm],
  ['BUSY', primary.busy],
  ['LOCKED', primary.locked],
  ['READONLY', primary.readOnly],
  ['IOERR', primary.ioError],
  ['CORRUPT', primary.corrupt],
  ['FULL', primary.full],
  ['CANTOPEN', primary.cannotOpen],
  ['NOTADB', primary.notADatabase],
])

/** What SQLite says that means nothing in particular to a caller: `SQLITE_ERROR`. */
const otherCode = 1

/** SQLite's primary result code of an error, or `undefined` if it is not SQLite's. */
export function sqliteCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff
  if (!('code' in error) || typeof error.code !== 'string') return undefined
  const name = /^SQLITE_([A-Z]+)/.exec(error.code)?.[1]
  return name === undefined ? undefined : (primaryByName.get(name) ?? otherCode)
}

/** Whether another connection holds the lock, so that the same may succeed in a moment. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === primary.busy || code === primary.locked
}

/** Whether the file system failed, after which a connection is never used again. */
export function isIoError(error: unknown): boolean {
  return sqliteCode(error) === primary.ioError
}

/** Whether a page is not what it should be. Others may be whole. */
export function isDamage(error: unknown): boolean {
  return sqliteCode(error) === primary.corrupt
}

/** Turns what SQLite threw into a Holdfast error: the one door of this package for foreign throws. */
export function storageError(error: unknown, path: string): HoldfastError {
  if (isHoldfastError(error)) return error
  switch (sqliteCode(error)) {
    case primary.busy:
    case primary.locked:
      return failure(ErrorCode.storeUnavailable, `${path} is locked by another process.`, error)
    case primary.perm:
    case primary.readOnly:
      return failure(ErrorCode.storeReadOnly, `${path} cannot be written.`, error)
    case primary.ioError:
      return failure(ErrorCode.storeUnavailable, `The file system failed on ${path}.`, error)
    case primary.corrupt:
      return failure(ErrorCode.storeCorrupt, `${path} is damaged.`, error)
    case primary.notADatabase:
      return failure(ErrorCode.storeCorrupt, `${path} is not a database.`, error)
    case primary.full:
      return failure(ErrorCode.storeFull, `There is no space left for ${path}.`, error)
    case primary.cannotOpen:
      return new HoldfastError(ErrorCode.storeUnavailable, {
        message: `${path} cannot be opened: does its directory exist, and may it be written?`,
        cause: error,
        retryable: false,
      })
    case undefined:
    default:
      return new HoldfastError(ErrorCode.internal, {
        message: `The store failed on ${path}.`,
        cause: error,
      })
  }
}

function failure(code: ErrorCode, message: string, cause: unknown): HoldfastError {
  return new HoldfastError(code, { message, cause })
}
