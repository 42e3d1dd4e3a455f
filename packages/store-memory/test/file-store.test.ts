// The store of docs/guides/stores.md passes the whole suite.
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeStore } from '@holdfast/conformance'
import type { StoreTarget } from '@holdfast/conformance'
import type { Store } from '@holdfast/core'
import { afterEach, describe, expect, it } from 'vitest'
import { FileDatabase } from './file-store.examples.ts'

const sessionId = '0190a1b2-0000-7000-8000-00000000000a'
const directories: string[] = []

function freshPath(): string {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-file-store-'))
  directories.push(directory)
  return join(directory, 'store.jsonl')
}

const target: StoreTarget = {
  capabilities: { durable: true, owners: 'many' },
  async create(options = {}) {
    const path = freshPath()
    const opened = new Map<Store, ReturnType<FileDatabase['open']>>()
    let database: FileDatabase | undefined
    const open = async (mode: 'owner' | 'client'): Promise<Store> => {
      database ??= new FileDatabase(path, options)
      const file = database
      const inner = file.open(mode)
      const close = async (): Promise<void> => {
        await inner.close()
        // Once everything is closed, the file alone is what there is.
        if (opened.delete(store) && opened.size === 0) {
          database = undefined
          file.close()
        }
      }
      const store: Store = { ...inner, close }
      opened.set(store, inner)
      return store
    }
    return {
      open: () => open('owner'),
      openClient: () => open('client'),
      takeOver(store) {
        opened.get(store)?.cutOff()
        return open('owner')
      },
      async destroy() {
        for (const store of opened.keys()) await store.close()
      },
    }
  },
}

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true })
})

describeStore('the store of the guide', target)

describe('the file of the store of the guide', () => {
  const append = (key: string) => ({
    sessionId,
    writes: [{ kind: 'log-append', log: 'l', key, value: '1', onFailure: 'fail' } as const],
  })

  it('may end in the middle of a line, which was never acknowledged', async () => {
    const path = freshPath()
    const first = new FileDatabase(path)
    await first.open().commit(append('a'))
    first.close()
    const whole = readFileSync(path, 'utf8')
    appendFileSync(path, '{"commit":{"sessionId":"0190')
    const second = new FileDatabase(path)
    expect(readFileSync(path, 'utf8')).toBe(whole)
    const store = second.open()
    await store.commit(append('b'))
    expect((await store.logPage(sessionId, 'l', { from: 0, limit: 9 })).next).toBe(2)
    second.close()
    const third = new FileDatabase(path)
    expect((await third.open().logPage(sessionId, 'l', { from: 0, limit: 9 })).next).toBe(2)
    third.close()
  })

  it('that cannot be written acknowledges nothing, and closes the store', async () => {
    const database = new FileDatabase(freshPath())
    const store = database.open()
    await store.commit(append('a'))
    // The disk is gone.
    database.close()
    await expect(store.commit(append('b'))).rejects.toMatchObject({ code: 'store_outcome_unknown' })
    await expect(store.commit(append('c'))).rejects.toMatchObject({ code: 'store_closed' })
    await expect(store.run(sessionId, sessionId)).rejects.toMatchObject({ code: 'store_closed' })
  })
})
