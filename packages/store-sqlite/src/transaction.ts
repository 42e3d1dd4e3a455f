import type { SqlConnection } from './driver.ts'

/** Runs in one transaction that holds the write lock from its begin; what throws undoes all of it. */
export function inTransaction<Value>(connection: SqlConnection, run: () => Value): Value {
  connection.exec('begin immediate')
  try {
    const value = run()
    connection.exec('commit')
    return value
  } catch (error) {
    rollBack(connection)
    throw error
  }
}

/** Undoes the transaction, if there still is one. */
export function rollBack(connection: SqlConnection): void {
  try {
    connection.exec('rollback')
  } catch {
    // SQLite has rolled back by itself, as it does after some failures; those say what was wrong.
  }
}
