export { createMemoryDatabase } from './memory-database.ts'
export type {
  MemoryDatabase,
  MemoryDatabaseOptions,
  MemoryOpenOptions,
} from './memory-database.ts'
export { createMemoryStore } from './memory-store.ts'
export type { MemoryStoreOptions } from './memory-store.ts'
