import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { tryWith } from './crash-trial.ts'
import { operations } from './everything.ts'

/** Each test takes every third commit, each another third; the long test takes all. */
const every = 3

async function commitsOf(offset: number): Promise<readonly number[]> {
  const { commits } = await tryWith({ kind: 'none' })
  return Array.from({ length: commits }, (_, index) => index + 1).filter(
    (commit) => commit % every === offset % every,
  )
}

describe('a crash matrix', () => {
  test('uses every operation of a context', () => {
    const source = readFileSync(new URL('./everything.ts', import.meta.url), 'utf8')
    const missing = operations.filter(
      (operation) => !new RegExp(`(ctx|branch|inner)\\.${operation}\\b`).test(source),
    )
    expect(missing).toEqual([])
  })

  test('without any mishap', async () => {
    const { commits } = await tryWith({ kind: 'none' })
    expect(commits).toBeGreaterThan(25)
  })

  const faults = ['fail-before', 'fail-after', 'take-session', 'tear-watches'] as const
  for (const [offset, fault] of faults.entries()) {
    test(`R6: ${fault} at commits is got over by the same process`, async () => {
      for (const commit of await commitsOf(offset)) await tryWith({ kind: 'fault', fault, commit })
    }, 60_000)
  }

  for (const [offset, when] of (['before', 'after'] as const).entries()) {
    test(`A19: a death just ${when} commits is got over by another process`, async () => {
      for (const commit of await commitsOf(offset)) await tryWith({ kind: 'death', when, commit })
    }, 60_000)
  }
})
