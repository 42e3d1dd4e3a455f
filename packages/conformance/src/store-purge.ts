import { inboxOf, isRunPurged, streamIdOf } from '@holdfast/core'
import type { StoreWrite, System } from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { describe, expect, it } from 'vitest'
import {
  digest,
  expectCode,
  expectConflict,
  onSession,
  runRecord,
  SessionFixture,
} from './store-fixture.ts'
import type { StoreTarget } from './store-target.ts'

/** Purging, what goes with a run and what stays, and closing. */
export function describePurge(target: StoreTarget): void {
  describe('a purge', () => {
    it('removes a run that has ended with all that is its own, and nothing else', () =>
      onSession(target, async (session, store) => {
        const { sessionId } = session
        const fill = async (runId: string) => {
          await session.write(
            { kind: 'journal-append', runId, revision: 1, data: '["one"]' },
            { kind: 'blob-put', runId, digest, bytes: new Uint8Array([7]) },
            { kind: 'stream-append', streamId: runId, expectedNext: 0, chunks: [{ data: '1' }] },
            {
              kind: 'stream-append',
              streamId: streamIdOf(runId, 2),
              expectedNext: 0,
              chunks: [{ data: '2' }],
            },
            session.toInbox(runId, 'message/1'),
          )
          await session.swap(runId, { status: 'completed' })
        }
        const gone = await session.start({ status: 'running' }, 'key')
        const kept = await session.start({ status: 'running' })
        await fill(gone)
        await fill(kept)
        await session.write({ kind: 'run-purge', runId: gone })
        expect(await store.run(sessionId, gone)).toBeUndefined()
        expect(await store.runByIdempotencyKey(sessionId, 'key')).toBeUndefined()
        expect(await store.journal(sessionId, gone, { from: 0, limit: 9 })).toEqual([])
        expect(await store.blob(sessionId, gone, digest)).toBeUndefined()
        expect((await store.logPage(sessionId, inboxOf(gone), { from: 0, limit: 9 })).next).toBe(0)
        expect(await store.logEntry(sessionId, inboxOf(gone), 'message/1')).toBeUndefined()
        for (const streamId of [gone, streamIdOf(gone, 2)]) {
          await expectCode(store.streamHead(sessionId, streamId), 'stream_gone')
          await expectCode(
            store.streamPage(sessionId, streamId, { from: 0, limit: 1 }),
            'stream_gone',
          )
        }
        expect(await store.run(sessionId, kept)).toMatchObject({
          journalNext: 2,
          unread: ['message/1'],
        })
        expect(await store.blob(sessionId, kept, digest)).toEqual(new Uint8Array([7]))
        expect(await store.streamHead(sessionId, streamIdOf(kept, 2))).toMatchObject({ next: 1 })
        expect(await store.input(sessionId, digest)).toBeDefined()
      }))

    it('is told by each read as the port says, to nobody else, and by no write', () =>
      onSession(target, async (session, store, database) => {
        const { sessionId } = session
        const client = await database.openClient()
        const other = await SessionFixture.claim(store)
        const runId = await session.start({ status: 'running' }, 'key')
        const absent = system.runId()
        await session.write(
          { kind: 'stream-append', streamId: runId, expectedNext: 0, chunks: [{ data: '1' }] },
          { kind: 'blob-put', runId, digest, bytes: new Uint8Array([1]) },
          session.toInbox(runId, 'message/1'),
        )
        await session.swap(runId, { status: 'failed' })
        const swap = await session.swapOf(runId, {})
        await session.write({ kind: 'run-purge', runId })
        const page = { from: 0, limit: 9 }
        for (const handle of [store, client]) {
          // Gone, for the session that had it, and for as long as its tombstone stands.
          expect(await isRunPurged(handle, sessionId, runId)).toBe(true)
          for (const streamId of [runId, streamIdOf(runId, 2), streamIdOf(runId, 99)]) {
            await expectCode(handle.streamHead(sessionId, streamId), 'stream_gone')
            await expectCode(handle.streamPage(sessionId, streamId, page), 'stream_gone')
          }
          // Another session, and another run, know of nothing.
          expect(await isRunPurged(handle, other.sessionId, runId)).toBe(false)
          expect(await isRunPurged(handle, sessionId, absent)).toBe(false)
          expect(await handle.streamHead(other.sessionId, runId)).toBeUndefined()
          expect(await handle.streamPage(other.sessionId, runId, page)).toBeUndefined()
          // Every other read answers as for what never was.
          const read = async (id: string, key: string) => ({
            run: await handle.run(sessionId, id),
            runs: (await handle.runs(sessionId)).items,
            byKey: await handle.runByIdempotencyKey(sessionId, key),
            journal: await handle.journal(sessionId, id, page),
            blob: await handle.blob(sessionId, id, digest),
            inbox: await handle.logPage(sessionId, inboxOf(id), page),
            entry: await handle.logEntry(sessionId, inboxOf(id), 'message/1'),
            input: await handle.input(sessionId, digest),
          })
          expect(await read(runId, 'key')).toEqual(await read(absent, 'never'))
        }
        const writes: readonly StoreWrite[] = [
          { kind: 'blob-put', runId, digest, bytes: new Uint8Array([1]) },
          { kind: 'run-create', record: runRecord(sessionId, runId) },
          swap,
          { kind: 'journal-append', runId, revision: 1, data: '[]' },
          { kind: 'stream-append', streamId: streamIdOf(runId, 2), expectedNext: 0, chunks: [] },
          { kind: 'stream-close', streamId: streamIdOf(runId, 2), end: 'failed' },
          session.toInbox(runId, 'message/2'),
          {
            kind: 'log-append',
            log: 'chat/1',
            key: 'k',
            value: '1',
            guard: { runId, notEnded: true },
            onFailure: 'fail',
          },
          { kind: 'run-purge', runId },
        ]
        for (const write of writes) await expectConflict(session.write(write), 'run-purged')
        expect(await isRunPurged(store, sessionId, runId)).toBe(true)
      }))

    it('is told to who watches the run, or the runs of its session', () =>
      onSession(target, async (session, store) => {
        const { sessionId } = session
        const runId = await session.start({ status: 'failed' })
        const { signal } = new AbortController()
        const watches = [
          store.watch({ kind: 'run', sessionId, runId }, signal),
          store.watch({ kind: 'runs', sessionId }, signal),
        ].map((watch) => watch[Symbol.asyncIterator]())
        for (const watch of watches) await watch.next()
        const told = Promise.all(watches.map((watch) => watch.next()))
        await session.write({ kind: 'run-purge', runId })
        await told
        expect((await store.runs(sessionId)).items).toEqual([])
      }))

    it('takes an input along with the last run that refers to it', () =>
      onSession(target, async (session, store) => {
        const first = await session.start({ status: 'failed' })
        const second = await session.start({ status: 'failed' })
        await session.write({ kind: 'run-purge', runId: first })
        expect(await store.input(session.sessionId, digest)).toBeDefined()
        const third = session.start({ status: 'failed' })
        await session.write({ kind: 'run-purge', runId: second })
        await third
        expect(await store.input(session.sessionId, digest)).toBeDefined()
        await session.write({ kind: 'run-purge', runId: await third })
        expect(await store.input(session.sessionId, digest)).toBeUndefined()
      }))

    it('is refused of a run that has not ended, is not there, or was purged', () =>
      onSession(target, async (session) => {
        const runId = await session.start({ status: 'running' })
        await expectConflict(session.write({ kind: 'run-purge', runId }), 'run-transition')
        await session.swap(runId, { status: 'failed' })
        await session.write({ kind: 'run-purge', runId })
        await expectConflict(session.write({ kind: 'run-purge', runId }), 'run-purged')
        await expectConflict(
          session.write({ kind: 'run-purge', runId: system.runId() }),
          'run-absent',
        )
      }))

    it('leaves a tombstone of run and key for its time, and then none', () => {
      let now = 1_000_000
      const clock: System = { ...system, now: () => now }
      return onSession(
        target,
        async (session) => {
          const runId = await session.start({ status: 'failed' }, 'key')
          await session.write({ kind: 'run-purge', runId })
          now += 999
          const facts = await expectConflict(session.start({}, 'key'), 'run-purged')
          expect(facts).toMatchObject({ runId, inputDigest: digest })
          await expectConflict(session.start({ id: runId }), 'run-purged')
          await expectConflict(session.anybody(session.toInbox(runId, 'cancel')), 'run-purged')
          await expectConflict(
            session.write({ kind: 'stream-close', streamId: runId, end: 'failed' }),
            'run-purged',
          )
          expect(await isRunPurged(session.store, session.sessionId, runId)).toBe(true)
          now += 2
          expect(await isRunPurged(session.store, session.sessionId, runId)).toBe(false)
          expect(await session.store.streamHead(session.sessionId, runId)).toBeUndefined()
          await session.start({ id: runId }, 'key')
          const again = await expectConflict(session.start({}, 'key'), 'idempotency-key')
          expect(again.runId).toBe(runId)
        },
        { system: clock, tombstoneMs: 1_000 },
      )
    })
  })

  describe('a store that closes', () => {
    it('finishes what it accepted, and refuses what comes later', () =>
      onSession(target, async (session, store, database) => {
        const client = await database.openClient()
        const writing = Promise.all(
          Array.from({ length: 20 }, (_, index) =>
            session.anybody({
              kind: 'log-append',
              log: 'l',
              key: String(index),
              value: '1',
              onFailure: 'fail',
            }),
          ),
        )
        const held = store.commit({
          sessionId: session.sessionId,
          urgency: 'chunks',
          writes: [{ kind: 'log-append', log: 'l', key: 'held', value: '1', onFailure: 'fail' }],
        })
        const closing = store.close()
        await expectCode(session.write(), 'store_closed')
        await expectCode(store.run(session.sessionId, system.runId()), 'store_closed')
        await expectCode(store.claimSession(session.sessionId), 'store_closed')
        await expectCode(store.findWork(0, 1), 'store_closed')
        expect(await writing).toHaveLength(20)
        await held
        await closing
        const page = await client.logPage(session.sessionId, 'l', { from: 0, limit: 100 })
        expect(page.next).toBe(21)
        await store.close()
      }))

    // oxlint-disable-next-line vitest/no-conditional-tests -- a test that cannot apply is none, not a skipped one
    if (target.capabilities.durable) {
      it('has everything again when it is opened', () =>
        onSession(target, async (session, store, database) => {
          const { sessionId } = session
          const runId = await session.start({ status: 'running' }, 'key')
          const commit = {
            ...session.owned(
              { kind: 'journal-append', runId, revision: 1, data: '["one"]', head: { at: 1 } },
              {
                kind: 'stream-append',
                streamId: runId,
                expectedNext: 0,
                chunks: [{ data: '1', tag: 't' }, { data: '2' }],
              },
              session.toInbox(runId, 'message/1'),
              { kind: 'document-put', collection: 'c', key: 'k', expectedRevision: 0, value: 'v' },
            ),
            commitId: 'again',
          }
          const receipt = await store.commit(commit)
          const read = async (from: typeof store) => ({
            run: await from.run(sessionId, runId),
            journal: await from.journal(sessionId, runId, { from: 0, limit: 10 }),
            stream: await from.streamPage(sessionId, runId, { from: 0, limit: 10 }),
            inbox: await from.logPage(sessionId, inboxOf(runId), { from: 0, limit: 10 }),
            document: await from.document(sessionId, 'c', 'k'),
            input: await from.input(sessionId, digest),
          })
          const before = await read(store)
          await store.close()
          const second = await database.open()
          expect(await read(second)).toEqual(before)
          expect(await second.commit(commit)).toEqual(receipt)
          const reopened = await SessionFixture.claim(second, sessionId)
          await expectConflict(reopened.start({}, 'key'), 'idempotency-key')
          await second.releaseSession(reopened)
          expect(await second.findWork(0, 10)).toEqual([sessionId])
          const claim = await second.claimSession(sessionId)
          expect(claim.epoch).toBeGreaterThan(session.epoch)
        }))
    }
  })
}
