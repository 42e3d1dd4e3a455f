import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { SqlConnection, SqlDriver } from './driver.ts'
import { checkpointPages } from './log-space.ts'
import { fileVersion, migrate, pragmaNumber } from './schema.ts'

/**
 * How long a statement waits for another connection's lock before it fails. Milliseconds. Short, as
 * the wait holds its thread; longer while a file is being opened.
 */
const busyTimeoutMs = { opening: 2_000, open: 20 }

/**
 * Looks at a file before anything is written to it.
 *
 * @throws `store_corrupt`, `record_from_newer_version`, `store_read_only`
 */
export function inspectFile(driver: SqlDriver, path: string): void {
  // The log and the lock lie beside the file.
  checkWritable(dirname(path))
  if (!existsSync(path)) return
  checkWritable(path)
  if (statSync(path).size === 0) return
  const connection = driver(path, { readOnly: true })
  try {
    connection.exec(`pragma busy_timeout = ${busyTimeoutMs.opening}`)
    fileVersion(connection, path)
  } finally {
    connection.close()
  }
}

/** By its mode, and not only by what this process may do: root may write everything. */
function checkWritable(path: string): void {
  if (!existsSync(path)) return
  let writable = (statSync(path).mode & 0o222) !== 0
  try {
    accessSync(path, constants.W_OK)
  } catch {
    writable = false
  }
  if (writable) return
  throw new HoldfastError(ErrorCode.storeReadOnly, { message: `${path} is read-only.` })
}

/** Opens the connection that writes: every commit is on the disk when it returns, and that is verified. */
export function openForWriting(driver: SqlDriver, path: string): SqlConnection {
  const connection = driver(path, { readOnly: false })
  try {
    connection.exec(`pragma busy_timeout = ${busyTimeoutMs.opening}`)
    const mode = connection.prepare('pragma journal_mode = wal').get()?.['journal_mode']
    if (mode !== 'wal') throw unsuitable(path, 'write-ahead logging cannot be turned on')
    // Some builds of SQLite default to NORMAL in this mode, and still say FULL before they write.
    connection.exec('pragma synchronous = full; pragma fullfsync = 1')
    if (pragmaNumber(connection, 'synchronous') !== 2) throw unsuitable(path, 'it will not sync')
    connection.exec(
      'pragma cache_size = -16384; pragma temp_store = memory;' +
        `pragma wal_autocheckpoint = ${checkpointPages}; pragma journal_size_limit = 67108864`,
    )
    migrate(connection, path)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/**
 * Brings all of the log into the file, by writes and a sync of its own, and begins the log anew.
 *
 * What lies in a log whose sync has failed is never built upon: the operating system may hold it for
 * written when it is not, and a later sync would not say so.
 *
 * @throws SQLite's `SQLITE_BUSY` while another connection reads from the log
 */
export function foldLog(connection: SqlConnection): void {
  const busy = connection.prepare('pragma wal_checkpoint(truncate)').get()?.['busy']
  if (busy !== 0) throw Object.assign(new Error('The log is being read.'), { errcode: busyCode })
}

const busyCode = 5

/** Opens a connection that only reads. */
export function openForReading(driver: SqlDriver, path: string): SqlConnection {
  const connection = driver(path, { readOnly: true })
  connection.exec(`pragma busy_timeout = ${busyTimeoutMs.open}; pragma cache_size = -8192`)
  return connection
}

/** From here on statements fail soon if another connection holds the lock. */
export function endOpening(connection: SqlConnection): void {
  connection.exec(`pragma busy_timeout = ${busyTimeoutMs.open}`)
}

function unsuitable(path: string, reason: string): HoldfastError {
  return new HoldfastError(ErrorCode.storeUnavailable, {
    message: `${path} cannot hold a store: ${reason}.`,
    retryable: false,
  })
}
