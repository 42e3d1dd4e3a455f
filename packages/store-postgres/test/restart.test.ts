import { system } from '@holdfast/core/system'
import { createManualSystem } from '@holdfast/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgresStore } from '../src/index.ts'
import { appendKeys, keysOf } from './support/log-writer.ts'
import { serverUrl } from './support/postgres-target.ts'
import { startServer } from '@holdfast/postgres-server'
import type { TestServer } from '@holdfast/postgres-server'

describe.skipIf(serverUrl === '')('a server that is restarted [needs postgres]', () => {
  let server: TestServer | undefined
  beforeAll(async () => {
    server = await startServer()
  }, 60_000)
  afterAll(() => server?.remove(), 60_000)

  const running = (): TestServer => {
    if (server === undefined) throw new Error('The server was not started.')
    return server
  }

  it.each(['fast', 'immediate'] as const)(
    'in the middle of commits loses nothing acknowledged and doubles nothing: %s',
    async (mode) => {
      const { url, stop, start } = running()
      const store = await openPostgresStore({ connectionString: url, schema: mode })
      let writing = true
      const sessions = Array.from({ length: 6 }, () => system.uuid())
      const counts = new Map<string, number>()
      const writers = sessions.map((sessionId, index) =>
        appendKeys(
          store,
          sessionId,
          (count) => {
            counts.set(sessionId, count)
            return writing
          },
          index % 2 === 0,
        ),
      )
      const grown = async (by: number): Promise<void> => {
        const [...from] = sessions.map((sessionId) => counts.get(sessionId) ?? 0)
        while (
          sessions.some(
            (sessionId, index) => (counts.get(sessionId) ?? 0) < (from[index] ?? 0) + by,
          )
        ) {
          await new Promise<void>((resolve) => void system.after(1, resolve))
        }
      }
      const abort = new AbortController()
      const watch = store.watch({ kind: 'work' }, abort.signal)[Symbol.asyncIterator]()
      await watch.next()
      await grown(10)
      await stop(mode)
      await start()
      // Nothing of this session's is work: only the reconnect tells.
      await watch.next()
      await grown(10)
      writing = false
      for (const [index, written] of (await Promise.all(writers)).entries()) {
        const keys = await keysOf(store, sessions[index] ?? '')
        expect(new Set(keys).size).toBe(keys.length)
        // What was acknowledged is there in its order; beyond that, only what nobody could tell of.
        expect(keys.filter((key) => !written.unknown.includes(key))).toEqual(written.acknowledged)
        if (index % 2 === 0) expect(written.unknown).toEqual([])
      }
      abort.abort()
      await store.close()
    },
    60_000,
  )

  it('is waited for within bounds: then reads and commits say that they may be tried again', async () => {
    const { url, stop, start } = running()
    const store = await openPostgresStore({ connectionString: url, unavailableMs: 50 })
    await stop('fast')
    const sessionId = system.uuid()
    const away = { code: 'store_unavailable', retryable: true }
    await expect(store.run(sessionId, sessionId)).rejects.toMatchObject(away)
    const put = { kind: 'document-put', collection: 'c', key: 'k', expectedRevision: 0 } as const
    const commit = { sessionId, writes: [{ ...put, value: '1' }] }
    await expect(store.commit(commit)).rejects.toMatchObject(away)
    await expect(store.claimSession(sessionId)).rejects.toMatchObject(away)
    await expect(
      openPostgresStore({ connectionString: url, unavailableMs: 0 }),
    ).rejects.toMatchObject(away)
    await start()
    await store.commit(commit)
    expect(await store.document(sessionId, 'c', 'k')).toMatchObject({ value: '1' })
    await store.close()
  }, 60_000)

  it('and stays away makes a node say that it is lost before its lease can have run out', async () => {
    const { url, stop, start } = running()
    const manual = createManualSystem()
    const store = await openPostgresStore({
      connectionString: url,
      system: manual,
      unavailableMs: 0,
      leaseMs: 10_000,
    })
    await stop('fast')
    await manual.advance(8_999)
    expect(store.node?.lost.aborted).toBe(false)
    await manual.advance(1)
    expect(store.node?.lost.aborted).toBe(true)
    await expect(store.claimSession(system.uuid())).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    await start()
    await store.close()
  }, 60_000)
})
