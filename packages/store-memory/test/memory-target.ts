import type { StoreTarget } from '@holdfast/conformance'
import type { Store } from '@holdfast/core'
import { createMemoryDatabase } from '../src/index.ts'

/** The memory store, for the suite. */
export const memoryTarget: StoreTarget = {
  // Its nodes' handles may all be closed and opened again over one database.
  capabilities: { durable: true, owners: 'many' },
  async create(options = {}) {
    const database = createMemoryDatabase(options)
    const opened: Store[] = []
    const open = (mode: 'owner' | 'client' = 'owner') => {
      const store = database.open({ mode })
      opened.push(store)
      return store
    }
    return {
      open: async () => open(),
      openClient: async () => open('client'),
      async takeOver(store) {
        database.expireLease(store.node?.id ?? '')
        return open()
      },
      async destroy() {
        for (const store of opened) await store.close()
      },
    }
  },
}
