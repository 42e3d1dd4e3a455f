create schema "golden";
create table "golden".version (singular boolean primary key default true check (singular), application text not null, version int not null);

create table "golden".node (
  key bigint generated always as identity primary key,
  id text collate "C" not null unique,
  lease_until timestamptz not null
);

-- One sequence for the keys of session, run, stream and log, drawn before a row is judged.
create sequence "golden".row_key;

create table "golden".session (
  key bigint primary key,
  id text collate "C" not null unique,
  owner bigint,
  epoch bigint not null
);
create index session_owner on "golden".session (owner) where owner is not null;

create table "golden".run (
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
create unique index run_id on "golden".run (session, id);
create index run_ready on "golden".run (session) where ready;
create index run_wake on "golden".run (wake_at) where wake_at is not null;
create index run_active on "golden".run (session, id) where status < 3;
create index run_parent on "golden".run (session, parent, id) where parent is not null;
create index run_input on "golden".run (session, input);

create table "golden".idempotency (
  session bigint not null,
  key text collate "C" not null,
  run_id text collate "C" not null,
  input bytea not null,
  purged_at double precision,
  primary key (session, key)
);
create index idempotency_time on "golden".idempotency (purged_at) where purged_at is not null;
create table "golden".tombstone (
  session bigint not null,
  run_id text collate "C" not null,
  purged_at double precision not null,
  primary key (session, run_id)
);
create index tombstone_time on "golden".tombstone (purged_at);

create table "golden".journal (
  run bigint not null,
  revision bigint not null,
  data text not null,
  -- This revision's head, if it has one; then head_revision is its own.
  head text,
  -- The newest revision that has a head, as of this one.
  head_revision bigint,
  primary key (run, revision)
);

create table "golden".stream (
  key bigint primary key,
  run bigint not null,
  number bigint not null,
  ended smallint,
  unique (run, number)
);
-- One row an append, or a piece of one: chunks first .. next - 1.
create table "golden".chunk (
  stream bigint not null,
  first bigint not null,
  next bigint not null,
  data text not null,
  tags text,
  primary key (stream, first)
);

create table "golden".log (
  key bigint primary key,
  session bigint not null,
  name text collate "C" not null,
  closed boolean not null,
  unique (session, name)
);
create table "golden".log_entry (
  log bigint not null,
  sequence bigint not null,
  key text collate "C" not null,
  value text not null,
  primary key (log, sequence),
  unique (log, key)
);

create table "golden".document (
  session bigint not null,
  collection text collate "C" not null,
  key text collate "C" not null,
  revision bigint not null,
  -- Null: deleted; the revision stays, so that it never returns.
  value text,
  primary key (session, collection, key)
);

create table "golden".input (
  session bigint not null,
  digest bytea not null,
  bytes bytea not null,
  primary key (session, digest)
);
create table "golden".blob (
  run bigint not null,
  digest bytea not null,
  bytes bytea not null,
  primary key (run, digest)
);

create table "golden".commit_seen (
  session bigint not null,
  commit_id text collate "C" not null,
  fingerprint text not null,
  receipt text not null,
  seen_at double precision not null,
  primary key (session, commit_id)
);
create index commit_seen_time on "golden".commit_seen (seen_at);

create function "golden".begin_group(
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
    perform 1 from "golden".session s
      where s.id in (select jsonb_array_elements_text(fences)) order by s.key for share;
  end if;
  if creates is not null then
    perform pg_advisory_xact_lock(sorted.k) from (
      select distinct hashtextextended(c.id, ('"golden".session'::regclass)::oid::bigint) as k from jsonb_array_elements_text(creates) c (id)
      order by 1 offset 0
    ) sorted;
  end if;
  if runs is not null then
    perform 1 from jsonb_array_elements(runs) with ordinality e (v, n) join "golden".session s on s.id = e.v ->> 0
      join "golden".run r on r.session = s.key and r.id = e.v ->> 1
      order by r.key for update of r;
  end if;
  if logs is not null then
    perform 1 from jsonb_array_elements(logs) with ordinality e (v, n) join "golden".session s on s.id = e.v ->> 0
      join "golden".log l on l.session = s.key and l.name = e.v ->> 1
      order by l.key for update of l;
  end if;
  if documents is not null then
    perform 1 from jsonb_array_elements(documents) with ordinality e (v, n) join "golden".session s on s.id = e.v ->> 0
      join "golden".document d
        on d.session = s.key and d.collection = e.v ->> 1 and d.key = e.v ->> 2
      order by d.session, d.collection, d.key for update of d;
  end if;

  select jsonb_agg(jsonb_build_array(
      coalesce(s.key, nextval('"golden".row_key')), s.epoch,
      exists (select 1 from "golden".node o where o.key = s.owner and o.lease_until > clock_timestamp())
    ) order by e.n) into found_sessions
    from jsonb_array_elements_text(sessions) with ordinality e (id, n)
    left join "golden".session s on s.id = e.id;
  if runs is not null then
    select jsonb_agg(case
        when r.key is null then jsonb_build_array(nextval('"golden".row_key'),
          (select t.purged_at from "golden".tombstone t where t.session = s.key and t.run_id = e.v ->> 1))
        else jsonb_build_array(r.key, r.revision, r.status, r.parked, r.stream, r.inbox_read, r.ready,
          r.idempotency_key, j.revision, j.head_revision,
          case when (e.v ->> 2)::boolean then r.record end)
      end order by e.n) into found_runs
      from jsonb_array_elements(runs) with ordinality e (v, n)
      left join "golden".session s on s.id = e.v ->> 0
      left join "golden".run r on r.session = s.key and r.id = e.v ->> 1
      left join lateral (
        select t.revision, t.head_revision from "golden".journal t where t.run = r.key
        order by t.revision desc limit 1
      ) j on true;
  end if;
  if streams is not null then
    select jsonb_agg(jsonb_build_array(
        coalesce(t.key, nextval('"golden".row_key')), t.key is not null,
        (select c.next from "golden".chunk c where c.stream = t.key order by c.first desc limit 1),
        t.ended) order by e.n) into found_streams
      from jsonb_array_elements(streams) with ordinality e (v, n)
      left join "golden".session s on s.id = e.v ->> 0
      left join "golden".run r on r.session = s.key and r.id = e.v ->> 1
      left join "golden".stream t on t.run = r.key and t.number = (e.v ->> 2)::bigint;
  end if;
  if logs is not null then
    select jsonb_agg(jsonb_build_array(
        coalesce(l.key, nextval('"golden".row_key')), l.closed,
        (select i.sequence + 1 from "golden".log_entry i where i.log = l.key
          order by i.sequence desc limit 1)) order by e.n) into found_logs
      from jsonb_array_elements(logs) with ordinality e (v, n)
      left join "golden".session s on s.id = e.v ->> 0
      left join "golden".log l on l.session = s.key and l.name = e.v ->> 1;
  end if;
  if log_keys is not null then
    select jsonb_agg(i.sequence order by e.n) into found_log_keys
      from jsonb_array_elements(log_keys) with ordinality e (v, n)
      left join "golden".session s on s.id = e.v ->> 0
      left join "golden".log l on l.session = s.key and l.name = e.v ->> 1
      left join "golden".log_entry i on i.log = l.key and i.key = e.v ->> 2;
  end if;
  if documents is not null then
    select jsonb_agg(case when d.key is not null then
        jsonb_build_array(d.revision, d.value is not null) end order by e.n) into found_documents
      from jsonb_array_elements(documents) with ordinality e (v, n)
      left join "golden".session s on s.id = e.v ->> 0
      left join "golden".document d
        on d.session = s.key and d.collection = e.v ->> 1 and d.key = e.v ->> 2;
  end if;
  if idempotency_keys is not null then
    select jsonb_agg(case when i.key is not null then
        jsonb_build_array(i.run_id, encode(i.input, 'hex'), i.purged_at) end order by e.n)
      into found_idempotency_keys
      from jsonb_array_elements(idempotency_keys) with ordinality e (v, n)
      left join "golden".session s on s.id = e.v ->> 0
      left join "golden".idempotency i on i.session = s.key and i.key = e.v ->> 1;
  end if;
  if commit_ids is not null then
    select jsonb_agg(case when c.commit_id is not null then
        jsonb_build_array(c.fingerprint, c.receipt) end order by e.n) into found_commit_ids
      from jsonb_array_elements(commit_ids) with ordinality e (v, n)
      left join "golden".session s on s.id = e.v ->> 0
      left join "golden".commit_seen c on c.session = s.key and c.commit_id = e.v ->> 1;
  end if;
  return jsonb_build_object(
    'transaction', pg_current_xact_id()::text, 'started', pg_postmaster_start_time()::text,
    'sessions', found_sessions, 'runs', found_runs, 'streams', found_streams, 'logs', found_logs,
    'logKeys', found_log_keys, 'documents', found_documents,
    'idempotencyKeys', found_idempotency_keys, 'commitIds', found_commit_ids);
end $holdfast$;

create function "golden".apply_group(
  sessions jsonb default null, runs jsonb default null, run_updates jsonb default null,
  run_ready jsonb default null, idempotency jsonb default null, journal jsonb default null,
  streams jsonb default null, stream_ends jsonb default null, chunks jsonb default null,
  logs jsonb default null, log_closes jsonb default null, log_entries jsonb default null,
  documents jsonb default null, inputs jsonb default null, blobs jsonb default null,
  commits_seen jsonb default null, removals jsonb default null
) returns void language plpgsql volatile as $holdfast$
begin
  if sessions is not null then
    insert into "golden".session (key, id, epoch)
      select t.key, t.id, 0 from jsonb_to_recordset(sessions) t (key bigint, id text);
  end if;
  if runs is not null then
    insert into "golden".run (key, session, id, revision, status, parked, wake_at, stream,
        inbox_read, ready, definition, parent, input, idempotency_key, record)
      select t.key, t.session, t.id, t.revision, t.status, t.parked, t.wake_at, t.stream,
        t.inbox_read, t.ready, t.definition, t.parent, decode(t.input, 'hex'), t.idempotency_key, t.record
      from jsonb_to_recordset(runs) t (key bigint, session bigint, id text, revision bigint,
        status smallint, parked boolean, wake_at double precision, stream bigint, inbox_read bigint,
        ready boolean, definition text, parent text, input text, idempotency_key text, record text);
    -- A tombstone whose time has come does not stand in the way.
    delete from "golden".tombstone d
      using jsonb_to_recordset(runs) t (session bigint, id text)
      where d.session = t.session and d.run_id = t.id;
  end if;
  if run_updates is not null then
    update "golden".run r set revision = t.revision, status = t.status, parked = t.parked,
        wake_at = t.wake_at, stream = t.stream, inbox_read = t.inbox_read, ready = t.ready,
        record = t.record
      from jsonb_to_recordset(run_updates) t (key bigint, revision bigint, status smallint,
        parked boolean, wake_at double precision, stream bigint, inbox_read bigint, ready boolean,
        record text)
      where r.key = t.key;
  end if;
  if run_ready is not null then
    update "golden".run r set ready = true
      where r.key in (select jsonb_array_elements_text(run_ready)::bigint);
  end if;
  if idempotency is not null then
    insert into "golden".idempotency (session, key, run_id, input)
      select t.session, t.key, t.run_id, decode(t.input, 'hex')
      from jsonb_to_recordset(idempotency) t (session bigint, key text, run_id text, input text)
      on conflict (session, key)
      do update set run_id = excluded.run_id, input = excluded.input, purged_at = null;
  end if;
  if journal is not null then
    insert into "golden".journal (run, revision, data, head, head_revision)
      select t.run, t.revision, t.data, t.head, t.head_revision
      from jsonb_to_recordset(journal) t (run bigint, revision bigint, data text, head text,
        head_revision bigint);
  end if;
  if streams is not null then
    insert into "golden".stream (key, run, number)
      select t.key, t.run, t.number
      from jsonb_to_recordset(streams) t (key bigint, run bigint, number bigint);
  end if;
  if chunks is not null then
    insert into "golden".chunk (stream, first, next, data, tags)
      select t.stream, t.first, t.next, t.data, t.tags
      from jsonb_to_recordset(chunks) t (stream bigint, first bigint, next bigint, data text, tags text);
  end if;
  if stream_ends is not null then
    update "golden".stream s set ended = t.ended
      from jsonb_to_recordset(stream_ends) t (key bigint, ended smallint) where s.key = t.key;
  end if;
  if logs is not null then
    insert into "golden".log (key, session, name, closed)
      select t.key, t.session, t.name, false
      from jsonb_to_recordset(logs) t (key bigint, session bigint, name text);
  end if;
  if log_entries is not null then
    insert into "golden".log_entry (log, sequence, key, value)
      select t.log, t.sequence, t.key, t.value
      from jsonb_to_recordset(log_entries) t (log bigint, sequence bigint, key text, value text);
  end if;
  if log_closes is not null then
    update "golden".log l set closed = true
      where l.key in (select jsonb_array_elements_text(log_closes)::bigint);
  end if;
  if documents is not null then
    insert into "golden".document (session, collection, key, revision, value)
      select t.session, t.collection, t.key, t.revision, t.value
      from jsonb_to_recordset(documents) t (session bigint, collection text, key text,
        revision bigint, value text)
      on conflict (session, collection, key)
      do update set revision = excluded.revision, value = excluded.value;
  end if;
  if inputs is not null then
    insert into "golden".input (session, digest, bytes)
      select t.session, decode(t.digest, 'hex'), decode(t.bytes, 'base64')
      from jsonb_to_recordset(inputs) t (session bigint, digest text, bytes text)
      on conflict (session, digest) do nothing;
  end if;
  if blobs is not null then
    insert into "golden".blob (run, digest, bytes)
      select t.run, decode(t.digest, 'hex'), decode(t.bytes, 'base64')
      from jsonb_to_recordset(blobs) t (run bigint, digest text, bytes text)
      on conflict (run, digest) do nothing;
  end if;
  if commits_seen is not null then
    insert into "golden".commit_seen (session, commit_id, fingerprint, receipt, seen_at)
      select t.session, t.commit_id, t.fingerprint, t.receipt, t.seen_at
      from jsonb_to_recordset(commits_seen) t (session bigint, commit_id text, fingerprint text,
        receipt text, seen_at double precision);
  end if;
  if removals is not null then
    delete from "golden".chunk c using "golden".stream s,
      jsonb_to_recordset(removals) t (run bigint) where s.run = t.run and c.stream = s.key;
    delete from "golden".stream d using jsonb_to_recordset(removals) t (run bigint) where d.run = t.run;
    delete from "golden".journal d using jsonb_to_recordset(removals) t (run bigint) where d.run = t.run;
    delete from "golden".blob d using jsonb_to_recordset(removals) t (run bigint) where d.run = t.run;
    delete from "golden".log_entry d using "golden".log l,
      jsonb_to_recordset(removals) t (session bigint, run_id text)
      where l.session = t.session and l.name = 'inbox/' || t.run_id and d.log = l.key;
    delete from "golden".log d using jsonb_to_recordset(removals) t (session bigint, run_id text)
      where d.session = t.session and d.name = 'inbox/' || t.run_id;
    delete from "golden".run d using jsonb_to_recordset(removals) t (run bigint) where d.key = t.run;
    delete from "golden".input d using jsonb_to_recordset(removals) t (session bigint, input text)
      where d.session = t.session and d.digest = decode(t.input, 'hex') and not exists
        (select 1 from "golden".run r where r.session = d.session and r.input = d.digest);
    insert into "golden".tombstone (session, run_id, purged_at)
      select t.session, t.run_id, t.purged_at
      from jsonb_to_recordset(removals) t (session bigint, run_id text, purged_at double precision)
      on conflict (session, run_id) do update set purged_at = excluded.purged_at;
    update "golden".idempotency i set purged_at = t.purged_at
      from jsonb_to_recordset(removals) t (session bigint, idempotency_key text,
        purged_at double precision)
      where i.session = t.session and i.key = t.idempotency_key;
  end if;
end $holdfast$;

create function "golden".claim_session(session_id text, node_id text, out claimed_epoch bigint, out live_owner text)
language plpgsql volatile as $holdfast$
declare
  node_key bigint;
begin
  if current_setting('synchronous_commit') = 'off' then
    set local synchronous_commit = on;
  end if;
  select n.key into node_key from "golden".node n
    where n.id = node_id and n.lease_until > clock_timestamp();
  if node_key is null then
    return;
  end if;
  if not exists (select 1 from "golden".session s where s.id = session_id) then
    perform pg_advisory_xact_lock(hashtextextended(session_id, ('"golden".session'::regclass)::oid::bigint));
    insert into "golden".session (key, id, epoch)
      values (nextval('"golden".row_key'), session_id, 0) on conflict (id) do nothing;
  end if;
  -- The row's lock comes before the owner's lease is read: a commit in flight is waited for here.
  perform 1 from "golden".session s where s.id = session_id for update;
  select o.id into live_owner from "golden".session s join "golden".node o on o.key = s.owner
    where s.id = session_id and o.key <> node_key and o.lease_until > clock_timestamp();
  if live_owner is null then
    update "golden".session s set owner = node_key, epoch = s.epoch + 1
      where s.id = session_id returning s.epoch into claimed_epoch;
  end if;
end $holdfast$;

insert into "golden"."blob" select * from json_populate_record(null::"golden"."blob", E'{"run":2,"digest":"\\\\xabababababababababababababababababababababababababababababababab","bytes":"\\\\x0001feff"}');
insert into "golden"."chunk" select * from json_populate_record(null::"golden"."chunk", E'{"stream":3,"first":0,"next":2,"data":"{\\"a\\":1}\\n\\"line\\\\n\\"","tags":"\\u0001[\\"t\\",null]"}');
insert into "golden"."chunk" select * from json_populate_record(null::"golden"."chunk", E'{"stream":3,"first":2,"next":3,"data":"\\u0001[\\"[\\\\n3]\\"]","tags":null}');
insert into "golden"."commit_seen" select * from json_populate_record(null::"golden"."commit_seen", E'{"session":1,"commit_id":"a name","fingerprint":"ac0eca1f184689c3","receipt":"{\\"results\\":[{\\"kind\\":\\"log-appended\\",\\"sequence\\":0}]}","seen_at":1700000000000}');
insert into "golden"."document" select * from json_populate_record(null::"golden"."document", '{"session":1,"collection":"c","key":"gone","revision":2,"value":null}');
insert into "golden"."document" select * from json_populate_record(null::"golden"."document", '{"session":1,"collection":"c","key":"k","revision":1,"value":"{}"}');
insert into "golden"."idempotency" select * from json_populate_record(null::"golden"."idempotency", E'{"session":1,"key":"gone","run_id":"0190a1b2-0000-7000-8000-0000000000b2","input":"\\\\xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","purged_at":1700000000000}');
insert into "golden"."idempotency" select * from json_populate_record(null::"golden"."idempotency", E'{"session":1,"key":"key","run_id":"0190a1b2-0000-7000-8000-0000000000b1","input":"\\\\xabababababababababababababababababababababababababababababababab","purged_at":null}');
insert into "golden"."input" select * from json_populate_record(null::"golden"."input", E'{"session":1,"digest":"\\\\xabababababababababababababababababababababababababababababababab","bytes":"\\\\x0001feff"}');
insert into "golden"."journal" select * from json_populate_record(null::"golden"."journal", E'{"run":2,"revision":0,"data":"[\\"seed\\"]","head":null,"head_revision":null}');
insert into "golden"."journal" select * from json_populate_record(null::"golden"."journal", E'{"run":2,"revision":1,"data":"[1]","head":"{\\"step\\":1}","head_revision":1}');
insert into "golden"."journal" select * from json_populate_record(null::"golden"."journal", '{"run":2,"revision":2,"data":"[2]","head":null,"head_revision":1}');
insert into "golden"."log" select * from json_populate_record(null::"golden"."log", '{"key":5,"session":1,"name":"closed","closed":true}');
insert into "golden"."log" select * from json_populate_record(null::"golden"."log", '{"key":6,"session":1,"name":"inbox/0190a1b2-0000-7000-8000-0000000000b1","closed":false}');
insert into "golden"."log_entry" select * from json_populate_record(null::"golden"."log_entry", '{"log":5,"sequence":0,"key":"k","value":"v"}');
insert into "golden"."log_entry" select * from json_populate_record(null::"golden"."log_entry", E'{"log":6,"sequence":0,"key":"message/1","value":"\\"ü\\""}');
insert into "golden"."run" select * from json_populate_record(null::"golden"."run", E'{"key":2,"session":1,"id":"0190a1b2-0000-7000-8000-0000000000b1","revision":1,"status":1,"parked":true,"wake_at":1700000000000.5,"stream":0,"inbox_read":0,"ready":true,"definition":"flow","parent":null,"input":"\\\\xabababababababababababababababababababababababababababababababab","idempotency_key":"key","record":"{\\"version\\":1,\\"id\\":\\"0190a1b2-0000-7000-8000-0000000000b1\\",\\"sessionId\\":\\"0190a1b2-0000-7000-8000-0000000000a1\\",\\"definition\\":{\\"name\\":\\"flow\\",\\"version\\":\\"v1\\",\\"digest\\":\\"d\\"},\\"input\\":{\\"digest\\":\\"abababababababababababababababababababababababababababababababab\\",\\"size\\":4},\\"artifactNamespace\\":{\\"sessionId\\":\\"0190a1b2-0000-7000-8000-0000000000a1\\",\\"runId\\":\\"0190a1b2-0000-7000-8000-0000000000b1\\"},\\"status\\":\\"running\\",\\"parked\\":true,\\"interrupts\\":[],\\"artifacts\\":[],\\"stream\\":0,\\"inboxReadThrough\\":0,\\"recoveries\\":0,\\"createdAt\\":1,\\"updatedAt\\":1,\\"wakeAt\\":1700000000000.5}"}');
insert into "golden"."session" select * from json_populate_record(null::"golden"."session", '{"key":1,"id":"0190a1b2-0000-7000-8000-0000000000a1","owner":null,"epoch":1}');
insert into "golden"."stream" select * from json_populate_record(null::"golden"."stream", '{"key":3,"run":2,"number":1,"ended":1}');
insert into "golden"."tombstone" select * from json_populate_record(null::"golden"."tombstone", '{"session":1,"run_id":"0190a1b2-0000-7000-8000-0000000000b2","purged_at":1700000000000}');
insert into "golden"."version" select * from json_populate_record(null::"golden"."version", '{"singular":true,"application":"holdfast","version":1}');
select setval('"golden".row_key', 1000);
