import { describeStore } from '@holdfast/conformance'
import type { Store } from '@holdfast/core'
import { memoryTarget } from '../memory-target.ts'
import { changed, sabotages } from './sabotages.ts'

for (const [name, sabotage] of Object.entries(sabotages)) {
  const wrong = (store: Store): Store =>
    sabotage.store === undefined ? store : changed(store, sabotage.store(store))
  describeStore(name, {
    ...memoryTarget,
    testMs: 500,
    async create(options) {
      const database = await memoryTarget.create(options)
      const sound = {
        open: async () => wrong(await database.open()),
        openClient: async () => wrong(await database.openClient()),
        takeOver: async (store: Store) => wrong(await database.takeOver(store)),
        destroy: () => database.destroy(),
      }
      return { ...sound, ...sabotage.database?.(sound) }
    },
  })
}
