export { createMemoryDatabase, createMemoryStore } from './memory-database.ts'
export type {
  MemoryDatabase,
  MemoryDatabaseOptions,
  MemoryOpenOptions,
  MemoryStoreOptions,
} from './memory-database.ts'
