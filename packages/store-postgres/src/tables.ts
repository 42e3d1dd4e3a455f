// The tables, in plain view.
//
// What a step appends (journal, chunk) has a small integer key and is never updated; what is swapped
// seldom (run) is a row of its own. docs/decisions/0020 has the reasons. Text sorts by its bytes
// (`collate "C"`), so that a database's locale changes no page.

/** The tables of version 1, in a schema given as a quoted identifier. */
export function tablesV1(schema: string): string {
  return `
create table ${schema}.node (
  key bigint generated always as identity primary key,
  id text collate "C" not null unique,
  lease_until timestamptz not null
);

-- One sequence for the keys of session, run, stream and log, drawn before a row is judged.
create sequence ${schema}.row_key;

create table ${schema}.session (
  key bigint primary key,
  id text collate "C" not null unique,
  owner bigint,
  epoch bigint not null
);
create index session_owner on ${schema}.session (owner) where owner is not null;

create table ${schema}.run (
  key bigint primary key,
  session bigint not null,
  id text collate "C" not null,
  revision bigint not null,
  status smallint not null,
  parked boolean not null,
  -- Only while parked and not ended.
  wake_at double precision,
  stream bigint not null,
  inbox_read bigint not null,
  ready boolean not null,
  definition text collate "C" not null,
  parent text collate "C",
  input bytea not null,
  idempotency_key text collate "C",
  record text not null
) with (fillfactor = 80);
create unique index run_id on ${schema}.run (session, id);
create index run_ready on ${schema}.run (session) where ready;
create index run_wake on ${schema}.run (wake_at) where wake_at is not null;
create index run_active on ${schema}.run (session, id) where status < 3;
create index run_parent on ${schema}.run (session, parent, id) where parent is not null;
create index run_input on ${schema}.run (session, input);

create table ${schema}.idempotency (
  session bigint not null,
  key text collate "C" not null,
  run_id text collate "C" not null,
  input bytea not null,
  purged_at double precision,
  primary key (session, key)
);
create index idempotency_time on ${schema}.idempotency (purged_at) where purged_at is not null;
create table ${schema}.tombstone (
  session bigint not null,
  run_id text collate "C" not null,
  purged_at double precision not null,
  primary key (session, run_id)
);
create index tombstone_time on ${schema}.tombstone (purged_at);

create table ${schema}.journal (
  run bigint not null,
  revision bigint not null,
  data text not null,
  -- This revision's head, if it has one; then head_revision is its own.
  head text,
  -- The newest revision that has a head, as of this one.
  head_revision bigint,
  primary key (run, revision)
);

create table ${schema}.stream (
  key bigint primary key,
  run bigint not null,
  number bigint not null,
  ended smallint,
  unique (run, number)
);
-- One row an append, or a piece of one: chunks first .. next - 1.
create table ${schema}.chunk (
  stream bigint not null,
  first bigint not null,
  next bigint not null,
  data text not null,
  tags text,
  primary key (stream, first)
);

create table ${schema}.log (
  key bigint primary key,
  session bigint not null,
  name text collate "C" not null,
  closed boolean not null,
  unique (session, name)
);
create table ${schema}.log_entry (
  log bigint not null,
  sequence bigint not null,
  key text collate "C" not null,
  value text not null,
  primary key (log, sequence),
  unique (log, key)
);

create table ${schema}.document (
  session bigint not null,
  collection text collate "C" not null,
  key text collate "C" not null,
  revision bigint not null,
  -- Null: deleted; the revision stays, so that it never returns.
  value text,
  primary key (session, collection, key)
);

create table ${schema}.input (
  session bigint not null,
  digest bytea not null,
  bytes bytea not null,
  primary key (session, digest)
);
create table ${schema}.blob (
  run bigint not null,
  digest bytea not null,
  bytes bytea not null,
  primary key (run, digest)
);

create table ${schema}.commit_seen (
  session bigint not null,
  commit_id text collate "C" not null,
  fingerprint text not null,
  receipt text not null,
  seen_at double precision not null,
  primary key (session, commit_id)
);
create index commit_seen_time on ${schema}.commit_seen (seen_at);
`
}
