// The tables, in plain view.
//
// Rows that are appended at every step (journal, chunk) are rowid tables under an integer key, so that
// a group's rows go to the last pages together; their indices are small. What is swapped seldom
// (run) is a row of its own, which no append touches. docs/decisions/0010 has the reasons.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { SqlConnection } from './driver.ts'
import { inTransaction } from './transaction.ts'

/** In the file's header: `HOLD`. */
export const applicationId = 0x484f4c44

/** The statements that bring a file from each version to the next; a file's `user_version` counts them. */
export const migrations: readonly string[] = [
  `
  create table node (
    key integer primary key autoincrement,
    id text not null,
    pid integer not null
  );
  -- The node that owns the file now, if one does: at most one row.
  create table owner (only integer primary key check (only = 1), node integer not null);

  create table session (
    key integer primary key,
    id text not null unique,
    owner integer,
    epoch integer not null
  );

  create table run (
    key integer primary key,
    session integer not null,
    id text not null,
    revision integer not null,
    status integer not null,
    parked integer not null,
    -- Only while parked and not ended.
    wake_at real,
    stream integer not null,
    inbox_read integer not null,
    ready integer not null,
    definition text not null,
    parent text,
    input blob not null,
    idempotency_key text,
    record text not null
  );
  create unique index run_id on run (session, id);
  create index run_ready on run (session) where ready = 1;
  create index run_wake on run (wake_at) where wake_at is not null;
  create index run_active on run (session, id) where status < 3;
  create index run_parent on run (session, parent, id) where parent is not null;
  create index run_input on run (session, input);

  create table idempotency (
    session integer not null,
    key text not null,
    run_id text not null,
    input blob not null,
    purged_at real,
    primary key (session, key)
  ) without rowid;
  create table tombstone (
    session integer not null,
    run_id text not null,
    purged_at real not null,
    primary key (session, run_id)
  ) without rowid;
  create index tombstone_time on tombstone (purged_at);
  create index idempotency_time on idempotency (purged_at) where purged_at is not null;

  create table journal (
    key integer primary key,
    run integer not null,
    revision integer not null,
    data text not null,
    -- Text: this revision's head. A number: the newest revision that has one. Null: none has.
    head
  );
  create unique index journal_revision on journal (run, revision);

  create table stream (
    key integer primary key,
    run integer not null,
    number integer not null,
    ended integer
  );
  create unique index stream_number on stream (run, number);
  -- One row an append: chunks first .. next - 1.
  create table chunk (
    key integer primary key,
    stream integer not null,
    first integer not null,
    next integer not null,
    data text not null,
    tags text
  );
  create unique index chunk_first on chunk (stream, first);

  create table log (
    key integer primary key,
    session integer not null,
    name text not null,
    closed integer not null
  );
  create unique index log_name on log (session, name);
  create table log_entry (
    id integer primary key,
    log integer not null,
    sequence integer not null,
    key text not null,
    value text not null
  );
  create unique index log_entry_sequence on log_entry (log, sequence);
  create unique index log_entry_key on log_entry (log, key);

  create table document (
    id integer primary key,
    session integer not null,
    collection text not null,
    key text not null,
    revision integer not null,
    -- Null: deleted; the revision stays, so that it never returns.
    value text
  );
  create unique index document_key on document (session, collection, key);

  create table input (
    id integer primary key,
    session integer not null,
    digest blob not null,
    bytes blob not null
  );
  create unique index input_digest on input (session, digest);
  create table blob (
    id integer primary key,
    run integer not null,
    digest blob not null,
    bytes blob not null
  );
  create unique index blob_digest on blob (run, digest);

  create table commit_seen (
    id integer primary key,
    session integer not null,
    commit_id text not null,
    fingerprint text not null,
    receipt text not null,
    seen_at real not null
  );
  create unique index commit_seen_id on commit_seen (session, commit_id);
  `,
]

/** The version of the tables that this release reads and writes. */
export const schemaVersion = migrations.length

/**
 * Whether a file is one of ours, of which version. An empty file is of version 0.
 *
 * @throws `store_corrupt` for another application's, `record_from_newer_version`
 */
export function fileVersion(
  connection: SqlConnection,
  path: string,
  supported: number = schemaVersion,
): number {
  const version = pragmaNumber(connection, 'user_version')
  const application = pragmaNumber(connection, 'application_id')
  const tables = Number(connection.prepare('select count(*) as n from sqlite_schema').get()?.['n'])
  if (tables === 0 && version === 0 && application === 0) return 0
  if (application !== applicationId || version === 0) {
    throw new HoldfastError(ErrorCode.storeCorrupt, {
      message: `${path} is a database of another application.`,
    })
  }
  if (version > supported) {
    throw new HoldfastError(ErrorCode.recordFromNewerVersion, {
      message: `${path} has version ${version}; this release reads up to ${supported}.`,
      details: { version, supported },
    })
  }
  return version
}

/** Brings a file to this release's version, in one transaction, whoever else tries it at once. */
export function migrate(
  connection: SqlConnection,
  path: string,
  steps: readonly string[] = migrations,
): void {
  if (fileVersion(connection, path, steps.length) === steps.length) return
  inTransaction(connection, () => {
    const from = fileVersion(connection, path, steps.length)
    for (const statements of steps.slice(from)) connection.exec(statements)
    connection.exec(`pragma application_id = ${applicationId}`)
    connection.exec(`pragma user_version = ${steps.length}`)
  })
}

/** Reads a pragma that answers with one number. */
export function pragmaNumber(connection: SqlConnection, name: string): number {
  return Number(connection.prepare(`pragma ${name}`).get()?.[name])
}
