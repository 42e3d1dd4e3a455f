// better-sqlite3, an optional peer: loaded when it is asked for, and by no import that a bundler follows.
import { createRequire } from 'node:module'
import { configurationInvalid } from '@holdfast/core'
import type { SqlDriver, SqlRow, SqlValue } from './driver.ts'

/** As much of better-sqlite3 as is used here. */
type Database = new (
  path: string,
  options: { readonly readonly: boolean },
) => {
  exec(sql: string): unknown
  prepare(sql: string): {
    get(...values: SqlValue[]): SqlRow | undefined
    all(...values: SqlValue[]): SqlRow[]
    iterate(...values: SqlValue[]): IterableIterator<SqlRow>
    run(...values: SqlValue[]): { readonly lastInsertRowid: number | bigint }
  }
  close(): unknown
}

/** SQLite's result code for a file that cannot be opened. */
const cannotOpen = 14

/**
 * Loads better-sqlite3, on whatever thread it is wanted.
 *
 * @throws `configuration_invalid` when it is not installed, or does not run here
 */
export function loadBetterSqlite3(): SqlDriver {
  const Database = load()
  return (path, { readOnly }) => {
    const database = open(Database, path, readOnly)
    return {
      exec: (sql) => void database.exec(sql),
      prepare(sql) {
        const statement = database.prepare(sql)
        return {
          get: (...values) => statement.get(...values),
          all: (...values) => statement.all(...values),
          iterate: (...values) => statement.iterate(...values),
          run: (...values) => Number(statement.run(...values).lastInsertRowid),
        }
      },
      close: () => void database.close(),
    }
  }
}

function load(): Database {
  try {
    return createRequire(import.meta.url)('better-sqlite3') as Database
  } catch (error) {
    throw configurationInvalid(
      "Option driver is 'better-sqlite3', and the package better-sqlite3 (13 or newer) cannot be" +
        ` loaded; install it beside @holdfast/store-sqlite. ${firstLine(error)}`,
    )
  }
}

function open(Database: Database, path: string, readOnly: boolean): InstanceType<Database> {
  if (path !== path.trim()) {
    throw configurationInvalid('better-sqlite3 opens no path that ends with a space.')
  }
  try {
    return new Database(path, { readonly: readOnly })
  } catch (error) {
    // It looks for the directory itself, before SQLite can say what is wrong.
    if (error instanceof TypeError) throw Object.assign(error, { errcode: cannotOpen })
    throw error
  }
}

function firstLine(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
}
