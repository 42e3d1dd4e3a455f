import { system } from '@holdfast/core/system'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openPostgresStore } from '../src/index.ts'
import type { PostgresStoreOptions } from '../src/index.ts'
import { appendKeys, keysOf } from './support/log-writer.ts'
import { freshSchema, query, serverUrl } from './support/postgres-target.ts'

let schema = ''
beforeEach(() => {
  schema = freshSchema()
})
afterEach(() => query(`drop schema if exists "${schema}" cascade`))

const open = (options: Partial<PostgresStoreOptions> = {}) =>
  openPostgresStore({ connectionString: serverUrl, schema, ...options })

/** Ends the connections whose last statement is like this. Answers how many. */
async function terminate(like: string): Promise<number> {
  const rows = await query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where pid <> pg_backend_pid() and query like '${like}'`,
  )
  return rows.length
}

describe.skipIf(serverUrl === '')('a connection that the server ends [needs postgres]', () => {
  it('in mid-commit loses nothing acknowledged and doubles nothing; the server says what became of each', async () => {
    const store = await open()
    let writing = true
    const sessions = Array.from({ length: 6 }, () => system.uuid())
    const writers = sessions.map((sessionId, index) =>
      appendKeys(store, sessionId, () => writing, index % 2 === 0),
    )
    let ended = 0
    for (let round = 0; round < 60 || ended < 20; round += 1) {
      ended += await terminate(`%"${schema}".%_group(%`)
    }
    writing = false
    for (const [index, written] of (await Promise.all(writers)).entries()) {
      // The server was never restarted: it could be asked of every transaction.
      expect(written.unknown).toEqual([])
      expect(await keysOf(store, sessions[index] ?? '')).toEqual(written.acknowledged)
      expect(written.acknowledged.length).toBeGreaterThan(0)
    }
    await store.close()
  }, 60_000)

  it('while it only listens costs no change: it listens again, and tells that it may have missed some', async () => {
    // Polling would find it in a minute only.
    const [writer, reader] = await Promise.all([
      open({ pollMs: 60_000 }),
      open({ mode: 'client', pollMs: 60_000 }),
    ])
    const sessionId = system.uuid()
    const abort = new AbortController()
    const watch = reader
      .watch({ kind: 'log', sessionId, log: 'l' }, abort.signal)
      [Symbol.asyncIterator]()
    await watch.next()
    let next = watch.next()
    expect(await terminate(`listen "holdfast:${schema}"`)).toBe(2)
    await next
    next = watch.next()
    await appendKeys(writer, sessionId, (count) => count < 1, false)
    await next
    expect(await keysOf(reader, sessionId)).toEqual(['0'])
    abort.abort()
    await Promise.all([writer.close(), reader.close()])
  }, 30_000)

  it('while it reads costs the reader nothing', async () => {
    const store = await open()
    const sessionId = system.uuid()
    await appendKeys(store, sessionId, (count) => count < 3, false)
    for (let round = 0; round < 10; round += 1) {
      await Promise.all([
        terminate(`%"${schema}"%`),
        ...Array.from({ length: 10 }, async () => {
          expect(await keysOf(store, sessionId)).toEqual(['0', '1', '2'])
        }),
      ])
    }
    await store.close()
  }, 30_000)
})

describe.skipIf(serverUrl === '')('a store that does not listen [needs postgres]', () => {
  it('finds by polling what others have written: a log, and that a node has gone', async () => {
    const writer = await open({ listen: false })
    const reader = await open({ mode: 'client', listen: false, pollMs: 5 })
    const sessionId = system.uuid()
    const abort = new AbortController()
    const log = reader
      .watch({ kind: 'log', sessionId, log: 'l' }, abort.signal)
      [Symbol.asyncIterator]()
    const work = reader.watch({ kind: 'work' }, abort.signal)[Symbol.asyncIterator]()
    for (let count = 1; count <= 5; count += 1) {
      const written = appendKeys(writer, sessionId, (done) => done < count, true)
      do await log.next()
      while ((await keysOf(reader, sessionId)).length < count)
      await written
    }
    await work.next()
    const told = work.next()
    await writer.close()
    await told
    abort.abort()
    await reader.close()
  }, 30_000)
})
