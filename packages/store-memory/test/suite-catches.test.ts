// The suite fails on stores that are wrong: on each one where it has to, and every group of it on some.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { sabotages } from './sabotage/sabotages.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))

interface Judged {
  /** The sabotage, then the group of the suite. */
  readonly ancestorTitles: readonly string[]
  readonly title: string
  readonly status: string
}

let judged: readonly Judged[] = []

/** Runs the whole suite against all stores that are wrong, each in its own way. */
beforeAll(async () => {
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
    { cwd: root, stdio: 'ignore', timeout: 100_000, killSignal: 'SIGKILL' },
  )
  try {
    await once(child, 'exit')
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
      readonly testResults: readonly { readonly assertionResults: readonly Judged[] }[]
    }
    judged = testResults.flatMap(({ assertionResults }) => assertionResults)
  } finally {
    rmSync(folder, { recursive: true })
  }
}, 120_000)

function failedOn(sabotage: string): readonly string[] {
  return judged
    .filter(({ ancestorTitles, status }) => ancestorTitles[0] === sabotage && status === 'failed')
    .map(({ ancestorTitles, title }) => `${ancestorTitles[1]} ${title}`)
}

describe('the conformance suite', () => {
  test.each(Object.entries(sabotages))('catches a store that %s', (name, { caughtBy }) => {
    const failed = failedOn(name)
    expect(failed).not.toEqual([])
    for (const start of caughtBy) {
      expect(failed).toContainEqual(expect.stringMatching(new RegExp(`^${start}`)))
    }
  })

  test('has no group that passes on all of them', () => {
    const groups = new Set(judged.map(({ ancestorTitles }) => ancestorTitles[1]))
    const failing = new Set(
      judged
        .filter(({ status }) => status === 'failed')
        .map(({ ancestorTitles }) => ancestorTitles[1]),
    )
    expect(groups.size).toBeGreaterThan(15)
    expect([...groups].filter((group) => !failing.has(group))).toEqual([])
  })
})
