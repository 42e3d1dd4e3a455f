// What watched topics look like in the database: two reads of one topic that differ say that it changed.
import { parseStreamId } from '@holdfast/core'
import type { WatchTopic } from '@holdfast/core'
import { topicKey } from '@holdfast/core/commit-rules'
import { numberOf, textOf } from './columns.ts'
import type { Database } from './database.ts'
import { sql } from './sql-text.ts'

/** The most topics of one question. */
const topicsAtOnce = 1_000

/** What one look at the database tells. */
export interface DatabaseMark {
  /** Differs whenever any transaction of the server has become visible. */
  readonly snapshot: string
  /** Nodes whose lease has run out while they still own sessions. */
  readonly expired: string
}

/** Looks whether anything can have changed at all. */
export async function databaseMark(database: Database): Promise<DatabaseMark> {
  const { schema } = database
  const [row] = await database.run(
    'control',
    sql`select pg_current_snapshot()::text as snapshot, coalesce((select string_agg(n.key::text, ',' order by n.key)
        from ${schema}.node n where n.lease_until <= clock_timestamp()
          and exists (select 1 from ${schema}.session s where s.owner = n.key)), '') as expired`,
  )
  return { snapshot: textOf(row?.['snapshot']), expired: textOf(row?.['expired']) }
}

/**
 * The states of topics, by key. A topic that is absent in the answer is one that only a read can
 * tell of: `work`, and `runs`.
 */
export async function topicStates(
  database: Database,
  topics: readonly WatchTopic[],
): Promise<ReadonlyMap<string, string>> {
  const states = new Map<string, string>()
  for (let from = 0; from < topics.length; from += topicsAtOnce) {
    const part = topics.slice(from, from + topicsAtOnce)
    const [runs, streams, logs] = await database.readAll(statementFor(database, part))
    for (const row of [...(runs ?? []), ...(streams ?? []), ...(logs ?? [])]) {
      const topic = part[numberOf(row['n'])]
      if (topic !== undefined) states.set(topicKey(topic), textOf(row['state']))
    }
  }
  return states
}

function statementFor({ schema }: Database, topics: readonly WatchTopic[]): ReturnType<typeof sql> {
  const runs: unknown[] = []
  const streams: unknown[] = []
  const logs: unknown[] = []
  for (const [n, topic] of topics.entries()) {
    switch (topic.kind) {
      case 'work':
      case 'runs':
        break
      case 'run':
        runs.push({ n, session: topic.sessionId, run: topic.runId })
        break
      case 'stream': {
        const parsed = parseStreamId(topic.streamId)
        if (parsed === undefined) break
        streams.push({ n, session: topic.sessionId, run: parsed.runId, number: parsed.number })
        break
      }
      case 'log':
        logs.push({ n, session: topic.sessionId, log: topic.log })
        break
    }
  }
  return sql`
    select t.n as n, concat_ws(' ', r.key, r.revision,
        (select max(j.revision) from ${schema}.journal j where j.run = r.key),
        (select 'inbox ' || max(e.sequence) from ${schema}.log_entry e where e.log = g.key)) as state
      from jsonb_to_recordset(${JSON.stringify(runs)}) t (n int, session text, run text)
      left join ${schema}.session s on s.id = t.session
      left join ${schema}.run r on r.session = s.key and r.id = t.run
      left join ${schema}.log g on g.session = s.key and g.name = 'inbox/' || t.run;
    select t.n as n, concat_ws(' ', x.key, x.ended,
        (select 'next ' || c.next from ${schema}.chunk c where c.stream = x.key
          order by c.first desc limit 1)) as state
      from jsonb_to_recordset(${JSON.stringify(streams)})
        t (n int, session text, run text, number bigint)
      left join ${schema}.session s on s.id = t.session
      left join ${schema}.run r on r.session = s.key and r.id = t.run
      left join ${schema}.stream x on x.run = r.key and x.number = t.number;
    select t.n as n, concat_ws(' ', l.key, l.closed,
        (select max(e.sequence) from ${schema}.log_entry e where e.log = l.key)) as state
      from jsonb_to_recordset(${JSON.stringify(logs)}) t (n int, session text, log text)
      left join ${schema}.session s on s.id = t.session
      left join ${schema}.log l on l.session = s.key and l.name = t.log`
}
