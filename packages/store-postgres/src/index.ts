export { openPostgresStore } from './postgres-store.ts'
export type { PostgresStore } from './postgres-store.ts'
export type { PostgresConnection, PostgresStoreOptions } from './options.ts'
