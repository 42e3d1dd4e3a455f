import { system } from '@holdfast/core/system'
import { describe, expect, it } from 'vitest'
import {
  expectCode,
  expectConflict,
  onDatabase,
  onSession,
  runRecord,
  SessionFixture,
} from './store-fixture.ts'
import type { StoreTarget } from './store-target.ts'

/** Fences, takeover, clients, and what is work. */
export function describeOwnership(target: StoreTarget): void {
  describe('a fence', () => {
    it('is needed for what only an owner writes, but not for a seed beside its run', () =>
      onSession(target, async (session) => {
        const runId = await session.start({ status: 'running' })
        const other = system.runId()
        const owned = [
          await session.swapOf(runId, { statusSummary: 'x' }),
          { kind: 'journal-append', runId, revision: 1, data: '[]' },
          { kind: 'journal-append', runId, revision: 0, data: '[]' },
          { kind: 'stream-append', streamId: runId, expectedNext: 0, chunks: [] },
          { kind: 'stream-close', streamId: runId, end: 'failed' },
          { kind: 'log-close', log: 'l' },
          { kind: 'run-purge', runId },
        ] as const
        for (const write of owned) {
          await expectCode(session.anybody(write), 'arguments_invalid')
        }
        await expectCode(
          session.anybody(
            { kind: 'run-create', record: runRecord(session.sessionId, other) },
            { kind: 'journal-append', runId: other, revision: 0, data: '[]' },
            { kind: 'journal-append', runId: other, revision: 1, data: '[]' },
          ),
          'arguments_invalid',
        )
      }))

    it('of another epoch writes nothing, also of what anybody may write', () =>
      onSession(target, async (session, store) => {
        const runId = await session.start()
        const before = session.owned({ kind: 'journal-append', runId, revision: 1, data: '[]' })
        const { epoch } = await store.claimSession(session.sessionId)
        expect(epoch).toBeGreaterThan(session.epoch)
        await expectCode(store.commit(before), 'store_fenced')
        await expectCode(
          session.write({
            kind: 'document-put',
            collection: 'c',
            key: 'k',
            expectedRevision: 0,
            value: '1',
          }),
          'store_fenced',
        )
        session.epoch = epoch + 1
        await expectCode(session.write(), 'store_fenced')
        session.epoch = epoch
        await session.write({ kind: 'journal-append', runId, revision: 1, data: '[]' })
      }))

    it('of a session that never was holds nothing', () =>
      onDatabase(target, async (_database, store) => {
        await expectCode(
          store.commit({ sessionId: system.uuid(), fence: { epoch: 0 }, writes: [] }),
          'store_fenced',
        )
      }))

    it('stops an owner that was paused over a takeover, in mid-flight too', () =>
      onDatabase(target, async (database, store) => {
        const old = await SessionFixture.claim(store)
        const runId = await old.start({ status: 'running' })
        await old.write({ kind: 'journal-append', runId, revision: 1, data: '["old"]' })
        const second = await database.takeOver(store)
        const fresh = await SessionFixture.claim(second, old.sessionId)
        expect(fresh.epoch).toBeGreaterThan(old.epoch)
        await expectCode(
          old.write({ kind: 'journal-append', runId, revision: 2, data: '["late"]' }),
          'store_fenced',
        )
        await fresh.write({ kind: 'journal-append', runId, revision: 2, data: '["new"]' })
        await expectCode(
          old.write({ kind: 'stream-append', streamId: runId, expectedNext: 0, chunks: [] }),
          'store_fenced',
        )
        // What anybody may write, it may still write.
        await old.anybody(old.toInbox(runId, 'message/1'))
        const rows = await second.journal(old.sessionId, runId, { from: 0, limit: 10 })
        expect(rows.map(({ data }) => data)).toEqual(['["seed"]', '["old"]', '["new"]'])
      }))
  })

  describe('a session', () => {
    it('that anybody wrote to first has no owner and epoch 0', () =>
      onDatabase(target, async (_database, store) => {
        const sessionId = system.uuid()
        const runId = system.runId()
        await store.commit({
          sessionId,
          writes: [{ kind: 'run-create', record: runRecord(sessionId, runId) }],
        })
        expect(await store.findWork(0, 10)).toEqual([sessionId])
        expect((await store.claimSession(sessionId)).epoch).toBe(1)
      }))

    it('is released by the claim that holds it, and by no earlier one', () =>
      onSession(target, async (session, store) => {
        const { sessionId } = session
        await session.start()
        const first = { sessionId, epoch: session.epoch }
        const second = await store.claimSession(sessionId)
        await store.releaseSession(first)
        expect(await store.findWork(0, 10)).toEqual([])
        await store.releaseSession(second)
        expect(await store.findWork(0, 10)).toEqual([sessionId])
        await store.releaseSession(second)
        // A release takes nothing from the epoch: the fence holds until somebody claims.
        const third = await store.claimSession(sessionId)
        expect(third.epoch).toBeGreaterThan(second.epoch)
      }))

    // One owner at a time has nothing to contend with.
    // oxlint-disable-next-line vitest/no-conditional-tests -- a test that cannot apply is none, not a skipped one
    if (target.capabilities.owners === 'many') {
      it('is owned by one live node', () =>
        onDatabase(target, async (database, store) => {
          const session = await SessionFixture.claim(store)
          const second = await database.open()
          await expectCode(second.claimSession(session.sessionId), 'store_owned')
          await store.releaseSession(session)
          const claim = await second.claimSession(session.sessionId)
          await expectCode(store.claimSession(session.sessionId), 'store_owned')
          await second.close()
          expect((await store.claimSession(session.sessionId)).epoch).toBeGreaterThan(claim.epoch)
        }))
    }

    it('of a node that closed or was lost is free at once', () =>
      onDatabase(target, async (database, store) => {
        const session = await SessionFixture.claim(store)
        await session.start()
        expect(await store.findWork(0, 10)).toEqual([])
        const second = await database.takeOver(store)
        expect(await second.findWork(0, 10)).toEqual([session.sessionId])
        await second.claimSession(session.sessionId)
        await second.close()
        const third = await database.open()
        expect(await third.findWork(0, 10)).toEqual([session.sessionId])
      }))
  })

  describe('a client', () => {
    it('reads, starts and appends, and owns nothing', () =>
      onSession(target, async (session, store, database) => {
        const { sessionId } = session
        const client = await database.openClient()
        expect(client.node).toBeUndefined()
        const runId = system.runId()
        await client.commit({
          sessionId,
          writes: [
            { kind: 'run-create', record: runRecord(sessionId, runId) },
            { kind: 'journal-append', runId, revision: 0, data: '["seed"]' },
          ],
        })
        await client.commit({ sessionId, writes: [session.toInbox(runId, 'message/1')] })
        expect(await store.run(sessionId, runId)).toMatchObject({ unread: ['message/1'] })
        await session.write({ kind: 'journal-append', runId, revision: 1, data: '[1]' })
        expect(await client.run(sessionId, runId)).toMatchObject({ journalNext: 2 })
        await expectCode(client.claimSession(sessionId), 'store_read_only')
        expect(await client.findWork(0, 10)).toEqual([])
      }))
  })

  describe('work', () => {
    const cases = [
      { title: 'a pending run', run: {}, work: true },
      { title: 'a running run', run: { status: 'running' }, work: true },
      { title: 'a parked run', run: { status: 'running', parked: true }, work: false },
      { title: 'an interrupted run', run: { status: 'interrupted', parked: true }, work: false },
      { title: 'a run that has ended', run: { status: 'completed' }, work: false },
      {
        title: 'a parked run whose time has come',
        run: { status: 'running', parked: true, wakeAt: 500 },
        work: true,
      },
      {
        title: 'a parked run whose time has just come',
        run: { status: 'running', parked: true, wakeAt: 1_000 },
        work: true,
      },
      {
        title: 'a parked run that sleeps on',
        run: { status: 'running', parked: true, wakeAt: 1_001 },
        work: false,
      },
      {
        title: 'an ended run with a time of waking',
        run: { status: 'failed', parked: true, wakeAt: 500 },
        work: false,
      },
      {
        title: 'a parked run with an unread inbox',
        run: { status: 'interrupted', parked: true },
        inbox: 1,
        work: true,
      },
      {
        title: 'a parked run with a read inbox',
        run: { status: 'interrupted', parked: true },
        inbox: 1,
        read: 1,
        work: false,
      },
    ] as const

    for (const { title, run, work, ...inbox } of cases) {
      it(`${work ? 'is' : 'is not'} ${title}`, () =>
        onSession(target, async (session, store) => {
          const runId = await session.start(run)
          if ('inbox' in inbox) await session.anybody(session.toInbox(runId, 'message/1'))
          if ('read' in inbox) await session.swap(runId, { inboxReadThrough: inbox.read })
          expect(await store.findWork(1_000, 10)).toEqual([])
          await store.releaseSession(session)
          expect(await store.findWork(1_000, 10)).toEqual(work ? [session.sessionId] : [])
        }))
    }

    it('is not an inbox entry beyond the read ones of a run that has ended', () =>
      onSession(target, async (session, store) => {
        const runId = await session.start({ status: 'running' })
        await session.anybody(session.toInbox(runId, 'message/1'))
        await session.swap(runId, { status: 'completed' })
        await store.releaseSession(session)
        expect(await store.findWork(1_000, 10)).toEqual([])
      }))

    it('is found once a session, as many as are asked for', () =>
      onDatabase(target, async (_database, store) => {
        const sessions = []
        for (let index = 0; index < 3; index += 1) {
          const session = await SessionFixture.claim(store)
          await session.start()
          await session.start({ status: 'running', parked: true, wakeAt: 1 })
          await store.releaseSession(session)
          sessions.push(session.sessionId)
        }
        expect([...(await store.findWork(1_000, 10))].toSorted()).toEqual([...sessions].toSorted())
        expect(await store.findWork(1_000, 2)).toHaveLength(2)
      }))

    it('that is to come is told by the earliest time of waking without a live owner', () =>
      onSession(target, async (session, store) => {
        expect(await store.nextWake()).toBeUndefined()
        const late = await session.start({ status: 'running', parked: true, wakeAt: 9_000 })
        await session.start({ status: 'running', parked: true, wakeAt: 7_000.5 })
        await session.start({ status: 'failed', parked: true, wakeAt: 10 })
        await session.start({ status: 'running', parked: false, wakeAt: 20 })
        expect(await store.nextWake()).toBeUndefined()
        await store.releaseSession(session)
        expect(await store.nextWake()).toBe(7_000.5)
        const claimed = await SessionFixture.claim(store, session.sessionId)
        await claimed.swap(late, { wakeAt: 3_000 })
        await store.releaseSession(claimed)
        expect(await store.nextWake()).toBe(3_000)
      }))
  })

  describe('an idempotency key beside an absent session', () => {
    it('is refused nobody', () =>
      onDatabase(target, async (_database, store) => {
        const session = await SessionFixture.claim(store)
        const other = await SessionFixture.claim(store)
        await session.start({}, 'key')
        await other.start({}, 'key')
        await expectConflict(other.start({}, 'key'), 'idempotency-key')
      }))
  })
}
