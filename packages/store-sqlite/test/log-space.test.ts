import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@holdfast/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteStore } from '../src/index.ts'
import { sessionId } from './crash-writer-data.ts'

let directory = ''
let path = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-log-space-'))
  path = join(directory, 'store.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

const logLength = () => statSync(`${path}-wal`).size

async function write(store: Store, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index += 1) {
    await store.commit({
      sessionId,
      writes: [{ kind: 'log-append', log: 'l', key: `${index}`, value: 'v', onFailure: 'fail' }],
    })
  }
}

async function written(store: Store): Promise<number> {
  return (await store.logPage(sessionId, 'l', { from: 0, limit: 1_000 })).entries.length
}

describe.each(['node', 'better-sqlite3'] as const)('room in the log, with %s', (driver) => {
  it('is made once a store is used, and no more than it begins anew at', async () => {
    const store = await openSqliteStore({ path, driver, worker: false })
    await write(store, 0, 30)
    const short = logLength()
    await write(store, 30, 60)
    const long = logLength()
    await write(store, 60, 90)
    expect(short).toBeLessThan(1_000_000)
    expect(long).toBeGreaterThan(8_000_000)
    expect(logLength()).toBe(long)
    await store.close()
  })

  it('is no part of the log to whoever opens the file after a crash', async () => {
    const store = await openSqliteStore({ path, driver, worker: false })
    await write(store, 0, 60)
    const copy = join(directory, 'copy.db')
    copyFileSync(path, copy)
    copyFileSync(`${path}-wal`, `${copy}-wal`)
    await store.close()
    const found = await openSqliteStore({ path: copy, driver, worker: false })
    expect(await written(found)).toBe(60)
    await write(found, 60, 120)
    expect(await written(found)).toBe(120)
    await found.close()
  })

  it('is not made by a client', async () => {
    const owner = await openSqliteStore({ path, driver, worker: false })
    const client = await openSqliteStore({ path, driver, mode: 'client', worker: false })
    await write(client, 0, 60)
    expect(logLength()).toBeLessThan(1_000_000)
    await client.close()
    await owner.close()
  })
})
