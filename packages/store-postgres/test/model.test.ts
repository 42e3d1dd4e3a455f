import { describeModel } from '@holdfast/conformance'
import type { StoreTarget } from '@holdfast/conformance'
import { createMemoryDatabase } from '@holdfast/store-memory'
import { describe } from 'vitest'
import { postgresTarget, serverUrl } from './support/postgres-target.ts'

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

describe.skipIf(serverUrl === '')('beside the reference [needs postgres]', () => {
  describeModel(postgresTarget(), memory, 8)
})
