// The two functions that a group's transaction calls, one before and one after it is judged. Kept in
// the database, so that their plans are kept too, on any connection, also behind PgBouncer.
//
// F1. `begin_group` locks in one order everywhere: fences, creation locks, runs, logs, documents;
//     each sorted. What it reads, it reads after it has locked: each statement has its own snapshot.
// F2. A run's lock covers its journal, its streams and its blobs: nothing touches them without it.
// F3. What does not exist yet gets its key here, so that `apply_group` needs to look nothing up.
// F4. `apply_group` decides nothing, and cannot conflict with anything that holds to F1.

/** The functions of version 1, in a schema given as a quoted identifier. */
export function functionsV1(schema: string): string {
  return beginGroup(schema) + applyGroup(schema) + claimSession(schema)
}

/** The key of a session's creation lock. Schemas of one database have locks of their own. */
const lockKey = (schema: string, id: string): string =>
  `hashtextextended(${id}, ('${schema}.session'::regclass)::oid::bigint)`

function beginGroup(schema: string): string {
  const session = `join ${schema}.session s on s.id = e.v ->> 0`
  const each = (argument: string): string =>
    `jsonb_array_elements(${argument}) with ordinality e (v, n)`
  return `
create function ${schema}.begin_group(
  fences jsonb, creates jsonb, sessions jsonb, runs jsonb, streams jsonb, logs jsonb,
  log_keys jsonb, documents jsonb, idempotency_keys jsonb, commit_ids jsonb
) returns jsonb language plpgsql volatile as $holdfast$
declare
  found_sessions jsonb;
  found_runs jsonb;
  found_streams jsonb;
  found_logs jsonb;
  found_log_keys jsonb;
  found_documents jsonb;
  found_idempotency_keys jsonb;
  found_commit_ids jsonb;
begin
  -- What is acknowledged was flushed, whatever the server's default is.
  if current_setting('synchronous_commit') = 'off' then
    set local synchronous_commit = on;
  end if;
  if fences is not null then
    perform 1 from ${schema}.session s
      where s.id in (select jsonb_array_elements_text(fences)) order by s.key for share;
  end if;
  if creates is not null then
    perform pg_advisory_xact_lock(sorted.k) from (
      select distinct ${lockKey(schema, 'c.id')} as k from jsonb_array_elements_text(creates) c (id)
      order by 1 offset 0
    ) sorted;
  end if;
  if runs is not null then
    perform 1 from ${each('runs')} ${session}
      join ${schema}.run r on r.session = s.key and r.id = e.v ->> 1
      order by r.key for update of r;
  end if;
  if logs is not null then
    perform 1 from ${each('logs')} ${session}
      join ${schema}.log l on l.session = s.key and l.name = e.v ->> 1
      order by l.key for update of l;
  end if;
  if documents is not null then
    perform 1 from ${each('documents')} ${session}
      join ${schema}.document d
        on d.session = s.key and d.collection = e.v ->> 1 and d.key = e.v ->> 2
      order by d.session, d.collection, d.key for update of d;
  end if;

  select jsonb_agg(jsonb_build_array(
      coalesce(s.key, nextval('${schema}.row_key')), s.epoch,
      exists (select 1 from ${schema}.node o where o.key = s.owner and o.lease_until > clock_timestamp())
    ) order by e.n) into found_sessions
    from jsonb_array_elements_text(sessions) with ordinality e (id, n)
    left join ${schema}.session s on s.id = e.id;
  if runs is not null then
    select jsonb_agg(case
        when r.key is null then jsonb_build_array(nextval('${schema}.row_key'),
          (select t.purged_at from ${schema}.tombstone t where t.session = s.key and t.run_id = e.v ->> 1))
        else jsonb_build_array(r.key, r.revision, r.status, r.parked, r.stream, r.inbox_read, r.ready,
          r.idempotency_key, j.revision, j.head_revision,
          case when (e.v ->> 2)::boolean then r.record end)
      end order by e.n) into found_runs
      from ${each('runs')}
      left ${session}
      left join ${schema}.run r on r.session = s.key and r.id = e.v ->> 1
      left join lateral (
        select t.revision, t.head_revision from ${schema}.journal t where t.run = r.key
        order by t.revision desc limit 1
      ) j on true;
  end if;
  if streams is not null then
    select jsonb_agg(jsonb_build_array(
        coalesce(t.key, nextval('${schema}.row_key')), t.key is not null,
        (select c.next from ${schema}.chunk c where c.stream = t.key order by c.first desc limit 1),
        t.ended) order by e.n) into found_streams
      from ${each('streams')}
      left ${session}
      left join ${schema}.run r on r.session = s.key and r.id = e.v ->> 1
      left join ${schema}.stream t on t.run = r.key and t.number = (e.v ->> 2)::bigint;
  end if;
  if logs is not null then
    select jsonb_agg(jsonb_build_array(
        coalesce(l.key, nextval('${schema}.row_key')), l.closed,
        (select i.sequence + 1 from ${schema}.log_entry i where i.log = l.key
          order by i.sequence desc limit 1)) order by e.n) into found_logs
      from ${each('logs')}
      left ${session}
      left join ${schema}.log l on l.session = s.key and l.name = e.v ->> 1;
  end if;
  if log_keys is not null then
    select jsonb_agg(i.sequence order by e.n) into found_log_keys
      from ${each('log_keys')}
      left ${session}
      left join ${schema}.log l on l.session = s.key and l.name = e.v ->> 1
      left join ${schema}.log_entry i on i.log = l.key and i.key = e.v ->> 2;
  end if;
  if documents is not null then
    select jsonb_agg(case when d.key is not null then
        jsonb_build_array(d.revision, d.value is not null) end order by e.n) into found_documents
      from ${each('documents')}
      left ${session}
      left join ${schema}.document d
        on d.session = s.key and d.collection = e.v ->> 1 and d.key = e.v ->> 2;
  end if;
  if idempotency_keys is not null then
    select jsonb_agg(case when i.key is not null then
        jsonb_build_array(i.run_id, encode(i.input, 'hex'), i.purged_at) end order by e.n)
      into found_idempotency_keys
      from ${each('idempotency_keys')}
      left ${session}
      left join ${schema}.idempotency i on i.session = s.key and i.key = e.v ->> 1;
  end if;
  if commit_ids is not null then
    select jsonb_agg(case when c.commit_id is not null then
        jsonb_build_array(c.fingerprint, c.receipt) end order by e.n) into found_commit_ids
      from ${each('commit_ids')}
      left ${session}
      left join ${schema}.commit_seen c on c.session = s.key and c.commit_id = e.v ->> 1;
  end if;
  return jsonb_build_object(
    'transaction', pg_current_xact_id()::text, 'started', pg_postmaster_start_time()::text,
    'sessions', found_sessions, 'runs', found_runs, 'streams', found_streams, 'logs', found_logs,
    'logKeys', found_log_keys, 'documents', found_documents,
    'idempotencyKeys', found_idempotency_keys, 'commitIds', found_commit_ids);
end $holdfast$;
`
}

function applyGroup(schema: string): string {
  return `
create function ${schema}.apply_group(
  sessions jsonb default null, runs jsonb default null, run_updates jsonb default null,
  run_ready jsonb default null, idempotency jsonb default null, journal jsonb default null,
  streams jsonb default null, stream_ends jsonb default null, chunks jsonb default null,
  logs jsonb default null, log_closes jsonb default null, log_entries jsonb default null,
  documents jsonb default null, inputs jsonb default null, blobs jsonb default null,
  commits_seen jsonb default null, removals jsonb default null
) returns void language plpgsql volatile as $holdfast$
begin
  if sessions is not null then
    insert into ${schema}.session (key, id, epoch)
      select t.key, t.id, 0 from jsonb_to_recordset(sessions) t (key bigint, id text);
  end if;
  if runs is not null then
    insert into ${schema}.run (key, session, id, revision, status, parked, wake_at, stream,
        inbox_read, ready, definition, parent, input, idempotency_key, record)
      select t.key, t.session, t.id, t.revision, t.status, t.parked, t.wake_at, t.stream,
        t.inbox_read, t.ready, t.definition, t.parent, decode(t.input, 'hex'), t.idempotency_key, t.record
      from jsonb_to_recordset(runs) t (key bigint, session bigint, id text, revision bigint,
        status smallint, parked boolean, wake_at double precision, stream bigint, inbox_read bigint,
        ready boolean, definition text, parent text, input text, idempotency_key text, record text);
    -- A tombstone whose time has come does not stand in the way.
    delete from ${schema}.tombstone d
      using jsonb_to_recordset(runs) t (session bigint, id text)
      where d.session = t.session and d.run_id = t.id;
  end if;
  if run_updates is not null then
    update ${schema}.run r set revision = t.revision, status = t.status, parked = t.parked,
        wake_at = t.wake_at, stream = t.stream, inbox_read = t.inbox_read, ready = t.ready,
        record = t.record
      from jsonb_to_recordset(run_updates) t (key bigint, revision bigint, status smallint,
        parked boolean, wake_at double precision, stream bigint, inbox_read bigint, ready boolean,
        record text)
      where r.key = t.key;
  end if;
  if run_ready is not null then
    update ${schema}.run r set ready = true
      where r.key in (select jsonb_array_elements_text(run_ready)::bigint);
  end if;
  if idempotency is not null then
    insert into ${schema}.idempotency (session, key, run_id, input)
      select t.session, t.key, t.run_id, decode(t.input, 'hex')
      from jsonb_to_recordset(idempotency) t (session bigint, key text, run_id text, input text)
      on conflict (session, key)
      do update set run_id = excluded.run_id, input = excluded.input, purged_at = null;
  end if;
  if journal is not null then
    insert into ${schema}.journal (run, revision, data, head, head_revision)
      select t.run, t.revision, t.data, t.head, t.head_revision
      from jsonb_to_recordset(journal) t (run bigint, revision bigint, data text, head text,
        head_revision bigint);
  end if;
  if streams is not null then
    insert into ${schema}.stream (key, run, number)
      select t.key, t.run, t.number
      from jsonb_to_recordset(streams) t (key bigint, run bigint, number bigint);
  end if;
  if chunks is not null then
    insert into ${schema}.chunk (stream, first, next, data, tags)
      select t.stream, t.first, t.next, t.data, t.tags
      from jsonb_to_recordset(chunks) t (stream bigint, first bigint, next bigint, data text, tags text);
  end if;
  if stream_ends is not null then
    update ${schema}.stream s set ended = t.ended
      from jsonb_to_recordset(stream_ends) t (key bigint, ended smallint) where s.key = t.key;
  end if;
  if logs is not null then
    insert into ${schema}.log (key, session, name, closed)
      select t.key, t.session, t.name, false
      from jsonb_to_recordset(logs) t (key bigint, session bigint, name text);
  end if;
  if log_entries is not null then
    insert into ${schema}.log_entry (log, sequence, key, value)
      select t.log, t.sequence, t.key, t.value
      from jsonb_to_recordset(log_entries) t (log bigint, sequence bigint, key text, value text);
  end if;
  if log_closes is not null then
    update ${schema}.log l set closed = true
      where l.key in (select jsonb_array_elements_text(log_closes)::bigint);
  end if;
  if documents is not null then
    insert into ${schema}.document (session, collection, key, revision, value)
      select t.session, t.collection, t.key, t.revision, t.value
      from jsonb_to_recordset(documents) t (session bigint, collection text, key text,
        revision bigint, value text)
      on conflict (session, collection, key)
      do update set revision = excluded.revision, value = excluded.value;
  end if;
  if inputs is not null then
    insert into ${schema}.input (session, digest, bytes)
      select t.session, decode(t.digest, 'hex'), decode(t.bytes, 'base64')
      from jsonb_to_recordset(inputs) t (session bigint, digest text, bytes text)
      on conflict (session, digest) do nothing;
  end if;
  if blobs is not null then
    insert into ${schema}.blob (run, digest, bytes)
      select t.run, decode(t.digest, 'hex'), decode(t.bytes, 'base64')
      from jsonb_to_recordset(blobs) t (run bigint, digest text, bytes text)
      on conflict (run, digest) do nothing;
  end if;
  if commits_seen is not null then
    insert into ${schema}.commit_seen (session, commit_id, fingerprint, receipt, seen_at)
      select t.session, t.commit_id, t.fingerprint, t.receipt, t.seen_at
      from jsonb_to_recordset(commits_seen) t (session bigint, commit_id text, fingerprint text,
        receipt text, seen_at double precision);
  end if;
  if removals is not null then
    delete from ${schema}.chunk c using ${schema}.stream s,
      jsonb_to_recordset(removals) t (run bigint) where s.run = t.run and c.stream = s.key;
    delete from ${schema}.stream d using jsonb_to_recordset(removals) t (run bigint) where d.run = t.run;
    delete from ${schema}.journal d using jsonb_to_recordset(removals) t (run bigint) where d.run = t.run;
    delete from ${schema}.blob d using jsonb_to_recordset(removals) t (run bigint) where d.run = t.run;
    delete from ${schema}.log_entry d using ${schema}.log l,
      jsonb_to_recordset(removals) t (session bigint, run_id text)
      where l.session = t.session and l.name = 'inbox/' || t.run_id and d.log = l.key;
    delete from ${schema}.log d using jsonb_to_recordset(removals) t (session bigint, run_id text)
      where d.session = t.session and d.name = 'inbox/' || t.run_id;
    delete from ${schema}.run d using jsonb_to_recordset(removals) t (run bigint) where d.key = t.run;
    delete from ${schema}.input d using jsonb_to_recordset(removals) t (session bigint, input text)
      where d.session = t.session and d.digest = decode(t.input, 'hex') and not exists
        (select 1 from ${schema}.run r where r.session = d.session and r.input = d.digest);
    insert into ${schema}.tombstone (session, run_id, purged_at)
      select t.session, t.run_id, t.purged_at
      from jsonb_to_recordset(removals) t (session bigint, run_id text, purged_at double precision)
      on conflict (session, run_id) do update set purged_at = excluded.purged_at;
    update ${schema}.idempotency i set purged_at = t.purged_at
      from jsonb_to_recordset(removals) t (session bigint, idempotency_key text,
        purged_at double precision)
      where i.session = t.session and i.key = t.idempotency_key;
  end if;
end $holdfast$;
`
}

/** Answers with the epoch, or with nothing and the live owner's id; a node without a lease gets neither. */
function claimSession(schema: string): string {
  return `
create function ${schema}.claim_session(session_id text, node_id text, out claimed_epoch bigint, out live_owner text)
language plpgsql volatile as $holdfast$
declare
  node_key bigint;
begin
  if current_setting('synchronous_commit') = 'off' then
    set local synchronous_commit = on;
  end if;
  select n.key into node_key from ${schema}.node n
    where n.id = node_id and n.lease_until > clock_timestamp();
  if node_key is null then
    return;
  end if;
  if not exists (select 1 from ${schema}.session s where s.id = session_id) then
    perform pg_advisory_xact_lock(${lockKey(schema, 'session_id')});
    insert into ${schema}.session (key, id, epoch)
      values (nextval('${schema}.row_key'), session_id, 0) on conflict (id) do nothing;
  end if;
  -- The row's lock comes before the owner's lease is read: a commit in flight is waited for here.
  perform 1 from ${schema}.session s where s.id = session_id for update;
  select o.id into live_owner from ${schema}.session s join ${schema}.node o on o.key = s.owner
    where s.id = session_id and o.key <> node_key and o.lease_until > clock_timestamp();
  if live_owner is null then
    update ${schema}.session s set owner = node_key, epoch = s.epoch + 1
      where s.id = session_id returning s.epoch into claimed_epoch;
  end if;
end $holdfast$;
`
}
