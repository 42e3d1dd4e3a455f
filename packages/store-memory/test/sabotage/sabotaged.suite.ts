import { describeStore } from '@holdfast/conformance'
import type { StoreDatabase } from '@holdfast/conformance'
import { memoryTarget } from '../memory-target.ts'
import { sabotaged } from './sabotages.ts'
import type { Sabotage } from './sabotages.ts'

const sabotage = process.env['HOLDFAST_SABOTAGE'] as Sabotage

describeStore(sabotage, {
  ...memoryTarget,
  async create(options): Promise<StoreDatabase> {
    const database = await memoryTarget.create(options)
    return {
      open: async () => sabotaged(await database.open(), sabotage),
      openClient: async () => sabotaged(await database.openClient(), sabotage),
      takeOver: async (store) => sabotaged(await database.takeOver(store), sabotage),
      destroy: () => database.destroy(),
    }
  },
})
