import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoreTarget } from '@holdfast/conformance'
import type { Store } from '@holdfast/core'
import { openSqliteStore } from '../src/index.ts'
import type { SqliteStoreOptions } from '../src/index.ts'

/** A SQLite store, for the suite. */
export function sqliteTarget(options: Pick<SqliteStoreOptions, 'worker' | 'driver'>): StoreTarget {
  return {
    capabilities: { durable: true, owners: 'one' },
    async create(databaseOptions = {}) {
      const directory = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-'))
      const path = join(directory, 'store.db')
      const opened: Store[] = []
      const open = async (mode: 'owner' | 'client'): Promise<Store> => {
        const store = await openSqliteStore({ path, mode, ...options, ...databaseOptions })
        opened.push(store)
        return store
      }
      return {
        open: () => open('owner'),
        openClient: () => open('client'),
        takeOver() {
          // An owner cannot be paused without its lock, unless somebody removes the lock's file: the
          // old owner then goes on, and only its fences stop it.
          rmSync(`${path}.owner`)
          return open('owner')
        },
        async destroy() {
          for (const store of opened) await store.close()
          rmSync(directory, { recursive: true })
        },
      }
    },
  }
}
