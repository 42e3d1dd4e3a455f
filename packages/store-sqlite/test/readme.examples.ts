// #region store
import { sessionIdFor } from '@holdfast/core'
import { openSqliteStore } from '@holdfast/store-sqlite'

const sessionId = sessionIdFor('ann')

/** How often this was called with this file: synced to the disk before it is told. */
export async function countCall(path: string): Promise<number> {
  const store = await openSqliteStore({ path })
  const counted = await store.document(sessionId, 'counters', 'calls')
  const calls = Number(counted?.value ?? 0) + 1
  const put = { kind: 'document-put', collection: 'counters', key: 'calls' } as const
  const expectedRevision = counted?.revision ?? 0
  await store.commit({ sessionId, writes: [{ ...put, expectedRevision, value: `${calls}` }] })
  await store.close()
  return calls
}
// #endregion store
