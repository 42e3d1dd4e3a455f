import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { hasStrace, parse, trace } from './traced.ts'
import type { Traced } from './traced.ts'

const one = 25
const together = 50

describe.skipIf(!hasStrace)('a commit that is acknowledged [needs strace]', () => {
  describe.each(['node', 'better-sqlite3'])('with %s', (driver) => {
    let events: readonly Traced[] = []
    beforeAll(async () => {
      events = await traceWriter(driver)
    }, 30_000)

    it('was synced by the operating system before, each by a sync of its own', () => {
      expect(syncsBefore(events, 'one at a time', 'together')).toEqual({
        acknowledgements: one,
        withSyncOfItsOwn: one,
      })
    })

    it('shares its sync with those that came along', () => {
      const grouped = between(events, 'together', 'done')
      expect(grouped.filter(isAcknowledgement)).toHaveLength(together)
      expect(grouped.findIndex(isWalSync)).toBeGreaterThanOrEqual(0)
      expect(grouped.findIndex(isWalSync)).toBeLessThan(grouped.findIndex(isAcknowledgement))
      expect(grouped.filter(isWalSync).length).toBeLessThan(together / 5)
    })
  })

  it('is found out when its library only says that it syncs', async () => {
    expect(syncsBefore(await traceWriter('lying'), 'one at a time', 'together')).toEqual({
      acknowledgements: one,
      withSyncOfItsOwn: 0,
    })
  }, 30_000)
})

async function traceWriter(driver: string): Promise<readonly Traced[]> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-sync-'))
  try {
    const path = join(directory, 'store.db')
    const options = [path, driver, `${one}`, `${together}`]
    const { events } = await trace(directory, 'sync-writer.ts', options)
    return events
  } finally {
    rmSync(directory, { recursive: true })
  }
}

describe('a trace', () => {
  it('counts a sync when it has returned, also when another thread interrupts its line', () => {
    expect(
      parse(
        [
          '12 fdatasync(7</tmp/a.db-wal> <unfinished ...>',
          '11 write(1</dev/null>, "acknowledged 1\\n", 15) = 15',
          '12 <... fdatasync resumed>)          = 0',
          '12 fsync(7</tmp/a.db>) = -1 EIO (Input/output error) (INJECTED)',
        ].join('\n'),
      ),
    ).toEqual([
      { kind: 'said', line: 'acknowledged 1' },
      { kind: 'synced', file: '/tmp/a.db-wal', ok: true },
      { kind: 'synced', file: '/tmp/a.db', ok: false },
    ])
  })
})

/** How many acknowledgements there were, and how many of them had one more sync behind them. */
function syncsBefore(
  events: readonly Traced[],
  from: string,
  to: string,
): { readonly acknowledgements: number; readonly withSyncOfItsOwn: number } {
  let acknowledgements = 0
  let withSyncOfItsOwn = 0
  let syncs = 0
  for (const event of between(events, from, to)) {
    if (isWalSync(event)) syncs += 1
    if (!isAcknowledgement(event)) continue
    acknowledgements += 1
    if (syncs >= acknowledgements) withSyncOfItsOwn += 1
  }
  return { acknowledgements, withSyncOfItsOwn }
}

function between(events: readonly Traced[], from: string, to: string): readonly Traced[] {
  const place = (line: string): number =>
    events.findIndex((event) => event.kind === 'said' && event.line === line)
  return events.slice(place(from), place(to))
}

function isWalSync(event: Traced): boolean {
  return event.kind === 'synced' && event.ok && event.file.endsWith('-wal')
}

function isAcknowledgement(event: Traced): boolean {
  return event.kind === 'said' && event.line.startsWith('acknowledged')
}
