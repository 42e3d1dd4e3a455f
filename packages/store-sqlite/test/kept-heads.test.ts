import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Commit, Store } from '@holdfast/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SqlDriver } from '../src/driver.ts'
import { driverNamed } from '../src/named-driver.ts'
import { openSqliteStore, openWithDriver } from '../src/sqlite-store.ts'
import { sessionId } from './crash-writer-data.ts'

const headSql = 'select key, closed from log where session = ? and name = ?'
const insertSql = 'insert into log_entry (log, sequence, key, value) values (?, ?, ?, ?)'

/** A driver that counts how often a log's head is read, and can make the next entry's insert fail. */
function watchedDriver(inner: SqlDriver): {
  readonly driver: SqlDriver
  readonly seen: { reads: number; failNext: boolean }
} {
  const seen = { reads: 0, failNext: false }
  const driver: SqlDriver = (path, options) => {
    const connection = inner(path, options)
    return {
      ...connection,
      prepare(sql) {
        const statement = connection.prepare(sql)
        return {
          ...statement,
          get(...values) {
            if (sql === headSql) seen.reads += 1
            return statement.get(...values)
          },
          run(...values) {
            const id = statement.run(...values)
            if (sql !== insertSql || !seen.failNext) return id
            seen.failNext = false
            throw new Error('after the row was written')
          },
        }
      },
    }
  }
  return { driver, seen }
}

function append(key: string, expectedNext?: number): Commit {
  return {
    sessionId,
    writes: [
      ...(expectedNext === undefined
        ? []
        : [{ kind: 'log-unchanged' as const, log: 'l', expectedNext }]),
      { kind: 'log-append', log: 'l', key, value: key, onFailure: 'fail' },
    ],
  }
}

async function keys(store: Store): Promise<readonly string[]> {
  return (await store.logPage(sessionId, 'l', { from: 0, limit: 100 })).entries.map(
    ({ key }) => key,
  )
}

describe.each(['node', 'better-sqlite3'] as const)('heads that were kept, with %s', (name) => {
  const { driver, seen } = watchedDriver(driverNamed(name))
  let directory = ''
  let owner: Store
  let client: Store
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-heads-'))
    const path = join(directory, 'store.db')
    owner = await openWithDriver(driver, { path, worker: false })
    client = await openSqliteStore({ path, mode: 'client', driver: name })
    await owner.commit(append('0'))
    await owner.commit(append('1'))
    seen.reads = 0
  })
  afterEach(async () => {
    await client.close()
    await owner.close()
    rmSync(directory, { recursive: true })
  })

  it('serve again while nobody else has written', async () => {
    await owner.commit(append('2', 2))
    await owner.commit(append('3', 3))
    expect(seen.reads).toBe(0)
    expect(await keys(owner)).toEqual(['0', '1', '2', '3'])
  })

  it('are read anew once another connection has written', async () => {
    await client.commit(append('2'))
    await expect(owner.commit(append('lost', 2))).rejects.toMatchObject({
      facts: { reason: 'log-grown', actual: 3 },
    })
    expect(seen.reads).toBe(1)
    await owner.commit(append('3', 3))
    expect(seen.reads).toBe(1)
    await client.commit(append('4', 4))
    await owner.commit(append('5', 5))
    expect(seen.reads).toBe(2)
    expect(await keys(client)).toEqual(['0', '1', '2', '3', '4', '5'])
  })

  it('are read anew after a group that was undone', async () => {
    seen.failNext = true
    await expect(owner.commit(append('undone'))).rejects.toMatchObject({ code: expect.any(String) })
    await owner.commit(append('2', 2))
    expect(seen.reads).toBeGreaterThan(0)
    expect(await keys(owner)).toEqual(['0', '1', '2'])
  })
})
