import type { StoreTarget } from '@holdfast/conformance'
import type { Store } from '@holdfast/core'
import { postgresUrl } from '@holdfast/postgres-server/postgres-url'
import { Client } from 'pg'
import { openPostgresStore } from '../../src/index.ts'
import type { PostgresStore, PostgresStoreOptions } from '../../src/index.ts'

/** The suite's server; tests that need it are skipped where there is none. */
export const serverUrl = postgresUrl() ?? ''

let schemas = 0

/** A schema's name that no other test has. */
export function freshSchema(): string {
  schemas += 1
  return `test_${process.pid}_${schemas}`
}

/** Runs one statement on a connection of its own. */
export async function query(
  text: string,
  url = serverUrl,
): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(text)
    return rows
  } finally {
    await client.end()
  }
}

/** The lease of a store's node has run out, and the node does not know. */
export async function expireLease(schema: string, store: Store): Promise<void> {
  await query(
    `update "${schema}".node set lease_until = '-infinity' where id = '${store.node?.id ?? ''}'`,
  )
}

/** A PostgreSQL store, for the suite. */
export function postgresTarget(
  options: Partial<PostgresStoreOptions> | (() => Partial<PostgresStoreOptions>) = {},
): StoreTarget {
  return {
    capabilities: { durable: true, owners: 'many' },
    async create(databaseOptions = {}) {
      const schema = freshSchema()
      const opened: PostgresStore[] = []
      const given = typeof options === 'function' ? options() : options
      const open = async (mode: 'owner' | 'client'): Promise<PostgresStore> => {
        const store = await openPostgresStore({
          connectionString: serverUrl,
          schema,
          mode,
          // Nobody renews while a test's clock stands still.
          leaseMs: 600_000,
          ...given,
          ...databaseOptions,
        })
        opened.push(store)
        return store
      }
      return {
        open: () => open('owner'),
        openClient: () => open('client'),
        async takeOver(store) {
          await expireLease(schema, store)
          return open('owner')
        },
        async destroy() {
          await Promise.all(opened.map((store) => store.close()))
          await query(`drop schema if exists "${schema}" cascade`)
        },
      }
    },
  }
}
