// #region store
import { sessionIdFor } from '@holdfast/core'
import { openPostgresStore } from '@holdfast/store-postgres'

const sessionId = sessionIdFor('ann')

/** How often this was called, in whatever process: flushed by the server before it is told. */
export async function countCall(connectionString: string): Promise<number> {
  const store = await openPostgresStore({ connectionString, mode: 'client', unavailableMs: 1_000 })
  const counted = await store.document(sessionId, 'counters', 'calls')
  const calls = Number(counted?.value ?? 0) + 1
  const put = { kind: 'document-put', collection: 'counters', key: 'calls' } as const
  const expectedRevision = counted?.revision ?? 0
  await store.commit({ sessionId, writes: [{ ...put, expectedRevision, value: `${calls}` }] })
  await store.close()
  return calls
}
// #endregion store
