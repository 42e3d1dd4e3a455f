// Run by Node it starts vitest on itself; run by vitest it is the test file.
import assert from 'node:assert/strict'
import { createMemoryDatabase } from '@holdfast/store-memory'
import { describeMyStore } from '#readme/conformance'

if (process.env['VITEST'] === undefined) {
  const { startVitest } = await import('vitest/node')
  const vitest = await startVitest('test', [], { watch: false, include: ['program.ts'] })
  const tests = vitest.state.getFiles().flatMap((file) => file.tasks)
  assert.equal(vitest.state.getCountOfFailedTests(), 0)
  assert.ok(tests.length > 0 && tests.every(({ result }) => result?.state === 'pass'))
  await vitest.close()
} else {
  describeMyStore(async (options = {}) => {
    const database = createMemoryDatabase(options)
    return {
      open: async () => database.open({ mode: 'owner' }),
      openClient: async () => database.open({ mode: 'client' }),
      async takeOver(store) {
        database.expireLease(store.node?.id ?? '')
        return database.open({ mode: 'owner' })
      },
      destroy: () => Promise.resolve(),
    }
  })
}
