// The SQLite library, behind the little that this package needs of one.
import { configurationInvalid } from '@holdfast/core'

/** What a column may hold. */
export type SqlValue = null | number | bigint | string | Uint8Array

/** A row by column name. */
export type SqlRow = Record<string, SqlValue>

/** A prepared statement, used again and again. */
export interface SqlStatement {
  get(...values: SqlValue[]): SqlRow | undefined
  all(...values: SqlValue[]): readonly SqlRow[]
  iterate(...values: SqlValue[]): IterableIterator<SqlRow>
  /** Carries it out and answers with the row id of the last insert. */
  run(...values: SqlValue[]): number
}

/** A connection to one file. */
export interface SqlConnection {
  exec(sql: string): void
  prepare(sql: string): SqlStatement
  close(): void
}

/** Opens a connection. Errors are the library's own; see `storageError`. */
export type SqlDriver = (path: string, options: { readonly readOnly: boolean }) => SqlConnection

/** The library that comes with Node. */
export const nodeSqlite: SqlDriver = (path, { readOnly }) => {
  const database = new (library().DatabaseSync)(path, { readOnly })
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql)
      return {
        get: (...values) => statement.get(...values),
        all: (...values) => statement.all(...values),
        iterate: (...values) => statement.iterate(...values),
        run: (...values) => Number(statement.run(...values).lastInsertRowid),
      }
    },
    close: () => database.close(),
  }
}

/** Not imported: hosts without it, or that warn of it, may use another driver. */
function library(): NonNullable<ReturnType<typeof process.getBuiltinModule<'node:sqlite'>>> {
  const found = process.getBuiltinModule('node:sqlite')
  if (found === undefined) {
    throw configurationInvalid(
      "This host has no node:sqlite; option driver: 'better-sqlite3' does without it.",
    )
  }
  return found
}
