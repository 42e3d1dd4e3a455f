import { defineProject } from 'vitest/config'

// `--mode long` runs the long tests, and only them.
export default defineProject(({ mode }) => ({
  ssr: { resolve: { conditions: ['@holdfast/source', 'node', 'import', 'module', 'default'] } },
  test: {
    name: 'example',
    environment: 'node',
    // Guards against hanging: desks are processes, and a busy disk may hold one up.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    include: [mode === 'long' ? 'test/**/*.long.test.ts' : 'test/**/*.test.ts'],
    exclude: mode === 'long' ? [] : ['test/**/*.long.test.ts'],
  },
}))
