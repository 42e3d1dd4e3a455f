// The lock that says which process owns a file.
//
// Owns:  a second SQLite file beside the store's, `<path>.owner`, in a transaction that stays open.
// Asks:  the operating system, which drops the lock with the process, however that ends.
// Never: waits, or judges by a pid whether a process still lives: the lock says so.
//
// O1. A reserved lock, not an exclusive one: another process can still read whose it is.
// O2. The pid in the file is the holder's: it is checked again once the lock is held.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { SqlConnection, SqlDriver } from './driver.ts'
import { isBusy } from './storage-error.ts'

/** The lock while it is held. */
export interface OwnerLock {
  release(): void
}

/** Takes the lock of a store's file. @throws `store_owned`, naming the process that has it */
export function takeOwnerLock(
  driver: SqlDriver,
  path: string,
  owner: { readonly pid: number; readonly token: string },
): OwnerLock {
  const connection = driver(`${path}.owner`, { readOnly: false })
  try {
    // Nothing in this file outlives its process, so that it need not be synced.
    connection.exec('pragma busy_timeout = 20; pragma synchronous = off')
    for (;;) {
      connection.exec('begin immediate')
      connection.exec(
        'create table if not exists owner (pid integer not null, token text not null)',
      )
      connection.exec('delete from owner')
      connection.prepare('insert into owner (pid, token) values (?, ?)').run(owner.pid, owner.token)
      connection.exec('commit')
      connection.exec('begin immediate')
      const holder = connection.prepare('select token from owner').get()
      if (holder?.['token'] === owner.token) break
      connection.exec('rollback')
    }
    return {
      release() {
        connection.exec('rollback')
        connection.close()
      },
    }
  } catch (error) {
    const failure = isBusy(error) ? owned(connection, path) : error
    connection.close()
    throw failure
  }
}

function owned(connection: SqlConnection, path: string): HoldfastError {
  const pid = readPid(connection)
  return new HoldfastError(ErrorCode.storeOwned, {
    message: `${path} is owned by ${pid === undefined ? 'another process' : `process ${pid}`}.`,
    details: { path, ...(pid === undefined ? {} : { pid }) },
  })
}

function readPid(connection: SqlConnection): number | undefined {
  try {
    const pid = connection.prepare('select pid from owner').get()?.['pid']
    return typeof pid === 'number' ? pid : undefined
  } catch {
    // The holder is writing its pid this moment.
    return undefined
  }
}
