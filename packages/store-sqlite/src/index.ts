export type { SqliteDriverName } from './named-driver.ts'
export { openSqliteStore } from './sqlite-store.ts'
export type { SqliteStore, SqliteStoreOptions } from './sqlite-store.ts'
