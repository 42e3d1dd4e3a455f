import fc from 'fast-check'
import { describe, test } from 'vitest'
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
    await fc.assert(
      fc.asyncProperty(programs, seeds, async (program, seed) => {
        // Others are drawn for those that have nothing to check.
        fc.pre(await checkRenamed(program, seed))
      }),
      { numRuns: 25, endOnFailure: false },
    )
  }, 120_000)

  test('M1, M3: with a migrated key goes on as if it had always been called so', async () => {
    await fc.assert(
      fc.asyncProperty(programs, seeds, async (program, seed) => {
        // Others are drawn for those that have nothing to check.
        fc.pre(await checkMigrated(program, seed))
      }),
      { numRuns: 25, endOnFailure: false },
    )
  }, 120_000)
})

/** About six of all cuts, other ones for each seed. */
function someCuts(commits: number, seed: number): readonly number[] {
  const every = Math.max(1, Math.ceil(commits / 6))
  return Array.from({ length: commits - 1 }, (_, index) => index + 1).filter(
    (cut) => cut % every === seed % every,
  )
}
