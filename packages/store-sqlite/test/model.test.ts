import { describeModel } from '@holdfast/conformance'
import type { StoreTarget } from '@holdfast/conformance'
import { createMemoryDatabase } from '@holdfast/store-memory'
import { describe } from 'vitest'
import { sqliteTarget } from './sqlite-target.ts'

/** The memory store is the reference: it keeps what the rules say in plain maps. */
const memory: StoreTarget = {
  capabilities: { durable: false, owners: 'many' },
  async create(options = {}) {
    const database = createMemoryDatabase(options)
    const store = database.open()
    return {
      open: async () => store,
      openClient: async () => database.open({ mode: 'client' }),
      takeOver: async () => database.open(),
      destroy: () => store.close(),
    }
  },
}

// Each database of a writer on its own thread costs the start of a thread: fewer of them.
describe.each([
  { driver: 'node', worker: false, databases: 60 },
  { driver: 'node', worker: true, databases: 4 },
  { driver: 'better-sqlite3', worker: false, databases: 60 },
  { driver: 'better-sqlite3', worker: true, databases: 4 },
] as const)('driver $driver, worker $worker', ({ databases, ...options }) => {
  describeModel(sqliteTarget(options), memory, databases)
})
