import { defineConfig } from 'vitest/config'

// The suite against stores that are wrong on purpose: run by `suite-catches.test.ts` alone.
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  ssr: { resolve: { conditions: ['@holdfast/source', 'node', 'import', 'module', 'default'] } },
  test: {
    include: ['test/sabotage/*.suite.ts'],
    testTimeout: 2_000,
  },
})
