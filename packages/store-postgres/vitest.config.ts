import { defineProject } from 'vitest/config'

// `--mode long` runs the long tests, and only them.
export default defineProject(({ mode }) => ({
  // Vite adds `import` where it applies; by name it would hold for what `pg` requires too.
  ssr: { resolve: { conditions: ['@holdfast/source', 'node', 'default'] } },
  test: {
    name: 'store-postgres',
    environment: 'node',
    // A guard against hanging, no claim about speed: a disk that many share may stand still.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    globalSetup: ['@holdfast/postgres-server/global-setup'],
    include: [mode === 'long' ? 'test/**/*.long.test.ts' : 'test/**/*.test.ts'],
    exclude: mode === 'long' ? [] : ['test/**/*.long.test.ts'],
  },
}))
