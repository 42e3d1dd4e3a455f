import { configurationInvalid } from '@holdfast/core'
import { loadBetterSqlite3 } from './better-sqlite3.ts'
import { nodeSqlite } from './driver.ts'
import type { SqlDriver } from './driver.ts'

/** The SQLite libraries that can be asked for: the one in Node, and an optional peer. */
export type SqliteDriverName = 'node' | 'better-sqlite3'

const drivers: Readonly<Record<SqliteDriverName, () => SqlDriver>> = {
  node: () => nodeSqlite,
  'better-sqlite3': loadBetterSqlite3,
}

/**
 * The library of a name, loaded where it is called: each thread loads its own.
 *
 * @throws `configuration_invalid` when there is none of that name, or it cannot be loaded
 */
export function driverNamed(name: SqliteDriverName): SqlDriver {
  if (!Object.hasOwn(drivers, name)) {
    throw configurationInvalid(`Option driver must be one of: ${Object.keys(drivers).join(', ')}.`)
  }
  return drivers[name]()
}
