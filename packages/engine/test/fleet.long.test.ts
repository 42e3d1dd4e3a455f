import { describe, expect, test } from 'vitest'
import { postgresUrl } from '@holdfast/postgres-server/postgres-url'
import { runFleet } from './fleet.ts'

describe('several processes, long', { timeout: 1_200_000 }, () => {
  test.skipIf(postgresUrl() === undefined)(
    'two to four on one PostgreSQL, killed and frozen: of 500 runs none is lost or doubled [needs postgres]',
    async () => {
      let refused = 0
      for (const processes of [2, 3, 4]) {
        const report = await runFleet({
          store: 'postgres',
          seed: processes,
          runs: 500,
          sessions: 40,
          modes: Array.from({ length: processes }, () => 'owner' as const),
          kills: 12,
          freezes: 6,
        })
        console.log(`${processes} processes on PostgreSQL: ${JSON.stringify(report)}`)
        expect(report).toMatchObject({ kills: 12, freezes: 6 })
        refused += report.refused
      }
      // Some woke up in the middle of their work.
      expect(refused).toBeGreaterThan(0)
    },
  )

  test('an owner and three clients on one SQLite file, killed and frozen: of 500 runs none is lost or doubled', async () => {
    const report = await runFleet({
      store: 'sqlite',
      seed: 5,
      runs: 500,
      sessions: 40,
      modes: ['owner', 'client', 'client', 'client'],
      kills: 12,
      freezes: 4,
    })
    console.log(`an owner and clients on SQLite: ${JSON.stringify(report)}`)
    expect(report).toMatchObject({ kills: 12, freezes: 4 })
  })
})
