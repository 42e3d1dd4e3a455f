// The version of a database, and how it is brought to this release's.
import { configurationInvalid, ErrorCode, HoldfastError, isHoldfastError } from '@holdfast/core'
import type { SqlRow } from './columns.ts'
import { numberOf, textOf } from './columns.ts'
import type { Database } from './database.ts'
import { functionsV1 } from './functions.ts'
import { sqlStateOf } from './postgres-error.ts'
import { sql, trusted } from './sql-text.ts'
import { tablesV1 } from './tables.ts'

/** What stands in the table that says whose schema it is. */
const application = 'holdfast'

/** The statements that bring a schema, given as a quoted identifier, from each version to the next. */
export const migrations: readonly ((schema: string) => string)[] = [
  (schema) => tablesV1(schema) + functionsV1(schema),
]

/** The version of the tables that this release reads and writes. */
export const schemaVersion = migrations.length

/**
 * Brings the schema to this release's version, in one transaction, whoever else tries it at once.
 *
 * @throws `record_from_newer_version`, `store_corrupt` for another application's schema,
 * `configuration_invalid` without the privileges, or for a server that will not do
 */
export async function migrate(database: Database): Promise<void> {
  await checkServer(database)
  if ((await versionOf(database)) === schemaVersion) return
  await bringUp(database)
  const version = await versionOf(database)
  if (version !== schemaVersion) {
    throw new HoldfastError(ErrorCode.storeCorrupt, {
      message: `The schema's version is ${version ?? 'unknown'} after it was brought up to date.`,
    })
  }
}

/** What durability and text need of a server. */
async function checkServer(database: Database): Promise<void> {
  const [row] = await database.run(
    'control',
    sql`select current_setting('server_version_num')::int as version,
      current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
      pg_is_in_recovery() as standby`,
  )
  if (numberOf(row?.['version']) < 160_000) {
    throw configurationInvalid('The store needs PostgreSQL 16 or newer.')
  }
  if (textOf(row?.['encoding']) !== 'UTF8') {
    throw configurationInvalid('The store needs a database whose encoding is UTF8.')
  }
  if (row?.['standby'] === true) {
    throw new HoldfastError(ErrorCode.storeReadOnly, {
      message: 'The server is a standby and takes no writes.',
    })
  }
  if (textOf(row?.['fsync']) === 'off') {
    database.settings.log.write({
      level: 'warn',
      event: 'store.not_durable',
      message: 'The server runs with fsync off: what it acknowledges can be lost with its machine.',
      fields: {},
    })
  }
}

/** The schema's version; `undefined` if it holds nothing of ours. */
async function versionOf(database: Database): Promise<number | undefined> {
  const name = `${database.settings.schema}.version`
  const [found] = await database.run(
    'control',
    sql`select to_regclass(${name}) is not null as known`,
  )
  if (found?.['known'] !== true) return undefined
  // As a row of whatever columns: the table may be somebody else's.
  return checkVersion(await database.run('control', sql`select * from ${database.schema}.version`))
}

function checkVersion(rows: readonly SqlRow[]): number {
  const [row] = rows
  if (row?.['application'] !== application) {
    throw new HoldfastError(ErrorCode.storeCorrupt, {
      message: 'The schema is of another application.',
    })
  }
  const version = numberOf(row['version'])
  if (version > schemaVersion) {
    throw new HoldfastError(ErrorCode.recordFromNewerVersion, {
      message: `The schema has version ${version}; this release reads up to ${schemaVersion}.`,
      details: { version, supported: schemaVersion },
    })
  }
  return version
}

async function bringUp(database: Database): Promise<void> {
  const { schema } = database
  // One of each schema's name in the database: two that make it do so one after the other.
  const lock = sql`select pg_advisory_xact_lock(hashtextextended(${`holdfast ${schema.text}`}, 0))`
  const name = database.settings.schemaName
  const tables = sql`select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${name} and c.relkind in ('r', 'p', 'v')`
  // Asked of the tables themselves: what `to_regclass` has cached may be older than the lock.
  const make = sql`do $migrate$ begin
    if not exists (${tables} and c.relname = 'version') then
      if not exists (select 1 from pg_namespace where nspname = ${name}) then
        create schema ${schema};
      elsif exists (${tables}) then
        raise exception using errcode = ${foreignSchema}, message = 'The schema is in use.';
      end if;
      create table ${schema}.version (
        singular boolean primary key default true check (singular),
        application text not null,
        version int not null
      );
      insert into ${schema}.version (application, version) values (${application}, 0);
    end if;
  end $migrate$`
  const steps = migrations.map(
    (migration, from) => sql`; do $migrate$ begin
      if (select version from ${schema}.version) = ${from} then
        ${trusted(migration(schema.text))}
        update ${schema}.version set version = ${from + 1};
      end if;
    end $migrate$`,
  )
  try {
    await database.run(
      'control',
      sql`${lock}; ${make}${trusted(steps.map(({ text }) => text).join(''))}`,
    )
  } catch (error) {
    if (isHoldfastError(error) && sqlStateOf(error.cause) === foreignSchema) {
      throw new HoldfastError(ErrorCode.storeCorrupt, {
        message: 'The schema holds what is not of a store: give the store a schema of its own.',
        cause: error.cause,
      })
    }
    throw error
  }
}

/** The SQLSTATE that is raised for a schema of somebody else. */
const foreignSchema = 'HF001'
