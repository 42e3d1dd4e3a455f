// The stores on which the numbered cases run.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe } from 'vitest'
import type { Store, System } from '@holdfast/core'
import { createMemoryStore } from '@holdfast/store-memory'
import { openSqliteStore } from '@holdfast/store-sqlite'

/** A store that tests may run on, and what removes it. */
export interface OpenedStore {
  readonly store: Store
  destroy(): Promise<void>
}

interface TestStore {
  readonly name: string
  open(system: System): Promise<OpenedStore>
}

/** One line adds a store to every numbered case. */
const stores: readonly TestStore[] = [
  { name: 'memory', open: openMemory },
  { name: 'SQLite', open: openSqlite },
]

let chosen = stores[0]
let opened: Promise<OpenedStore>[] = []

/** Runs tests once on each store: `storeOfTest` is then of that kind. */
export function describeOnStores(body: () => void): void {
  describe.each(stores)('on $name', (store) => {
    beforeEach(() => {
      chosen = store
      return async () => {
        const all = await Promise.all(opened.splice(0))
        await Promise.all(all.map(({ destroy }) => destroy()))
        chosen = stores[0]
      }
    })
    body()
  })
}

/** A store of the kind that the test runs on, opened by its first use and removed after the test. */
export function storeOfTest(system: System): Store {
  if (chosen === undefined || chosen.name === 'memory') return createMemoryStore({ system })
  const { open } = chosen
  let opening: Promise<OpenedStore> | undefined
  const ready = async (): Promise<Store> => {
    if (opening === undefined) {
      opening = open(system)
      opened.push(opening)
    }
    return (await opening).store
  }
  return lazyStore(ready)
}

/** Every method but `watch` answers with a promise, so it can wait for the store to be there. */
function lazyStore(ready: () => Promise<Store>): Store {
  async function* watch(...given: Parameters<Store['watch']>): AsyncIterable<void> {
    yield* (await ready()).watch(...given)
  }
  return new Proxy({} as Store, {
    get(_target, name) {
      if (name === 'watch') return watch
      return async (...given: readonly unknown[]) => {
        const store = await ready()
        const method: unknown = Reflect.get(store, name)
        if (typeof method !== 'function') throw new Error(`a store has no ${String(name)}`)
        return Reflect.apply(method, store, given)
      }
    },
  })
}

async function openMemory(system: System): Promise<OpenedStore> {
  const store = createMemoryStore({ system })
  return { store, destroy: () => store.close() }
}

async function openSqlite(system: System): Promise<OpenedStore> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-tools-'))
  const store = await openSqliteStore({ path: join(folder, 'runs.db'), system, worker: false })
  return {
    store,
    async destroy() {
      await store.close()
      rmSync(folder, { recursive: true })
    },
  }
}
