import type { SessionId } from '@holdfast/core'
import { pageLimit } from '@holdfast/core/commit-rules'
import { optionalNumber, textOf } from './columns.ts'
import type { Database } from './database.ts'
import { sql } from './sql-text.ts'

/** Sessions without a live owner that have work by this time, at most so many. */
export async function findWork(
  database: Database,
  now: number,
  limit: number,
): Promise<readonly SessionId[]> {
  const { schema } = database
  const most = pageLimit(limit, 1_000)
  // A time is anything a caller's clock says; what is no number finds what is ready alone.
  const due = Number.isFinite(now) ? sql`wake_at <= ${now}` : sql`${now > 0}`
  const rows = await database.read(
    sql`select s.id as id from ${schema}.session s
      where s.key in (select session from ${schema}.run where ready
          union all select session from ${schema}.run where wake_at is not null and ${due})
        and not exists (select 1 from ${schema}.node o
          where o.key = s.owner and o.lease_until > clock_timestamp())
      limit ${most}`,
  )
  return rows.map((row) => textOf(row['id']))
}

/** The earliest time of waking in a session without a live owner. */
export async function nextWake(database: Database): Promise<number | undefined> {
  const { schema } = database
  const [row] = await database.read(
    sql`select r.wake_at as wake_at from ${schema}.run r join ${schema}.session s on s.key = r.session
      where r.wake_at is not null and not exists (select 1 from ${schema}.node o
        where o.key = s.owner and o.lease_until > clock_timestamp())
      order by r.wake_at limit 1`,
  )
  return optionalNumber(row?.['wake_at'])
}
