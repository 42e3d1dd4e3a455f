import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { inboxOf } from '@holdfast/core'
import { createManualSystem } from '@holdfast/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeSqlite } from '../src/driver.ts'
import type { SqlConnection } from '../src/driver.ts'
import { openSqliteStore } from '../src/index.ts'
import type { SqliteStoreOptions } from '../src/index.ts'
import { fileVersion, migrate, migrations, pragmaNumber, schemaVersion } from '../src/schema.ts'
import { goldenNow, repeatable, runs, sessions, writeGolden } from './golden/golden-data.ts'
import { readGolden } from './golden/read-golden.ts'

const folder = join(import.meta.dirname, 'golden')
const versions = globSync('v*.db', { cwd: folder }).map((file) => basename(file, '.db'))

let directory = ''
let path = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-golden-'))
  path = join(directory, 'store.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

const open = (options: Partial<SqliteStoreOptions> = {}) =>
  openSqliteStore({
    path,
    worker: false,
    system: createManualSystem({ now: goldenNow + 1_000 }),
    ...options,
  })

const expectedReads = (version: string): unknown =>
  JSON.parse(readFileSync(join(folder, `${version}.json`), 'utf8'))

/** As it would stand in the file of expectations. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

it('there is a golden file of every version up to this one', () => {
  expect(versions.toSorted()).toEqual(
    Array.from({ length: schemaVersion }, (_, index) => `v${index + 1}`),
  )
})

describe.each(versions)('the golden file %s', (version) => {
  beforeEach(() => copyFileSync(join(folder, `${version}.db`), path))

  it.each(['node', 'better-sqlite3'] as const)(
    'is read as it was when it was written, by owner and client, with %s',
    async (driver) => {
      const owner = await open({ driver })
      const client = await open({ driver, mode: 'client' })
      expect(asJson(await readGolden(owner))).toEqual(expectedReads(version))
      expect(asJson(await readGolden(client))).toEqual(expectedReads(version))
      await client.close()
      await owner.close()
    },
  )

  it('is taken over and gone on with', async () => {
    const store = await open()
    const { epoch } = await store.claimSession(sessions.full)
    expect(epoch).toBe(2)
    const running = await store.run(sessions.full, runs.running)
    const write = {
      kind: 'journal-append',
      runId: runs.running,
      revision: running?.journalNext ?? -1,
      data: '["next"]',
    } as const
    await expect(
      store.commit({ sessionId: sessions.full, fence: { epoch: 1 }, writes: [write] }),
    ).rejects.toMatchObject({ code: 'store_fenced' })
    await store.commit({
      sessionId: sessions.full,
      fence: { epoch },
      writes: [
        write,
        {
          kind: 'stream-append',
          streamId: runs.running,
          expectedNext: 15,
          chunks: [{ data: '{"n":6}' }],
        },
        {
          kind: 'log-append',
          log: inboxOf(runs.interrupted),
          key: 'answer/interrupt-1',
          value: '{"approved":true}',
          guard: { runId: runs.interrupted, interruptOpen: 'interrupt-1', streamIs: 1 },
          onFailure: 'fail',
        },
        {
          kind: 'document-put',
          collection: 'chats',
          key: 'kept',
          expectedRevision: 2,
          value: '{"title":"third"}',
        },
        // Deleted at revision 1: its revisions go on.
        {
          kind: 'document-put',
          collection: 'chats',
          key: 'gone',
          expectedRevision: 0,
          value: '{}',
        },
        { kind: 'run-purge', runId: runs.failed },
      ],
    })
    // Commits, keys and ids of back then are known.
    expect(await store.commit(repeatable)).toEqual({
      results: [
        { kind: 'log-appended', sequence: 2 },
        { kind: 'log-skipped', reason: 'log-key-exists' },
      ],
    })
    const known = await store.run(sessions.full, runs.pending)
    if (known === undefined) throw new Error('The run is not there.')
    for (const [id, key, reason] of [
      [runs.pending, 'another key', 'run-exists'],
      ['01900000-0000-7000-8000-0000000000ff', 'key of the pending run', 'idempotency-key'],
      ['01900000-0000-7000-8000-0000000000ff', 'key of the purged run', 'run-purged'],
    ] as const) {
      const record = {
        ...known.record,
        id,
        artifactNamespace: { sessionId: sessions.full, runId: id },
      }
      await expect(
        store.commit({
          sessionId: sessions.full,
          writes: [{ kind: 'run-create', record, idempotencyKey: key }],
        }),
      ).rejects.toMatchObject({ facts: { reason } })
    }
    await store.close()

    const again = await open()
    const after = await again.run(sessions.full, runs.running)
    expect(after).toMatchObject({ journalNext: 7, head: { revision: 5 } })
    const page = await again.streamPage(sessions.full, runs.running, { from: 14, limit: 9 })
    expect(page).toMatchObject({ head: { next: 16 }, chunks: [{}, { data: '{"n":6}' }] })
    expect((await again.run(sessions.full, runs.interrupted))?.unread).toEqual([
      'answer/interrupt-1',
    ])
    expect(await again.document(sessions.full, 'chats', 'gone')).toMatchObject({ revision: 3 })
    expect(await again.run(sessions.full, runs.failed)).toBeUndefined()
    await again.close()
  })
})

it('what a new file of the same data is read as has not changed', async () => {
  const store = await open({ system: createManualSystem({ now: goldenNow }) })
  await writeGolden(store)
  expect(asJson(await readGolden(store))).toEqual(expectedReads(`v${schemaVersion}`))
  await store.close()
})

describe('a record', () => {
  it.each([
    { change: `json_set(record, '$.version', 2)`, code: 'record_from_newer_version' },
    { change: `json_set(record, '$.surprise', 1)`, code: 'record_corrupt' },
  ])('is read strictly, and the others beside it: $code', async ({ change, code }) => {
    copyFileSync(join(folder, `v${schemaVersion}.db`), path)
    const connection = nodeSqlite(path, { readOnly: false })
    connection.exec(`update run set record = ${change} where id = '${runs.failed}'`)
    connection.close()
    const store = await open()
    await expect(store.run(sessions.full, runs.failed)).rejects.toMatchObject({ code })
    await expect(store.runs(sessions.full)).rejects.toMatchObject({ code })
    expect(await store.run(sessions.full, runs.completed)).toMatchObject({ revision: 1 })
    await store.close()
  })
})

describe('a file of an older version', () => {
  const step = 'alter table run add column note text; update run set note = id'
  const steps = [...migrations, step]
  const withFile = (use: (connection: SqlConnection) => void): void => {
    const connection = nodeSqlite(path, { readOnly: false })
    try {
      use(connection)
    } finally {
      connection.close()
    }
  }
  const notes = (connection: SqlConnection) =>
    connection.prepare('select count(*) as n from run where note = id').get()?.['n']

  beforeEach(() => copyFileSync(join(folder, `v${schemaVersion}.db`), path))

  it('is brought to the new one with what it holds; this release then refuses it, whole', async () => {
    withFile((connection) => {
      migrate(connection, path, steps)
      expect(fileVersion(connection, path, steps.length)).toBe(schemaVersion + 1)
      expect(notes(connection)).toBe(9)
    })
    const before = readFileSync(path)
    const refusal = {
      code: 'record_from_newer_version',
      details: { version: schemaVersion + 1, supported: schemaVersion },
    }
    await expect(open()).rejects.toMatchObject(refusal)
    await expect(open({ mode: 'client' })).rejects.toMatchObject(refusal)
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('stays what it was if a step fails, to be read and brought on later', async () => {
    withFile((connection) => {
      expect(() => migrate(connection, path, [...migrations, `${step}; select no_such()`])).toThrow(
        'no_such',
      )
      expect(pragmaNumber(connection, 'user_version')).toBe(schemaVersion)
    })
    const store = await open()
    expect(asJson(await readGolden(store))).toEqual(expectedReads(`v${schemaVersion}`))
    await store.close()
    withFile((connection) => {
      migrate(connection, path, steps)
      expect(notes(connection)).toBe(9)
    })
  })

  it('is brought on once, whoever else does it at the same moment', () => {
    withFile((connection) => {
      let others = 0
      // Between this one's look at the version and its transaction, another one is quicker.
      const slow: SqlConnection = {
        ...connection,
        exec(sql) {
          if (sql === 'begin immediate') {
            others += 1
            withFile((other) => migrate(other, path, steps))
          }
          connection.exec(sql)
        },
      }
      migrate(slow, path, steps)
      expect(others).toBe(1)
      expect(fileVersion(connection, path, steps.length)).toBe(schemaVersion + 1)
      expect(notes(connection)).toBe(9)
    })
  })
})
