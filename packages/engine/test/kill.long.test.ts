import { postgresUrl } from '@holdfast/postgres-server/postgres-url'
import { describe, expect, test } from 'vitest'
import { crashStores } from './crash-stores.ts'
import type { CrashStoreName } from './crash-stores.ts'
import { operations } from './everything.ts'
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

describe.each(stores)('a process on $title, long', ({ name, isMissing }) => {
  test.skipIf(isMissing)(
    'that is killed at random moments is followed by one that goes on at once',
    async () => {
      let hits = 0
      for (let seed = 1; seed <= 20; seed += 1) hits += await runThroughKills(name, seed, 12)
      expect(hits).toBeGreaterThan(60)
    },
    1_800_000,
  )

  test.skipIf(isMissing)(
    'A19: that is killed just before and after each commit loses and repeats nothing',
    async () => {
      const commits = { before: 0, after: 0 }
      for (const when of ['before', 'after'] as const) {
        // Up to the first commit that a whole run does not reach any more.
        while (
          (await runThroughDeaths(name, [{ kind: 'commit', when, commit: commits[when] + 1 }])) > 0
        )
          commits[when] += 1
      }
      console.log(
        `killed at ${commits.before} + ${commits.after} commits on ${name}, ${operations.length} operations`,
      )
      expect(commits.before).toBeGreaterThan(25)
      expect(commits.after).toBeGreaterThan(25)
    },
    1_800_000,
  )
})
