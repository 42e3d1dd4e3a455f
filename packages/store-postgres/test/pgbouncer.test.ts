import { describeModel } from '@holdfast/conformance'
import { system } from '@holdfast/core/system'
import { afterAll, describe, expect, it } from 'vitest'
import { openPostgresStore } from '../src/index.ts'
import { appendKeys, keysOf } from './support/log-writer.ts'
import { startPgBouncer } from './support/pgbouncer.ts'
import { memoryReference } from './support/memory-reference.ts'
import { freshSchema, postgresTarget, query, serverUrl } from './support/postgres-target.ts'

const bouncer = serverUrl === '' ? undefined : await startPgBouncer(serverUrl)
const url = bouncer?.url ?? ''
afterAll(() => bouncer?.stop())

describe.skipIf(bouncer === undefined)(
  'behind PgBouncer in transaction mode [needs pgbouncer]',
  () => {
    // The whole suite stands in pgbouncer.long.test.ts.
    describeModel(
      postgresTarget(() => ({ connectionString: url, listen: false })),
      memoryReference,
      2,
    )

    it('hears on a direct connection, and finds by polling without one', async () => {
      const schema = freshSchema()
      const behind = { connectionString: url, schema }
      const writer = await openPostgresStore({ ...behind, listen: false })
      const listening = await openPostgresStore({
        ...behind,
        mode: 'client',
        listen: { connectionString: serverUrl },
        pollMs: 60_000,
      })
      const polling = await openPostgresStore({
        ...behind,
        mode: 'client',
        listen: false,
        pollMs: 5,
      })
      const sessionId = system.uuid()
      const abort = new AbortController()
      const watches = [listening, polling].map((store) => ({
        store,
        watch: store
          .watch({ kind: 'log', sessionId, log: 'l' }, abort.signal)
          [Symbol.asyncIterator](),
      }))
      const written = appendKeys(writer, sessionId, (count) => count < 20, false)
      for (const { store, watch } of watches) {
        do await watch.next()
        while ((await keysOf(store, sessionId)).length < 20)
      }
      await written
      abort.abort()
      await Promise.all([writer, listening, polling].map((store) => store.close()))
      await query(`drop schema "${schema}" cascade`)
    }, 30_000)

    it('whose server connections are ended in mid-commit loses nothing and doubles nothing', async () => {
      const schema = freshSchema()
      const store = await openPostgresStore({ connectionString: url, schema, listen: false })
      let writing = true
      const sessions = Array.from({ length: 4 }, () => system.uuid())
      const writers = sessions.map((sessionId, index) =>
        appendKeys(store, sessionId, () => writing, index % 2 === 0),
      )
      let ended = 0
      for (let round = 0; round < 40 || ended < 10; round += 1) {
        const rows = await query(
          `select pg_terminate_backend(pid) from pg_stat_activity
          where pid <> pg_backend_pid() and query like '%"${schema}".%_group(%'`,
        )
        ended += rows.length
      }
      writing = false
      for (const [index, written] of (await Promise.all(writers)).entries()) {
        const keys = await keysOf(store, sessions[index] ?? '')
        expect(keys.filter((key) => !written.unknown.includes(key))).toEqual(written.acknowledged)
        expect(new Set(keys).size).toBe(keys.length)
      }
      await store.close()
      await query(`drop schema "${schema}" cascade`)
    }, 60_000)
  },
)
