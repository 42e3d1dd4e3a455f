import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { SessionClaim, SessionId } from '@holdfast/core'
import { optionalNumber, optionalText } from './columns.ts'
import type { Database } from './database.ts'
import type { NodeLease } from './node-lease.ts'
import { sql } from './sql-text.ts'

/** Takes a session. @throws `store_owned`, `store_unavailable` for a node whose lease is lost */
export async function claimSession(
  database: Database,
  lease: NodeLease,
  sessionId: SessionId,
): Promise<SessionClaim> {
  const [row] = lease.lost.signal.aborted
    ? []
    : await database.run(
        'group',
        sql`select * from ${database.schema}.claim_session(${sessionId}, ${lease.id})`,
      )
  const owner = optionalText(row?.['live_owner'])
  if (owner !== undefined) {
    throw new HoldfastError(ErrorCode.storeOwned, {
      message: `Session ${sessionId} is owned by node ${owner}.`,
      details: { session_id: sessionId, node: owner },
    })
  }
  const epoch = optionalNumber(row?.['claimed_epoch'])
  if (epoch === undefined) {
    throw new HoldfastError(ErrorCode.storeUnavailable, {
      message: `Node ${lease.id} has lost its lease and can own nothing.`,
    })
  }
  return { sessionId, epoch }
}

/** Lets go of a session. Answers whether this claim still held it. */
export async function releaseSession(
  database: Database,
  lease: NodeLease,
  claim: SessionClaim,
): Promise<boolean> {
  const rows = await database.run(
    'group',
    sql`update ${database.schema}.session set owner = null
      where id = ${claim.sessionId} and epoch = ${claim.epoch}
        and owner = (select key from ${database.schema}.node where id = ${lease.id})
      returning key`,
  )
  return rows.length > 0
}
