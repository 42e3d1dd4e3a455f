// What became of a transaction whose connection was lost, asked for on another one.
import type { Commit, Receipt } from '@holdfast/core'
import { commitIdAt } from '@holdfast/core/commit-rules'
import { numberOf, textOf } from './columns.ts'
import type { Database } from './database.ts'
import { receiptOf } from './group-view.ts'
import type { TransactionMark } from './group-view.ts'
import { sqlStateOf } from './postgres-error.ts'
import { sql } from './sql-text.ts'

/** What became of a transaction. */
export type TransactionOutcome = 'committed' | 'rolled back' | 'unknown'

/** The server's answer for a transaction number that it has not given out: after a failover. */
const notGivenOut = '22023'

/**
 * Asks the server. That a transaction was rolled back is believed of any server: it is not there. That
 * it was committed is believed only of the server that began it, without a restart since: another
 * one may have given the number to somebody else.
 */
export async function outcomeOf(
  database: Database,
  mark: TransactionMark,
): Promise<TransactionOutcome> {
  let waited = 0
  for (let count = 0; ; count += 1) {
    try {
      const [row] = await database.run(
        'control',
        sql`select pg_xact_status(${mark.id}::xid8) as status,
          pg_postmaster_start_time()::text = ${mark.serverStarted} as same`,
      )
      switch (row?.['status']) {
        case 'committed':
          return row['same'] === true ? 'committed' : 'unknown'
        case 'aborted':
          return 'rolled back'
        case 'in progress':
          break
        default:
          return 'unknown'
      }
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined
      return sqlStateOf(cause) === notGivenOut ? 'rolled back' : 'unknown'
    }
    // Its server process has not noticed yet that nobody is there any more.
    if (waited >= database.settings.unavailableMs) return 'unknown'
    waited += await database.pause(count)
  }
}

/** The receipts of those of these commits that were written under their ids, by their place in a view. */
export async function seenCommits(
  database: Database,
  commits: readonly Commit[],
): Promise<ReadonlyMap<string, Receipt>> {
  const named = commits.flatMap(({ sessionId, commitId }) =>
    commitId === undefined ? [] : [[sessionId, commitId] as const],
  )
  const seen = new Map<string, Receipt>()
  if (named.length === 0) return seen
  const rows = await database.run(
    'control',
    sql`select e.n as n, c.receipt as receipt
      from jsonb_array_elements(${JSON.stringify(named)}::jsonb) with ordinality e (v, n)
      join ${database.schema}.session s on s.id = e.v ->> 0
      join ${database.schema}.commit_seen c on c.session = s.key and c.commit_id = e.v ->> 1`,
  )
  for (const row of rows) {
    const place = named[numberOf(row['n']) - 1]
    if (place !== undefined) seen.set(commitIdAt(...place), receiptOf(textOf(row['receipt'])))
  }
  return seen
}
