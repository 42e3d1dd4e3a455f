import { fileURLToPath } from 'node:url'
import { defineProject } from 'vitest/config'

// `--mode long` runs the long tests, and only them.
export default defineProject(({ mode }) => ({
  ssr: { resolve: { conditions: ['@holdfast/source', 'node', 'import', 'module', 'default'] } },
  test: {
    name: 'store-sqlite',
    environment: 'node',
    include: [mode === 'long' ? 'test/**/*.long.test.ts' : 'test/**/*.test.ts'],
    exclude: mode === 'long' ? [] : ['test/**/*.long.test.ts'],
    // Hundreds of stores start a thread each, and each thread compiles this package and its imports.
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/compile', import.meta.url)),
    },
  },
}))
