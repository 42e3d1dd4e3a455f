import type { ConflictFacts, ConflictReason, OpenInterrupt, StoreWrite } from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { describe, expect, it } from 'vitest'
import { digest, expectConflict, runRecord, sharedDatabase } from './store-fixture.ts'
import type { SessionFixture } from './store-fixture.ts'
import type { StoreTarget } from './store-target.ts'

/** What is refused, after what it takes to be, and what the conflict tells beside its reason. */
interface Provoked {
  readonly write: StoreWrite
  readonly facts?: Omit<ConflictFacts, 'reason' | 'write'>
}

const interrupt: OpenInterrupt = {
  id: 'interrupt-1',
  key: 'approve',
  revision: 1,
  answer: 'person',
  openedAt: 1_000,
}

/** How each conflict comes about: a reason that is added to the port does not compile without its test. */
const provocations: Readonly<
  Record<ConflictReason, (session: SessionFixture) => Promise<Provoked>>
> = {
  'run-exists': async (session) => {
    const id = await session.start()
    return { write: { kind: 'run-create', record: runRecord(session.sessionId, id) } }
  },
  'run-absent': async () => ({
    write: { kind: 'blob-put', runId: system.runId(), digest, bytes: new Uint8Array(1) },
  }),
  'run-ended': async (session) => {
    const runId = await session.start({ status: 'failed' })
    return { write: session.toInbox(runId, 'cancel') }
  },
  'run-revision': async (session) => {
    const runId = await session.start()
    const record = runRecord(session.sessionId, runId)
    return { write: { kind: 'run-swap', record, expectedRevision: 9 }, facts: { actual: 1 } }
  },
  'run-transition': async (session) => ({
    write: await session.swapOf(await session.start(), { status: 'interrupted' }),
  }),
  'run-identity': async (session) => ({
    write: await session.swapOf(await session.start(), { createdAt: 5 }),
  }),
  'run-purged': async (session) => {
    const runId = await session.start({ status: 'failed' })
    await session.write({ kind: 'run-purge', runId })
    return { write: session.toInbox(runId, 'cancel') }
  },
  'idempotency-key': async (session) => {
    const runId = await session.start({}, 'key')
    const record = runRecord(session.sessionId, system.runId())
    return {
      write: { kind: 'run-create', record, idempotencyKey: 'key' },
      facts: { runId, inputDigest: digest },
    }
  },
  'journal-revision': async (session) => ({
    write: { kind: 'journal-append', runId: await session.start(), revision: 4, data: '[]' },
    facts: { actual: 1 },
  }),
  'stream-index': async (session) => {
    const streamId = await session.start()
    const chunks = [{ data: '1' }]
    await session.write({ kind: 'stream-append', streamId, expectedNext: 0, chunks })
    return {
      write: { kind: 'stream-append', streamId, expectedNext: 0, chunks },
      facts: { actual: 1 },
    }
  },
  'stream-closed': async (session) => {
    const streamId = await session.start()
    await session.write({ kind: 'stream-close', streamId, end: 'failed' })
    return {
      write: { kind: 'stream-append', streamId, expectedNext: 0, chunks: [] },
      facts: { actual: 0 },
    }
  },
  'log-key-exists': async (session) => {
    const write = { kind: 'log-append', log: 'l', key: 'k', value: '1', onFailure: 'fail' } as const
    await session.anybody({ ...write, key: 'first' }, write)
    return { write: { ...write, value: '2' }, facts: { actual: 1 } }
  },
  'log-closed': async (session) => {
    const write = { kind: 'log-append', log: 'l', key: 'k', value: '1', onFailure: 'fail' } as const
    await session.write(write, { kind: 'log-close', log: 'l' })
    return { write: { ...write, key: 'late' }, facts: { actual: 1 } }
  },
  'log-grown': async () => ({
    write: { kind: 'log-unchanged', log: 'l', expectedNext: 5 },
    facts: { actual: 0 },
  }),
  'inbox-full': async (session) => {
    const runId = await session.start({ status: 'running' })
    await session.anybody(session.toInbox(runId, 'message/1'))
    const guard = { runId, maxUnread: 1 }
    return { write: session.toInbox(runId, 'message/2', { guard }), facts: { actual: 1 } }
  },
  'interrupt-not-open': async (session) => {
    const runId = await session.start({ status: 'interrupted', interrupts: [interrupt] })
    const guard = { runId, interruptOpen: 'interrupt-2' }
    return { write: session.toInbox(runId, 'answer/interrupt-2', { guard }) }
  },
  'stream-number': async (session) => {
    const runId = await session.start({ status: 'running', stream: 2 })
    const guard = { runId, streamIs: 1 }
    return { write: session.toInbox(runId, 'message/1', { guard }), facts: { actual: 2 } }
  },
  'document-revision': async (session) => {
    const document = { kind: 'document-put', collection: 'c', key: 'k', value: '1' } as const
    await session.anybody({ ...document, expectedRevision: 0 })
    return { write: { ...document, expectedRevision: 7 }, facts: { actual: 1 } }
  },
}

/** Every conflict, provoked: told as itself, alone, and with nothing written. */
export function describeConflicts(target: StoreTarget): void {
  describe('a conflict', () => {
    const inSession = sharedDatabase(target)

    for (const [reason, provoke] of Object.entries(provocations)) {
      it(`of ${reason} is told as itself; nothing of its commit is written, all beside it is`, () =>
        inSession(async (session, store) => {
          const { write, facts = {} } = await provoke(session)
          const marker = (key: string) =>
            ({ kind: 'log-append', log: 'markers', key, value: '1', onFailure: 'fail' }) as const
          const refused = {
            ...session.owned(marker('before'), write, {
              kind: 'document-put',
              collection: 'markers',
              key: 'behind',
              expectedRevision: 0,
              value: '1',
            }),
            commitId: 'refused',
          }
          const told = Promise.all([
            session.write(marker('one')),
            expectConflict(store.commit(refused), reason as ConflictReason),
            session.write(marker('two')),
          ])
          expect((await told)[1]).toEqual({ reason, write: 1, ...facts })
          // It is told again, and leaves its commit id to whoever has another use for it.
          expect(await expectConflict(store.commit(refused), reason as ConflictReason)).toEqual({
            reason,
            write: 1,
            ...facts,
          })
          await store.commit({ ...session.owned(marker('three')), commitId: 'refused' })
          const markers = await store.logPage(session.sessionId, 'markers', { from: 0, limit: 9 })
          expect(markers.entries.map(({ key }) => key)).toEqual(['one', 'two', 'three'])
          expect(await store.document(session.sessionId, 'markers', 'behind')).toBeUndefined()
          if (write.kind !== 'log-append') return
          const skipped = await session.write({ ...write, onFailure: 'skip' }, marker('skipped'))
          expect(skipped.results).toEqual([
            { kind: 'log-skipped', reason },
            { kind: 'log-appended', sequence: 3 },
          ])
        }))
    }
  })
}
