import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openSqliteStore } from '../src/index.ts'
import { sessionId } from './crash-writer-data.ts'
import { hasStrace, trace } from './traced.ts'

const count = 24

interface Report {
  readonly outcomes: readonly string[]
  readonly seen: readonly string[]
}

describe.skipIf(!hasStrace)('a disk that fails for a while [needs strace]', () => {
  it.each([
    { driver: 'node', failure: 'one sync', inject: 'fsync,fdatasync:error=EIO:when=8' },
    { driver: 'node', failure: 'some syncs', inject: 'fsync,fdatasync:error=EIO:when=8..11' },
    {
      driver: 'better-sqlite3',
      failure: 'some syncs',
      inject: 'fsync,fdatasync:error=EIO:when=9..12',
    },
    { driver: 'node', failure: 'no space', inject: 'pwrite64:error=ENOSPC:when=140..150' },
    { driver: 'node', failure: 'writes', inject: 'pwrite64:error=EIO:when=140..155' },
    { driver: 'better-sqlite3', failure: 'writes', inject: 'pwrite64:error=EIO:when=141..156' },
  ])(
    'loses nothing acknowledged, keeps nothing refused, and goes on: $failure, $driver',
    async ({ driver, inject, failure }) => {
      const directory = mkdtempSync(join(tmpdir(), 'holdfast-disk-'))
      try {
        const path = join(directory, 'store.db')
        const options = [
          ...['-e', 'trace=fsync,fdatasync,pwrite64', '-e', `inject=${inject}`],
          ...['-P', `${path}-wal`],
        ]
        const { output } = await trace(
          directory,
          'faulty-disk-writer.ts',
          [path, driver, `${count}`],
          options,
        )
        const { outcomes, seen } = JSON.parse(output) as Report
        const keysWith = (...codes: readonly string[]): readonly string[] =>
          outcomes
            .map((outcome) => outcome.split(' '))
            .filter(([, code = '']) => codes.includes(code))
            .map(([key = '']) => key)
        const acknowledged = keysWith('acknowledged')
        const refused = keysWith('store_unavailable', 'store_full')
        const unknown = keysWith('store_outcome_unknown')

        expect([...acknowledged, ...refused, ...unknown]).toHaveLength(count)
        expect(refused.length + unknown.length).toBeGreaterThan(0)
        if (failure === 'no space') expect(keysWith('store_full')).toEqual(refused)
        expect(acknowledged).toContain(`${count - 1}`)
        expect(seen).toEqual(expect.arrayContaining([...acknowledged]))

        const store = await openSqliteStore({ path, worker: false })
        const page = await store.logPage(sessionId, 'l', { from: 0, limit: 1_000 })
        const kept = page.entries.map(({ key }) => key)
        expect(kept).toEqual(seen)
        expect(kept.filter((key) => refused.includes(key))).toEqual([])
        await store.close()
      } finally {
        rmSync(directory, { recursive: true })
      }
    },
    30_000,
  )

  it.each([
    { inject: 'pwrite64:error=ENOSPC:when=1+', code: 'store_full' },
    { inject: 'fsync,fdatasync:error=EIO:when=1+', code: 'store_unavailable' },
  ])(
    'makes no store half, says $code, and is tried again when it works',
    async ({ inject, code }) => {
      const directory = mkdtempSync(join(tmpdir(), 'holdfast-disk-'))
      try {
        const path = join(directory, 'store.db')
        const { output } = await trace(
          directory,
          'faulty-disk-writer.ts',
          [path, 'node', '1'],
          ['-e', 'trace=fsync,fdatasync,pwrite64', '-e', `inject=${inject}`, '-P', `${path}-wal`],
        )
        expect(JSON.parse(output)).toEqual({ refused: code })
        const store = await openSqliteStore({ path, worker: false })
        expect(await store.runs(sessionId)).toEqual({ items: [] })
        await store.close()
      } finally {
        rmSync(directory, { recursive: true })
      }
    },
    30_000,
  )
})
