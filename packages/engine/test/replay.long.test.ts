import fc from 'fast-check'
import { describe, test } from 'vitest'
import { programs } from './random-program.ts'
import { checkMigrated, checkRenamed, checkReplay } from './replay-property.ts'

const seeds = fc.nat({ max: 1_000_000_000 })

describe('replay, long', () => {
  test('of random programs, cut at every commit, gives what was seen and runs no body twice', async () => {
    await fc.assert(
      fc.asyncProperty(programs, seeds, (program, seed) =>
        checkReplay(program, seed, (commits) =>
          Array.from({ length: commits - 1 }, (_, cut) => cut + 1),
        ),
      ),
      { numRuns: 1_500, endOnFailure: false },
    )
  }, 1_800_000)

  test('with a renamed step stops before any body', async () => {
    await fc.assert(
      fc.asyncProperty(programs, seeds, async (program, seed) => {
        await checkRenamed(program, seed)
      }),
      { numRuns: 1_500, endOnFailure: false },
    )
  }, 1_800_000)

  test('with a migrated key goes on as if it had always been called so', async () => {
    await fc.assert(
      fc.asyncProperty(programs, seeds, async (program, seed) => {
        await checkMigrated(program, seed)
      }),
      { numRuns: 1_500, endOnFailure: false },
    )
  }, 1_800_000)
})
