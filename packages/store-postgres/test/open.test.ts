import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openPostgresStore } from '../src/index.ts'
import type { PostgresStoreOptions } from '../src/index.ts'
import { schemaVersion } from '../src/migrate.ts'
import { freshSchema, query, serverUrl } from './support/postgres-target.ts'

const sessionId = '0190a1b2-0000-7000-8000-00000000000a'
const put = {
  sessionId,
  writes: [{ kind: 'document-put', collection: 'c', key: 'k', expectedRevision: 0, value: '1' }],
} as const

let schema = ''
beforeEach(() => {
  schema = freshSchema()
})
afterEach(() => query(`drop schema if exists "${schema}" cascade`))

const open = (options: Partial<PostgresStoreOptions> = {}) =>
  openPostgresStore({ connectionString: serverUrl, schema, unavailableMs: 0, ...options })

describe.skipIf(serverUrl === '')('a schema [needs postgres]', () => {
  it('that is new is made once, however many open it at once', async () => {
    for (let round = 0; round < 8; round += 1) {
      const stores = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          open({ mode: index % 2 === 0 ? 'owner' : 'client', poolSize: 5, unavailableMs: 0 }),
        ),
      )
      const [first] = stores
      await first?.commit(put)
      for (const store of stores) {
        expect(await store.document(sessionId, 'c', 'k')).toMatchObject({ value: '1' })
      }
      await Promise.all(stores.map((store) => store.close()))
      expect(await query(`select version from "${schema}".version`)).toEqual([
        { version: schemaVersion },
      ])
      await query(`drop schema "${schema}" cascade`)
    }
  }, 60_000)

  it.each(['Mixed Case', 'über-straße', 'select', '_'])('may be named %s', async (name) => {
    const store = await open({ schema: name })
    await store.commit(put)
    expect(await store.document(sessionId, 'c', 'k')).toMatchObject({ value: '1' })
    expect(store.schema).toBe(name)
    await store.close()
    await query(`drop schema "${name}" cascade`)
  })

  it.each(['', 'a"b', "a'b", 'pg_mine', 'x'.repeat(64), 'a$holdfast$', '1a'])(
    'cannot be named %s',
    async (name) => {
      await expect(open({ schema: name })).rejects.toMatchObject({ code: 'configuration_invalid' })
    },
  )

  it('is one of several in a database, which know nothing of each other', async () => {
    const other = freshSchema()
    const [one, two] = await Promise.all([open(), open({ schema: other })])
    await one.commit(put)
    expect(await two.document(sessionId, 'c', 'k')).toBeUndefined()
    expect((await one.claimSession(sessionId)).epoch).toBe(1)
    expect((await two.claimSession(sessionId)).epoch).toBe(1)
    await Promise.all([one.close(), two.close()])
    await query(`drop schema "${other}" cascade`)
  })

  it('of a newer release is refused, and left as it is', async () => {
    await (await open()).close()
    await query(`update "${schema}".version set version = ${schemaVersion + 1}`)
    await expect(open()).rejects.toMatchObject({
      code: 'record_from_newer_version',
      details: { version: schemaVersion + 1, supported: schemaVersion },
    })
    expect(await query(`select count(*)::int as n from "${schema}".node`)).toEqual([{ n: 0 }])
  })

  it.each(['orders', 'version'])(
    'with the table %s of another application is refused, and left as it is',
    async (table) => {
      await query(`create schema "${schema}"; create table "${schema}"."${table}" (id int)`)
      await expect(open()).rejects.toMatchObject({ code: 'store_corrupt' })
      expect(await query(`select tablename from pg_tables where schemaname = '${schema}'`)).toEqual(
        [{ tablename: table }],
      )
    },
  )

  it('that may not be made says so', async () => {
    await query(`create role "role_${schema}" login`)
    const url = new URL(serverUrl)
    url.username = `role_${schema}`
    await expect(open({ connectionString: url.href })).rejects.toMatchObject({
      code: 'configuration_invalid',
      message: expect.stringContaining('permission denied') as string,
    })
    await (await open()).close()
    await expect(open({ connectionString: url.href })).rejects.toMatchObject({
      code: 'configuration_invalid',
    })
    await query(`drop role "role_${schema}"`)
  })

  it('whose server flushes nothing by default has each commit flushed all the same', async () => {
    const role = `role_${schema}`
    await query(`create role "${role}" superuser login`)
    await query(`alter role "${role}" set synchronous_commit = off`)
    const url = new URL(serverUrl)
    url.username = role
    const store = await open({ connectionString: url.href })
    // The database itself writes down how each document was written.
    await query(`create table "${schema}".seen (setting text);
      create function "${schema}".note() returns trigger language plpgsql as $$ begin
        insert into "${schema}".seen values (current_setting('synchronous_commit')); return new;
      end $$;
      create trigger note after insert on "${schema}".document for each row
        execute function "${schema}".note()`)
    await store.commit(put)
    expect(await query(`select setting from "${schema}".seen`)).toEqual([{ setting: 'on' }])
    await store.close()
    await query(`drop schema "${schema}" cascade`)
    await query(`drop role "${role}"`)
  })
})

describe.skipIf(serverUrl === '')('a server [needs postgres]', () => {
  it('that is not there, or not one, is told as unavailable', async () => {
    const url = new URL(serverUrl)
    url.port = '1'
    await expect(open({ connectionString: url.href })).rejects.toMatchObject({
      code: 'store_unavailable',
      retryable: true,
    })
  })

  it('without the database says so', async () => {
    const url = new URL(serverUrl)
    url.pathname = '/no_such_database'
    await expect(open({ connectionString: url.href })).rejects.toMatchObject({
      code: 'configuration_invalid',
      message: expect.stringContaining('no_such_database') as string,
    })
  })

  it('whose database is not UTF-8 is refused', async () => {
    const database = `latin_${schema}`
    await query(`create database "${database}" encoding 'LATIN1' locale 'C' template template0`)
    const url = new URL(serverUrl)
    url.pathname = `/${database}`
    await expect(open({ connectionString: url.href })).rejects.toMatchObject({
      code: 'configuration_invalid',
    })
    await query(`drop database "${database}"`)
  })
})

describe.skipIf(serverUrl === '')('a client [needs postgres]', () => {
  it.each(['closed', 'left open'])(
    'keeps no process alive that has nothing to do: %s',
    async (ending) => {
      const child = spawn(
        process.execPath,
        [
          '--conditions=@holdfast/source',
          '--experimental-strip-types',
          join(import.meta.dirname, 'client-process.ts'),
          serverUrl,
          schema,
          ending,
        ],
        { stdio: ['ignore', 'ignore', 'inherit'] },
      )
      expect(await once(child, 'exit')).toEqual([0, null])
      const store = await open({ mode: 'client' })
      expect(await store.document(sessionId, 'c', ending)).toMatchObject({ value: '1' })
      await store.close()
    },
    30_000,
  )
})

describe('options', () => {
  it.each([
    { connectionString: 'postgres://x', connection: {} },
    {},
    { connectionString: 'postgres://x', poolSize: 4 },
    { connectionString: 'postgres://x', leaseMs: 999 },
    { connectionString: 'postgres://x', leaseMs: 9_000, renewMs: 3_001 },
    { connectionString: 'postgres://x', notifyMs: 0 },
    { connectionString: 'postgres://x', queueCommits: 0 },
  ])('that contradict are refused: %j', async (options) => {
    await expect(openPostgresStore(options)).rejects.toMatchObject({
      code: 'configuration_invalid',
    })
  })
})
