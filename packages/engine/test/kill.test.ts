import { postgresUrl } from '@holdfast/postgres-server/postgres-url'
import { describe, expect, test } from 'vitest'
import { crashStores } from './crash-stores.ts'
import type { CrashStoreName } from './crash-stores.ts'
import { runThroughDeaths, runThroughKills } from './kill.ts'

/** A server that cannot be started is told of; in CI that is a failure. */
const stores = (Object.keys(crashStores) as CrashStoreName[]).map((name) => {
  const isPostgres = name === 'postgres'
  return {
    name,
    title: isPostgres ? 'PostgreSQL [needs postgres]' : 'SQLite',
    isMissing: isPostgres && postgresUrl() === undefined,
  }
})

describe.each(stores)('a process on $title', { timeout: 120_000 }, ({ name, isMissing }) => {
  test.skipIf(isMissing)(
    'that is killed at random moments is followed by one that goes on at once',
    async () => {
      expect(await runThroughKills(name, 1, 3)).toBeGreaterThan(0)
    },
  )

  test.skipIf(isMissing)(
    'that is killed at commits, one process after the other, loses and repeats nothing',
    async () => {
      // The second lives for a few commits after the first, and so on: a run that is always taken over.
      const deaths = [3, 7, 4, 6].map((commit, index) => {
        return { kind: 'commit', when: index % 2 === 0 ? 'before' : 'after', commit } as const
      })
      expect(await runThroughDeaths(name, deaths)).toBe(deaths.length)
    },
  )
})
