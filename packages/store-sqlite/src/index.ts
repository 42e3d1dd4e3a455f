export { openSqliteStore } from './sqlite-store.ts'
export type { SqliteStore, SqliteStoreOptions } from './sqlite-store.ts'
