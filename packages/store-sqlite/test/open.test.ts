import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteStore } from '../src/index.ts'
import type { SqliteStoreOptions } from '../src/index.ts'
import { schemaVersion } from '../src/schema.ts'
import { runIds, runRecord, sessionId } from './crash-writer-data.ts'

let directory = ''
let path = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-open-'))
  path = join(directory, 'store.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

const open = () => openSqliteStore({ path, worker: false })

/** Expects that the file is refused with this code, and is the same afterwards to the byte. */
async function expectRefused(code: string): Promise<void> {
  const before = readFileSync(path)
  await expect(open()).rejects.toMatchObject({ code })
  await expect(openSqliteStore({ path, mode: 'client' })).rejects.toMatchObject({ code })
  expect(readFileSync(path).equals(before)).toBe(true)
}

describe('a file that cannot be a store', () => {
  it('is no database', async () => {
    writeFileSync(path, `This is a letter and not a database.${' '.repeat(10_000)}`)
    await expectRefused('store_corrupt')
  })

  it('is of another application', async () => {
    const other = new DatabaseSync(path)
    other.exec('create table orders (id integer)')
    other.close()
    await expectRefused('store_corrupt')
  })

  it('is of a newer version', async () => {
    await (await open()).close()
    const newer = new DatabaseSync(path)
    newer.exec(`pragma user_version = ${schemaVersion + 1}`)
    newer.close()
    await expectRefused('record_from_newer_version')
  })

  it('is read-only, whoever asks', async () => {
    await (await open()).close()
    chmodSync(path, 0o444)
    await expectRefused('store_read_only')
    chmodSync(path, 0o644)
    await (await open()).close()
  })

  it('lies in a directory that is read-only, whoever asks', async () => {
    await (await open()).close()
    chmodSync(directory, 0o555)
    await expectRefused('store_read_only')
    path = join(directory, 'new.db')
    await expect(open()).rejects.toMatchObject({ code: 'store_read_only' })
    chmodSync(directory, 0o755)
    await (await open()).close()
  })

  it('has a damaged first page', async () => {
    await (await open()).close()
    const file = openSync(path, 'r+')
    writeSync(file, Buffer.alloc(1_000, 0xff), 0, 1_000, 100)
    closeSync(file)
    await expectRefused('store_corrupt')
  })

  it('is cut off', async () => {
    await (await open()).close()
    truncateSync(path, 4096)
    await expectRefused('store_corrupt')
  })

  it('has no directory', async () => {
    await expect(
      openSqliteStore({ path: join(directory, 'missing', 'store.db') }),
    ).rejects.toMatchObject({ code: 'store_unavailable', retryable: false })
  })

  it('is locked by another process', async () => {
    await (await open()).close()
    const other = new DatabaseSync(path)
    other.exec('begin immediate')
    await expect(open()).rejects.toMatchObject({ code: 'store_unavailable', retryable: true })
    other.exec('rollback')
    other.close()
    await (await open()).close()
  }, 20_000)

  it('is none at all', async () => {
    for (const name of ['', ':memory:']) {
      await expect(openSqliteStore({ path: name })).rejects.toMatchObject({
        code: 'configuration_invalid',
      })
    }
  })
})

it('a library is one of two', async () => {
  const options = JSON.parse(JSON.stringify({ path, driver: 'sqlite3' })) as SqliteStoreOptions
  await expect(openSqliteStore(options)).rejects.toMatchObject({
    code: 'configuration_invalid',
    message: 'Option driver must be one of: node, better-sqlite3.',
  })
})

describe('a damaged page', () => {
  it('is told by the read that meets it, and the file is left alone', async () => {
    const store = await open()
    const [runId = ''] = runIds
    await store.commit({ sessionId, writes: [{ kind: 'run-create', record: runRecord(runId) }] })
    const { epoch } = await store.claimSession(sessionId)
    for (let index = 0; index < 50; index += 1) {
      await store.commit({
        sessionId,
        fence: { epoch },
        writes: [{ kind: 'journal-append', runId, revision: index, data: 'x'.repeat(5_000) }],
      })
    }
    await store.close()
    const file = openSync(path, 'r+')
    const { size } = statSync(path)
    for (let page = Math.floor(size / 4096 / 2); page < size / 4096; page += 1) {
      writeSync(file, Buffer.alloc(4_096, 0xff), 0, 4_096, page * 4_096)
    }
    closeSync(file)
    const before = readFileSync(path)
    const client = await openSqliteStore({ path, mode: 'client', worker: false })
    await expect(client.journal(sessionId, runId, { from: 0, limit: 1_000 })).rejects.toMatchObject(
      {
        code: 'store_corrupt',
      },
    )
    await client.close()
    expect(readFileSync(path).equals(before)).toBe(true)
  })
})

describe('an owner', () => {
  it('keeps a second one out, and says who it is', async () => {
    const store = await open()
    await expect(open()).rejects.toMatchObject({
      code: 'store_owned',
      message: expect.stringContaining(`process ${process.pid}`) as string,
      details: { pid: process.pid },
    })
    await store.close()
    await (await open()).close()
  })

  it('in another process is named by its pid, and its death frees the file at once', async () => {
    const child = spawn(
      process.execPath,
      [
        '--conditions=@holdfast/source',
        '--experimental-strip-types',
        join(import.meta.dirname, 'owner-process.ts'),
        path,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    await once(child.stdout, 'data')
    await expect(open()).rejects.toMatchObject({
      code: 'store_owned',
      details: { pid: child.pid },
    })
    const client = await openSqliteStore({ path, mode: 'client', worker: false })
    expect(await client.runs(sessionId)).toEqual({ items: [] })
    await client.close()
    child.kill('SIGKILL')
    await once(child, 'exit')
    const store = await open()
    expect(await store.findWork(0, 1)).toEqual([])
    await store.close()
  }, 20_000)

  it('keeps no process alive that has nothing to do', async () => {
    const child = spawn(
      process.execPath,
      [
        '--conditions=@holdfast/source',
        '--experimental-strip-types',
        join(import.meta.dirname, 'owner-process.ts'),
        path,
        'idle',
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    )
    expect(await once(child, 'exit')).toEqual([0, null])
  }, 20_000)
})

describe('a new file', () => {
  it('syncs each transaction, says so itself, and leaves one file when it is closed', async () => {
    const store = await open()
    const connection = new DatabaseSync(path)
    expect(connection.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'wal' })
    expect(connection.prepare('pragma user_version').get()).toEqual({ user_version: schemaVersion })
    connection.close()
    await store.close()
    expect(() => statSync(`${path}-wal`)).toThrow(/ENOENT/)
  })
})
