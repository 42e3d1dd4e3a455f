// The connections of one store.
//
// Owns:  the pools: one for groups, one for reads, one for what must not wait behind either.
// Asks:  the system for the pauses between attempts.
// Never: retries what may have been carried out: only reads, and what says that it is harmless.
//
// B1. Nothing is kept on a connection from one transaction to the next: any may be behind PgBouncer.
// B2. A connection on which something failed other than a statement is never used again.
// B3. While the server is away a call tries again, for at most `unavailableMs` of pauses.
import { Client, Pool } from 'pg'
import type { PoolClient } from 'pg'
import type { SqlRow } from './columns.ts'
import type { Settings } from './options.ts'
import { failureKind, storageError, storeClosed } from './postgres-error.ts'
import { sql, trusted } from './sql-text.ts'
import type { SqlText } from './sql-text.ts'

/** How many groups are written at once, over disjoint sessions. */
export const groupsAtOnce = 2

/** The first and the longest pause between attempts, and how long connecting may take. Milliseconds. */
const pauseMs = { least: 20, most: 500 }
const connectMs = 5_000

/** How much longer than the server's own limit an answer is waited for. Milliseconds. */
const answerMs = 5_000

/** What a connection is for. */
export type Purpose = 'group' | 'read' | 'control'

/** One connection, taken from its pool for one transaction. */
export interface Connection {
  /** Runs statements, in one round trip. Answers with the rows of each. */
  run(statements: SqlText): Promise<readonly (readonly SqlRow[])[]>
  /** Gives it back, or throws it away after a failure of the line. */
  release(failed?: boolean): void
}

/** The connections of one store. */
export class Database {
  readonly settings: Settings
  /** The schema, for statements. */
  readonly schema: SqlText
  readonly #pools: Readonly<Record<Purpose, Pool>>
  #closed = false

  constructor(settings: Settings) {
    this.settings = settings
    this.schema = trusted(settings.schema)
    this.#pools = {
      group: this.#pool(groupsAtOnce),
      control: this.#pool(1),
      // One more is for LISTEN.
      read: this.#pool(settings.poolSize - groupsAtOnce - 2),
    }
  }

  /** Takes a connection. The failure is the driver's. */
  async connect(purpose: Purpose): Promise<Connection> {
    if (this.#closed) throw storeClosed()
    const client = await this.#pools[purpose].connect()
    return connectionOf(client)
  }

  /**
   * Runs one transaction that may be carried out twice, and answers with its last statement's rows.
   *
   * @throws what {@link storageError} makes of the failure
   */
  async run(purpose: Purpose, statement: SqlText): Promise<readonly SqlRow[]> {
    const results = await this.runAll(purpose, statement)
    return results.at(-1) ?? []
  }

  /** As {@link run}, with the rows of each statement. */
  runAll(
    purpose: Purpose,
    statements: SqlText,
    begin = 'begin isolation level read committed read write',
  ): Promise<readonly (readonly SqlRow[])[]> {
    return this.persist(async () => {
      const connection = await this.connect(purpose)
      try {
        const results = await connection.run(
          sql`${trusted(begin)}; set local statement_timeout = ${this.settings.statementMs}; ${statements}; commit`,
        )
        connection.release()
        return results.slice(2, -1)
      } catch (error) {
        await abandon(connection, error)
        throw error
      }
    })
  }

  /** A read: one statement, or several of one snapshot. */
  readAll(statements: SqlText): Promise<readonly (readonly SqlRow[])[]> {
    return this.runAll('read', statements, 'begin isolation level repeatable read read only')
  }

  /** A read of one statement. */
  async read(statement: SqlText): Promise<readonly SqlRow[]> {
    const results = await this.readAll(statement)
    return results.at(-1) ?? []
  }

  /** Tries again what failed with the line or for another's sake, within bounds. */
  async persist<Value>(attempt: () => Promise<Value>): Promise<Value> {
    let waited = 0
    for (let count = 0; ; count += 1) {
      try {
        return await attempt()
      } catch (error) {
        const kind = failureKind(error)
        const passing = kind === 'line' || kind === 'contended'
        if (!passing || waited >= this.settings.unavailableMs || this.#closed) {
          throw this.#closed && kind === 'line' ? storeClosed() : storageError(error)
        }
        waited += await this.pause(count)
      }
    }
  }

  /** Waits a little longer each time, and answers how long. */
  async pause(count: number): Promise<number> {
    const { system } = this.settings
    const most = Math.min(pauseMs.least * 2 ** count, pauseMs.most)
    const delay = Math.ceil(most / 2 + system.next() * (most / 2))
    await new Promise<void>((resolve) => void system.after(delay, resolve))
    return delay
  }

  /** A client outside the pools, not yet connected, for LISTEN. */
  listener(): Client | undefined {
    const target = this.settings.listenConnection
    return target === undefined ? undefined : new Client({ ...clientConfig(target), ...noLimits })
  }

  /** Ends every connection, once it has been given back. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(Object.values(this.#pools).map((pool) => pool.end()))
  }

  #pool(max: number): Pool {
    const pool = new Pool({
      ...clientConfig(this.settings.connection),
      query_timeout: this.settings.statementMs + answerMs,
      max,
      // An idle connection keeps no process alive.
      allowExitOnIdle: true,
    })
    // Said of an idle connection, which the pool drops by itself.
    pool.on('error', () => undefined)
    // Said of one that is taken, whose next query fails.
    pool.on('connect', (client) => void client.on('error', () => undefined))
    return pool
  }
}

const noLimits = { query_timeout: connectMs }

function clientConfig(target: Settings['connection']) {
  return {
    ...target,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    application_name: 'holdfast',
    types: { getTypeParser },
  }
}

/** Values by their type's number, whatever the application has set for the driver as a whole. */
function getTypeParser(oid: number): (text: string) => unknown {
  switch (oid) {
    case 16:
      return (text) => text === 't'
    case 20:
    case 21:
    case 23:
    case 26:
    case 700:
    case 701:
      return Number
    case 114:
    case 3802:
      return (text) => JSON.parse(text) as unknown
    default:
      return (text) => text
  }
}

function connectionOf(client: PoolClient): Connection {
  let released = false
  return {
    async run(statements) {
      const answer: unknown = await client.query(statements.text)
      return (Array.isArray(answer) ? answer : [answer]).map(rowsOf)
    },
    release(failed = false) {
      if (released) return
      released = true
      client.release(failed)
    },
  }
}

function rowsOf(result: { readonly rows: readonly SqlRow[] }): readonly SqlRow[] {
  return result.rows
}

/** Ends what failed on a connection: the transaction if the line still stands, else the connection. */
export async function abandon(connection: Connection, error: unknown): Promise<void> {
  if (failureKind(error) === 'line') {
    connection.release(true)
    return
  }
  try {
    await connection.run(trusted('rollback'))
    connection.release()
  } catch {
    connection.release(true)
  }
}
