import { sql } from './sql-text.ts'
import type { Database } from './database.ts'

/** How long a commit id is remembered: far longer than any caller goes on repeating one. Milliseconds. */
const commitIdMs = 60 * 60 * 1_000

/** How long after its lease a node's row is kept: its sessions may be taken meanwhile. */
const nodeAge = '1 hour'

/** How many rows of a kind one sweep removes. */
const sweepRows = 2_000

/** Removes what was kept for a time only, a little at a time. */
export async function sweep(database: Database): Promise<void> {
  const { schema, settings } = database
  const now = settings.system.now()
  const tombstonesUntil = now - settings.tombstoneMs
  await database.run(
    'control',
    sql`delete from ${schema}.tombstone where (session, run_id) in (select session, run_id
          from ${schema}.tombstone where purged_at < ${tombstonesUntil} limit ${sweepRows});
      delete from ${schema}.idempotency where (session, key) in (select session, key
          from ${schema}.idempotency where purged_at < ${tombstonesUntil} limit ${sweepRows});
      delete from ${schema}.commit_seen where (session, commit_id) in (select session, commit_id
          from ${schema}.commit_seen where seen_at < ${now - commitIdMs} limit ${sweepRows});
      with gone as (delete from ${schema}.node
          where lease_until < clock_timestamp() - ${nodeAge}::interval returning key)
        update ${schema}.session set owner = null where owner in (select key from gone)`,
  )
}
