export { createMemoryDatabase, createMemoryStore } from './memory-database.ts'
export type {
  MemoryDatabase,
  MemoryDatabaseOptions,
  MemoryOpenOptions,
  MemoryStoreOptions,
} from './memory-database.ts'
export { createMemoryRows } from './memory-rows.ts'
export type { MemoryRead, MemoryRows } from './memory-rows.ts'
