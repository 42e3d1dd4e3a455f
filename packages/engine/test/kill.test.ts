import { describe, expect, test } from 'vitest'
import { crashStores } from './crash-stores.ts'
import type { CrashStoreName } from './crash-stores.ts'
import { runThroughDeaths, runThroughKills } from './kill.ts'

const names = Object.keys(crashStores) as CrashStoreName[]

describe.each(names)('a process on %s', { timeout: 120_000 }, (name) => {
  test('that is killed at random moments is followed by one that goes on at once', async () => {
    expect(await runThroughKills(name, 1, 3)).toBeGreaterThan(0)
  })

  test('that is killed at commits, one process after the other, loses and repeats nothing', async () => {
    // The second lives for a few commits after the first, and so on: a run that is always taken over.
    const deaths = [3, 7, 4, 6].map((commit, index) => {
      return { kind: 'commit', when: index % 2 === 0 ? 'before' : 'after', commit } as const
    })
    expect(await runThroughDeaths(name, deaths)).toBe(deaths.length)
  })
})
