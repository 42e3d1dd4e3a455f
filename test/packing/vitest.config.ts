import { defineProject } from 'vitest/config'

export default defineProject({
  test: {
    name: 'packing',
    environment: 'node',
    include: ['*.test.ts'],
    globalSetup: ['installation.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxConcurrency: 2,
  },
})
