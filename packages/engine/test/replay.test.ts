import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { programs } from './random-program.ts'
import { checkMigrated, checkRenamed, checkReplay } from './replay-property.ts'

const seeds = fc.nat({ max: 1_000_000 })

describe('replay', () => {
  test('of random programs, cut at commits, gives what was seen and runs no body twice', async () => {
    await fc.assert(
      fc.asyncProperty(programs, seeds, (program, seed) =>
        checkReplay(program, seed, (commits) => someCuts(commits, seed)),
      ),
      { numRuns: 60, endOnFailure: false },
    )
  }, 120_000)

  test('D1, X1: with a renamed step stops before any body, and the run waits for its code', async () => {
    let checked = 0
    await fc.assert(
      fc.asyncProperty(programs, seeds, async (program, seed) => {
        if (await checkRenamed(program, seed)) checked += 1
      }),
      { numRuns: 60, endOnFailure: false },
    )
    expect(checked).toBeGreaterThan(20)
  }, 120_000)

  test('M1, M3: with a migrated key goes on as if it had always been called so', async () => {
    let checked = 0
    await fc.assert(
      fc.asyncProperty(programs, seeds, async (program, seed) => {
        if (await checkMigrated(program, seed)) checked += 1
      }),
      { numRuns: 60, endOnFailure: false },
    )
    expect(checked).toBeGreaterThan(10)
  }, 120_000)
})

/** About six of all cuts, other ones for each seed. */
function someCuts(commits: number, seed: number): readonly number[] {
  const every = Math.max(1, Math.ceil(commits / 6))
  return Array.from({ length: commits - 1 }, (_, index) => index + 1).filter(
    (cut) => cut % every === seed % every,
  )
}
