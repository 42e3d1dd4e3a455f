import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createManualSystem } from '@holdfast/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { openPostgresStore } from '../src/index.ts'
import { schemaVersion } from '../src/migrate.ts'
import { expectGolden, expectGoldenGoesOn, goldenTime, writeGolden } from './support/golden-data.ts'
import { dumpSchema, goldenSchema } from './support/golden-dump.ts'
import { freshSchema, query, serverUrl } from './support/postgres-target.ts'

const folder = join(import.meta.dirname, 'golden')
const files = globSync('v*.sql', { cwd: folder }).toSorted()
const schema = freshSchema()

const open = () =>
  openPostgresStore({
    connectionString: serverUrl,
    schema,
    leaseMs: 600_000,
    system: createManualSystem({ now: goldenTime }),
  })

describe.skipIf(serverUrl === '')('a database [needs postgres]', () => {
  afterEach(() => query(`drop schema if exists "${schema}" cascade`))

  it.each(files)('written by the release of %s is read, and goes on', async (file) => {
    const dump = readFileSync(join(folder, file), 'utf8')
    await query(dump.replaceAll(goldenSchema, `"${schema}"`))
    const store = await open()
    await expectGolden(store)
    await expectGoldenGoesOn(store)
    await store.close()
  })

  it('of this version is among them, and is written still as it was', async () => {
    const store = await open()
    await writeGolden(store)
    await store.close()
    const dump = await dumpSchema(schema)
    const file = join(folder, `v${schemaVersion}.sql`)
    // Once a version, by hand: what is checked in is never made again.
    if (process.env['HOLDFAST_WRITE_GOLDEN'] === 'true') writeFileSync(file, dump, { flag: 'wx' })
    expect(rowsOf(readFileSync(file, 'utf8'))).toEqual(rowsOf(dump))
  })
})

/** The rows of a dump: tables and functions may be made in other ways, rows may not. */
function rowsOf(dump: string): readonly string[] {
  return dump.split('\n').filter((line) => line.startsWith(`insert into ${goldenSchema}.`))
}
