import type { StoreTarget } from '@holdfast/conformance'
import { createMemoryDatabase } from '@holdfast/store-memory'

/** The memory store is the reference: it keeps what the rules say in plain maps. */
export const memoryReference: StoreTarget = {
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
