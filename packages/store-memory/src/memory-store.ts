import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { Store } from '@holdfast/core'
import { checkCommit, checkSessionId, createWatchHub, pageLimit } from '@holdfast/core/commit-rules'
import type { MemoryBackend, MemoryNode } from './memory-backend.ts'
import { MemoryReads } from './memory-reads.ts'

/** Opens a store over a database; without a node it is a client. */
export function openMemoryStore(backend: MemoryBackend, node: MemoryNode | undefined): Store {
  const reads = new MemoryReads(backend.tables, () => backend.system.now())
  const hub = createWatchHub()
  backend.hubs.add(hub)
  let state: 'open' | 'closing' | 'closed' = 'open'
  let closing: Promise<void> | undefined

  if (node !== undefined) node.close = closeNow

  return {
    node: node === undefined ? undefined : { id: node.id, lost: node.lost.signal },
    async commit(commit) {
      checkOpen()
      checkCommit(commit)
      return backend.commit(structuredClone(commit), node)
    },
    async run(sessionId, runId) {
      return open().run(sessionId, runId)
    },
    async runs(sessionId, request) {
      return open().runs(sessionId, request)
    },
    async runByIdempotencyKey(sessionId, key) {
      return open().runByIdempotencyKey(sessionId, key)
    },
    async input(sessionId, digest) {
      return open().input(sessionId, digest)
    },
    async blob(sessionId, runId, digest) {
      return open().blob(sessionId, runId, digest)
    },
    async journal(sessionId, runId, request) {
      return open().journal(sessionId, runId, request)
    },
    async streamPage(sessionId, streamId, request) {
      return open().streamPage(sessionId, streamId, request)
    },
    async streamHead(sessionId, streamId) {
      return open().streamHead(sessionId, streamId)
    },
    async logPage(sessionId, log, request) {
      return open().logPage(sessionId, log, request)
    },
    async logEntry(sessionId, log, key) {
      return open().logEntry(sessionId, log, key)
    },
    async document(sessionId, collection, key) {
      return open().document(sessionId, collection, key)
    },
    async documents(sessionId, collection, request) {
      return open().documents(sessionId, collection, request)
    },
    async findWork(now, limit) {
      checkOpen()
      return backend.findWork(now, pageLimit(limit, 1_000))
    },
    async nextWake() {
      checkOpen()
      return backend.nextWake()
    },
    watch(topic, signal) {
      return hub.watch(topic, signal)
    },
    async claimSession(sessionId) {
      checkOpen()
      checkSessionId(sessionId)
      if (node === undefined) {
        throw new HoldfastError(ErrorCode.storeReadOnly, {
          message: 'A client of the store can own no session.',
        })
      }
      return backend.claimSession(sessionId, node)
    },
    async releaseSession(claim) {
      checkOpen()
      if (node !== undefined) await backend.releaseSession(claim, node)
    },
    async close() {
      closing ??= finish()
      await closing
    },
  }

  async function finish(): Promise<void> {
    if (state === 'closed') return
    state = 'closing'
    await backend.settled()
    closeNow()
    if (node !== undefined) backend.endLease(node)
  }

  function closeNow(): void {
    state = 'closed'
    backend.hubs.delete(hub)
    hub.close()
  }

  function checkOpen(): void {
    if (state === 'open') return
    throw new HoldfastError(ErrorCode.storeClosed, { message: 'The store is closed.' })
  }

  function open(): MemoryReads {
    checkOpen()
    return reads
  }
}
