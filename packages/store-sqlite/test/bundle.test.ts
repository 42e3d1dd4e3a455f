import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

interface Outcomes {
  readonly inThread: string
  readonly worker: string
  readonly betterSqlite3: string
}

describe.each(['es', 'cjs'] as const)('in one bundled file (%s)', (format) => {
  let directory = ''
  let outcomes: Outcomes | undefined

  beforeAll(async () => {
    // Where no package is installed, whatever the bundler has left out.
    directory = mkdtempSync(join(tmpdir(), 'holdfast-bundle-'))
    await build({
      configFile: false,
      logLevel: 'error',
      root: import.meta.dirname,
      ssr: {
        noExternal: true,
        resolve: { conditions: ['@holdfast/source', 'node', 'import', 'module', 'default'] },
      },
      build: {
        ssr: join(import.meta.dirname, 'bundled-process.ts'),
        outDir: directory,
        rolldownOptions: {
          output: { format, entryFileNames: 'program.js', codeSplitting: false },
        },
      },
    })
    const type = format === 'es' ? 'module' : 'commonjs'
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ type }))
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(directory, 'program.js'), join(directory, 'store.db')],
      { env: { ...process.env, NODE_PATH: '' } },
    )
    outcomes = JSON.parse(stdout) as Outcomes
  }, 60_000)
  afterAll(() => rmSync(directory, { recursive: true }))

  it('a store writes in its own thread', () => {
    expect(outcomes?.inThread).toBe('"kept"')
  })

  it('a store says that its worker was left behind, and what may be done', () => {
    expect(outcomes?.worker).toMatch(/^configuration_invalid: writer-worker\.js .*`worker: false`/)
  })

  it('a store says that its peer is not installed, and which it is', () => {
    expect(outcomes?.betterSqlite3).toMatch(
      /^configuration_invalid: .*package better-sqlite3 \(13 or newer\).*install it/,
    )
  })
})
