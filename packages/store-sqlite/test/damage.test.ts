import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Commit } from '@holdfast/core'
import { createSeededRandom } from '@holdfast/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteStore } from '../src/index.ts'
import type { SqliteStoreOptions } from '../src/index.ts'
import { sessionId } from './crash-writer-data.ts'

let directory = ''
let path = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-damage-'))
  path = join(directory, 'store.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

function append(key: string): Commit {
  return {
    sessionId,
    writes: [{ kind: 'log-append', log: 'l', key, value: '"x"', onFailure: 'fail' }],
  }
}

function put(key: string): Commit {
  const document = { collection: 'c', key, value: '1', expectedRevision: 0 }
  return { sessionId, writes: [{ kind: 'document-put', ...document }] }
}

/** How far a log is written: room that was made in it beforehand holds frames of another salt. */
function writtenLength(log: string): number {
  const bytes = readFileSync(log)
  const salt = bytes.subarray(16, 24)
  const header = 32
  const frame = 24 + bytes.readUInt32BE(8)
  let end = header
  while (end + frame <= bytes.length && bytes.subarray(end + 8, end + 16).equals(salt)) end += frame
  return end
}

describe.each(['node', 'better-sqlite3'] as const)('with %s', (driver) => {
  const open = (options: Partial<SqliteStoreOptions> = {}) =>
    openSqliteStore({ path, driver, worker: false, ...options })

  describe('the log beside the file, after the power went', () => {
    /** Commits, and says how long the log was when each was acknowledged. The store stays as it was. */
    async function writeLog(count: number): Promise<readonly number[]> {
      const source = join(directory, 'source.db')
      const store = await open({ path: source })
      const lengths: number[] = []
      for (let index = 0; index < count; index += 1) {
        await store.commit(append(`${index}`))
        lengths.push(writtenLength(`${source}-wal`))
      }
      // What the disk holds if everything stops at this moment.
      copyFileSync(source, join(directory, 'image'))
      copyFileSync(`${source}-wal`, join(directory, 'image-wal'))
      await store.close()
      return lengths
    }

    /** The keys that a store has which finds the image, with its log changed. */
    async function keysAfter(change: (log: string) => void): Promise<readonly string[]> {
      copyFileSync(join(directory, 'image'), path)
      copyFileSync(join(directory, 'image-wal'), `${path}-wal`)
      change(`${path}-wal`)
      const store = await open()
      const { entries } = await store.logPage(sessionId, 'l', { from: 0, limit: 1_000 })
      // It is a store to go on with.
      await store.commit(append('next'))
      await store.close()
      const again = await open()
      const page = await again.logPage(sessionId, 'l', { from: 0, limit: 1_000 })
      expect(page.entries.map(({ key }) => key)).toEqual([...entries.map(({ key }) => key), 'next'])
      await again.close()
      return entries.map(({ key }) => key)
    }

    const firstKeys = (count: number) => Array.from({ length: count }, (_, index) => `${index}`)

    it('is cut off: what was acknowledged before the cut is there, the rest is not', async () => {
      const lengths = await writeLog(12)
      const cuts = [
        ...[0, 4, 11].flatMap((index) => [-1, 0, 1].map((by) => (lengths[index] ?? 0) + by)),
        Math.floor(((lengths[6] ?? 0) + (lengths[7] ?? 0)) / 2),
      ]
      for (const cut of cuts.filter((length) => length <= (lengths.at(-1) ?? 0))) {
        const whole = lengths.filter((length) => length <= cut).length
        expect(await keysAfter((log) => truncateSync(log, cut)), `cut at ${cut}`).toEqual(
          firstKeys(whole),
        )
      }
    })

    it('ends in rubbish: all of it that is whole is there', async () => {
      const lengths = await writeLog(12)
      const random = createSeededRandom(3)
      const rubbish = (size: number) =>
        Buffer.from(Array.from({ length: size }, () => random.below(256)))
      expect(await keysAfter((log) => appendFileSync(log, rubbish(10_000)))).toEqual(firstKeys(12))
      const behind = await keysAfter((log) => {
        truncateSync(log, lengths.at(-1) ?? 0)
        appendFileSync(log, rubbish(10_000))
      })
      expect(behind).toEqual(firstKeys(12))
      // Frames that were not written whole, though the file had its length.
      const from = (lengths[8] ?? 0) + 50
      const keys = await keysAfter((log) => {
        const bytes = readFileSync(log)
        rubbish(300).copy(bytes, from)
        writeFileSync(log, bytes)
      })
      expect(keys).toEqual(firstKeys(9))
    })
  })

  describe('a damaged page', () => {
    /** Damages the first page of a table or index of the closed file. */
    function damage(name: string): void {
      const database = new DatabaseSync(path)
      const row = database.prepare('select rootpage from sqlite_schema where name = ?').get(name)
      const size = database.prepare('pragma page_size').get()
      database.close()
      const bytes = readFileSync(path)
      const pageSize = Number(size?.['page_size'])
      bytes.fill(
        0xff,
        (Number(row?.['rootpage']) - 1) * pageSize,
        Number(row?.['rootpage']) * pageSize,
      )
      writeFileSync(path, bytes)
    }

    it('fails the commits and reads that need it, also among others, and none of the others', async () => {
      const before = await open()
      await before.commit(append('0'))
      await before.commit(put('known'))
      await before.close()
      damage('document_key')

      const store = await open()
      const corrupt = { code: 'store_corrupt', retryable: false }
      await expect(store.document(sessionId, 'c', 'known')).rejects.toMatchObject(corrupt)
      await expect(store.commit(put('alone'))).rejects.toMatchObject(corrupt)
      expect(
        await Promise.allSettled([
          store.commit(append('1')),
          store.commit(put('grouped')),
          store.commit(append('2')),
        ]),
      ).toMatchObject([
        { status: 'fulfilled' },
        { status: 'rejected', reason: corrupt },
        { status: 'fulfilled' },
      ])
      // What cannot be judged is not written in part.
      const both = { sessionId, writes: [...append('3').writes, ...put('3').writes] }
      await expect(store.commit(both)).rejects.toMatchObject(corrupt)
      await store.close()

      const again = await open()
      const { entries } = await again.logPage(sessionId, 'l', { from: 0, limit: 10 })
      expect(entries.map(({ key }) => key)).toEqual(['0', '1', '2'])
      await again.close()
    })
  })
})
