import { describe, expect, test } from 'vitest'
import { postgresUrl } from '@holdfast/postgres-server/postgres-url'
import { runFleet } from './fleet.ts'

describe('several processes', { timeout: 120_000 }, () => {
  test.skipIf(postgresUrl() === undefined)(
    'on one PostgreSQL, one killed and one frozen: no request is lost or doubled [needs postgres]',
    async () => {
      const report = await runFleet({
        store: 'postgres',
        seed: 1,
        runs: 40,
        sessions: 8,
        modes: ['owner', 'owner', 'owner'],
        kills: 1,
        freezes: 1,
      })
      expect(report).toMatchObject({ kills: 1, freezes: 1 })
    },
  )

  test('an owner and two clients on one SQLite file, two killed: no request is lost or doubled', async () => {
    const report = await runFleet({
      store: 'sqlite',
      seed: 2,
      runs: 40,
      sessions: 8,
      modes: ['owner', 'client', 'client'],
      kills: 2,
      freezes: 0,
    })
    expect(report).toMatchObject({ kills: 2, refused: 0 })
  })
})
