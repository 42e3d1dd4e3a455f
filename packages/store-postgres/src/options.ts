import { configurationInvalid, Limits, silentLog, wholeNumberOption } from '@holdfast/core'
import type { Log, System } from '@holdfast/core'
import { system as realSystem } from '@holdfast/core/system'
import { escapeIdentifier } from 'pg'

/** How a server is reached: as `pg` takes it. */
export interface PostgresConnection {
  readonly host?: string
  readonly port?: number
  readonly database?: string
  readonly user?: string
  readonly password?: string | (() => string | Promise<string>)
  /** TLS: `true`, or what Node's `tls.connect` takes. */
  readonly ssl?: boolean | { readonly ca?: string; readonly rejectUnauthorized?: boolean }
}

/** How a PostgreSQL store is opened. */
export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`. This, or `connection`. */
  readonly connectionString?: string
  /** The same in parts. */
  readonly connection?: PostgresConnection
  /** The schema that holds the tables; made if it does not exist. At most 63 bytes. Default `holdfast`. */
  readonly schema?: string
  /** `owner` (default): runs are executed here, under a lease. `client`: reads, starts, appends. */
  readonly mode?: 'owner' | 'client'
  /** Default: the real one. Leases are by the database's clock, whatever this one says. */
  readonly system?: System
  /** Default: silent. */
  readonly log?: Log
  /** The most connections that this store opens, 5 to 100. Default 10. */
  readonly poolSize?: number
  /**
   * `LISTEN` on a connection of its own (default true). Behind PgBouncer in transaction mode: where
   * the server is reached directly, or false, which leaves polling alone.
   */
  readonly listen?: boolean | { readonly connectionString: string }
  /** How long the node is an owner without renewing. Milliseconds, 1,000 to 600,000. Default 10,000. */
  readonly leaseMs?: number
  /** How often the lease is renewed; at most a third of it. Milliseconds. Default 3,000. */
  readonly renewMs?: number
  /** Changes are told to other processes at most this often. Milliseconds, 1 to 1,000. Default 10. */
  readonly notifyMs?: number
  /** How often changes are looked for. Milliseconds. Default 1,000, and 50 without `listen`. */
  readonly pollMs?: number
  /** How long a call goes on trying while the server is away. Milliseconds. Default 5,000. */
  readonly unavailableMs?: number
  /** What the server gives a statement, and a lock. Milliseconds. Default 30,000. */
  readonly statementMs?: number
  /** How many commits may wait before more are refused as `store_unavailable`. Default 10,000. */
  readonly queueCommits?: number
  /** How long tombstones of purged runs and their keys stay. Milliseconds. Default 30 days. */
  readonly tombstoneMs?: number
}

/** The options as they are used. */
export interface Settings {
  readonly connection: PostgresConnection & { readonly connectionString?: string }
  readonly listenConnection:
    | (PostgresConnection & { readonly connectionString?: string })
    | undefined
  /** The schema's name as a quoted identifier. */
  readonly schema: string
  readonly schemaName: string
  /** The channel of notifications, as a quoted identifier is not: its plain name. */
  readonly channel: string
  readonly owner: boolean
  readonly system: System
  readonly log: Log
  readonly poolSize: number
  readonly leaseMs: number
  readonly renewMs: number
  readonly notifyMs: number
  readonly pollMs: number
  readonly unavailableMs: number
  readonly statementMs: number
  readonly queueCommits: number
  readonly tombstoneMs: number
}

/** Letters, digits, `_`, `-` and spaces: what stands in function bodies and literals without a second thought. */
const schemaName = /^[\p{L}_][\p{L}\p{N}_ -]*$/u

/** Checks options and fills in what is not given. @throws `configuration_invalid` */
export function settingsOf(options: PostgresStoreOptions): Settings {
  const { connectionString, connection, schema = 'holdfast', listen = true } = options
  if ((connectionString === undefined) === (connection === undefined)) {
    throw configurationInvalid('Give either option connectionString or option connection.')
  }
  if (!schemaName.test(schema) || Buffer.byteLength(schema) > 63 || schema.startsWith('pg_')) {
    throw configurationInvalid(
      'Option schema must be letters, digits, _, - and spaces, at most 63 bytes, not from pg_ on.',
    )
  }
  const number = (
    name: keyof PostgresStoreOptions,
    given: number | undefined,
    value: number,
    min: number,
    max: number,
  ): number => wholeNumberOption(name, given ?? value, { min, max })
  const leaseMs = number('leaseMs', options.leaseMs, Limits.nodeLeaseMs, 1_000, 600_000)
  const defaultRenewMs = Math.min(Limits.nodeLeaseRenewMs, Math.floor(leaseMs / 3))
  const target = { ...connection, ...(connectionString === undefined ? {} : { connectionString }) }
  return {
    connection: target,
    listenConnection: listen === true ? target : listen === false ? undefined : listen,
    schema: escapeIdentifier(schema),
    schemaName: schema,
    channel: `holdfast:${schema}`.slice(0, 40),
    owner: (options.mode ?? 'owner') === 'owner',
    system: options.system ?? realSystem,
    log: options.log ?? silentLog,
    poolSize: number('poolSize', options.poolSize, 10, 5, 100),
    leaseMs,
    renewMs: number('renewMs', options.renewMs, defaultRenewMs, 100, Math.floor(leaseMs / 3)),
    notifyMs: number('notifyMs', options.notifyMs, 10, 1, 1_000),
    pollMs: number('pollMs', options.pollMs, listen === false ? 50 : 1_000, 1, 60_000),
    unavailableMs: number('unavailableMs', options.unavailableMs, 5_000, 0, 600_000),
    statementMs: number('statementMs', options.statementMs, 30_000, 100, 600_000),
    queueCommits: number('queueCommits', options.queueCommits, Limits.storeQueueCommits, 1, 1e6),
    tombstoneMs: number(
      'tombstoneMs',
      options.tombstoneMs,
      Limits.tombstoneMs,
      0,
      Number.MAX_SAFE_INTEGER,
    ),
  }
}
