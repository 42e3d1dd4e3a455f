import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { sabotages } from './sabotage/sabotages.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))

interface Counted {
  readonly numPassedTests: number
  readonly numFailedTests: number
}

/** Runs the whole suite against a store that is wrong in one way. */
async function runSuiteAgainst(sabotage: string): Promise<Counted> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-sabotage-'))
  const report = join(folder, 'report.json')
  const child = spawn(
    process.execPath,
    [
      vitest,
      'run',
      '--config',
      'test/sabotage/vitest.config.ts',
      '--reporter=json',
      `--outputFile=${report}`,
    ],
    { cwd: root, env: { ...process.env, HOLDFAST_SABOTAGE: sabotage }, stdio: 'ignore' },
  )
  try {
    await once(child, 'exit')
    return JSON.parse(readFileSync(report, 'utf8')) as Counted
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('the conformance suite', () => {
  test.each(Object.keys(sabotages))(
    'catches a store that %s',
    { timeout: 120_000 },
    async (name) => {
      const { numFailedTests } = await runSuiteAgainst(name)
      expect(numFailedTests).toBeGreaterThan(0)
    },
  )
})
