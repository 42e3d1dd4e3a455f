// #region store
import { sessionIdFor } from '@holdfast/core'
import { createMemoryStore } from '@holdfast/store-memory'

const store = createMemoryStore()
const sessionId = sessionIdFor('ann')
const where = { collection: 'drafts', key: 'letter' }
await store.commit({
  sessionId,
  writes: [{ kind: 'document-put', ...where, expectedRevision: 0, value: '"low tide at noon"' }],
})
export const draft = await store.document(sessionId, where.collection, where.key)
await store.close()
// #endregion store
