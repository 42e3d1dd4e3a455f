import type { Store, WatchTopic } from '@holdfast/core'
import { inboxOf } from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { describe, expect, it } from 'vitest'
import { expectCode, onDatabase, onSession, runRecord, SessionFixture } from './store-fixture.ts'
import type { StoreTarget } from './store-target.ts'

/** Watches: none missed, the first at once, coalesced, after visibility, across handles. */
export function describeWatches(target: StoreTarget): void {
  describe('a watch', () => {
    it('resolves at once, then when something has changed', () =>
      onSession(target, async (session, store) => {
        const runId = await session.start({ status: 'running' })
        const watch = watching(store, { kind: 'run', sessionId: session.sessionId, runId })
        await watch.next()
        const next = watch.next()
        await session.write({ kind: 'journal-append', runId, revision: 1, data: '[]' })
        await next
        expect((await store.run(session.sessionId, runId))?.journalNext).toBe(2)
        watch.stop()
      }))

    it('counts from the call of watch, and not from its first next', () =>
      onSession(target, async (session, store) => {
        const runId = await session.start({ status: 'running' })
        const watch = watching(store, { kind: 'run', sessionId: session.sessionId, runId })
        await watch.next()
        await session.write({ kind: 'journal-append', runId, revision: 1, data: '[]' })
        await session.write({ kind: 'journal-append', runId, revision: 2, data: '[]' })
        // Two changes came while nobody waited: they are told once.
        await watch.next()
        const third = watch.next()
        await expectPending(third)
        await session.write({ kind: 'journal-append', runId, revision: 3, data: '[]' })
        await third
        watch.stop()
      }))

    it('tells of each topic that a commit touches, and of no other', () =>
      onSession(target, async (session, store) => {
        const { sessionId } = session
        const runId = await session.start({ status: 'running' })
        const other = await session.start({ status: 'running' })
        const topics = {
          run: { kind: 'run', sessionId, runId },
          runs: { kind: 'runs', sessionId },
          stream: { kind: 'stream', sessionId, streamId: runId },
          log: { kind: 'log', sessionId, log: 'chat/1' },
          inbox: { kind: 'log', sessionId, log: inboxOf(runId) },
          otherRun: { kind: 'run', sessionId, runId: other },
        } as const
        const expectFired = async (
          write: () => Promise<unknown>,
          names: readonly (keyof typeof topics)[],
        ) => {
          const watches = Object.entries(topics).map(([name, topic]) => ({
            name,
            watch: watching(store, topic),
          }))
          await Promise.all(watches.map(({ watch }) => watch.next()))
          const fired = new Set<string>()
          const nexts = watches.map(({ name, watch }) =>
            watch.next().then(
              () => fired.add(name),
              () => 'stopped',
            ),
          )
          await write()
          await settle()
          // Topic `runs` has no state of its own to compare, and may be told of without a reason.
          if (!names.includes('runs')) fired.delete('runs')
          expect([...fired].toSorted()).toEqual([...names].toSorted())
          for (const { watch } of watches) watch.stop()
          await Promise.all(nexts)
        }
        await expectFired(
          () => session.write({ kind: 'journal-append', runId, revision: 1, data: '[]' }),
          ['run', 'runs'],
        )
        await expectFired(() => session.swap(runId, { statusSummary: 'x' }), ['run', 'runs'])
        await expectFired(
          () =>
            session.write({
              kind: 'stream-append',
              streamId: runId,
              expectedNext: 0,
              chunks: [{ data: '1' }],
            }),
          ['stream'],
        )
        await expectFired(
          () => session.write({ kind: 'stream-close', streamId: runId, end: 'completed' }),
          ['stream'],
        )
        await expectFired(
          () =>
            session.anybody({
              kind: 'log-append',
              log: 'chat/1',
              key: 'k',
              value: '1',
              onFailure: 'fail',
            }),
          ['log'],
        )
        await expectFired(
          () => session.anybody(session.toInbox(runId, 'message/1')),
          ['inbox', 'run', 'runs'],
        )
        await expectFired(
          () =>
            session.anybody({
              kind: 'document-put',
              collection: 'c',
              key: 'k',
              expectedRevision: 0,
              value: '1',
            }),
          [],
        )
        await expectFired(
          () => session.write({ kind: 'log-unchanged', log: 'x', expectedNext: 3 }).catch(() => 0),
          [],
        )
      }))

    it('never misses what a reader waits for, in hundreds of races', () =>
      onSession(target, async (session, store) => {
        const runId = await session.start()
        const total = 300
        const write = async () => {
          for (let index = 0; index < total; index += 1) {
            await session.write({
              kind: 'stream-append',
              streamId: runId,
              expectedNext: index,
              chunks: [{ data: String(index) }],
            })
          }
        }
        const read = async () => {
          const { sessionId } = session
          const watch = watching(store, { kind: 'stream', sessionId, streamId: runId })
          let from = 0
          while (from < total) {
            await watch.next()
            const page = await store.streamPage(sessionId, runId, { from, limit: 1_000 })
            for (const { data } of page?.chunks ?? []) {
              expect(data).toBe(String(from))
              from += 1
            }
          }
          watch.stop()
        }
        await Promise.all([write(), read(), read()])
      }))

    it('of another handle misses nothing either', () =>
      onSession(target, async (session, _store, database) => {
        const { sessionId } = session
        const client = await database.openClient()
        const runId = await session.start({ status: 'running' })
        const total = 40
        const write = async () => {
          for (let at = 1; at <= total; at += 1) {
            await session.write(
              {
                kind: 'stream-append',
                streamId: runId,
                expectedNext: at - 1,
                chunks: [{ data: '1' }],
              },
              { kind: 'journal-append', runId, revision: at, data: '[]' },
              session.toInbox(runId, `message/${at}`),
            )
            // Now and then a pause, in which a reader falls asleep.
            if (at % 8 === 0) await settle()
          }
        }
        const reads = [
          {
            topic: { kind: 'stream', sessionId, streamId: runId },
            read: async () => (await client.streamHead(sessionId, runId))?.next,
          },
          {
            topic: { kind: 'run', sessionId, runId },
            read: async () => ((await client.run(sessionId, runId))?.journalNext ?? 0) - 1,
          },
          {
            topic: { kind: 'runs', sessionId },
            read: async () => ((await client.runs(sessionId)).items[0]?.journalNext ?? 0) - 1,
          },
          {
            topic: { kind: 'log', sessionId, log: inboxOf(runId) },
            read: async () =>
              (await client.logPage(sessionId, inboxOf(runId), { from: 0, limit: 1 })).next,
          },
        ] as const
        const readers = reads.map(async ({ topic, read }) => {
          const watch = watching(client, topic)
          await watch.until(async () => (await read()) === total)
          watch.stop()
        })
        await Promise.all([write(), ...readers])
      }))

    it('ends with its signal, at once if that has fired already', () =>
      onDatabase(target, async (_database, store) => {
        const abort = new AbortController()
        const iterator = store.watch({ kind: 'work' }, abort.signal)[Symbol.asyncIterator]()
        expect(await iterator.next()).toMatchObject({ done: false })
        const waiting = iterator.next()
        abort.abort()
        expect(await waiting).toMatchObject({ done: true })
        expect(await iterator.next()).toMatchObject({ done: true })
        const late = store.watch({ kind: 'work' }, abort.signal)[Symbol.asyncIterator]()
        expect(await late.next()).toMatchObject({ done: true })
      }))

    it('is told that its store has closed', () =>
      onDatabase(target, async (_database, store) => {
        const { signal } = new AbortController()
        const iterator = store.watch({ kind: 'work' }, signal)[Symbol.asyncIterator]()
        await iterator.next()
        const waiting = expectCode(iterator.next(), 'store_closed')
        await store.close()
        await waiting
        await expectCode(iterator.next(), 'store_closed')
      }))

    it('of a client tells of what the owner writes: stream, run, log', () =>
      onSession(target, async (session, store, database) => {
        const { sessionId } = session
        const runId = await session.start({ status: 'running' })
        const client = await database.openClient()
        const stream = watching(client, { kind: 'stream', sessionId, streamId: runId })
        const run = watching(client, { kind: 'run', sessionId, runId })
        const runs = watching(client, { kind: 'runs', sessionId })
        const log = watching(client, { kind: 'log', sessionId, log: 'chat/1' })
        await session.write(
          { kind: 'stream-append', streamId: runId, expectedNext: 0, chunks: [{ data: '1' }] },
          { kind: 'journal-append', runId, revision: 1, data: '[]' },
        )
        await session.anybody({
          kind: 'log-append',
          log: 'chat/1',
          key: 'k',
          value: '1',
          onFailure: 'fail',
        })
        await stream.until(async () => (await client.streamHead(sessionId, runId))?.next === 1)
        await run.until(async () => (await client.run(sessionId, runId))?.journalNext === 2)
        await runs.until(async () => (await client.runs(sessionId)).items[0]?.journalNext === 2)
        await log.until(
          async () => (await client.logPage(sessionId, 'chat/1', { from: 0, limit: 1 })).next === 1,
        )
        expect((await store.streamHead(sessionId, runId))?.next).toBe(1)
        for (const watch of [stream, run, runs, log]) watch.stop()
      }))

    it('of the owner tells of what a client writes: an inbox, and work', () =>
      onSession(target, async (session, store, database) => {
        const { sessionId } = session
        const runId = await session.start({ status: 'running' })
        const client = await database.openClient()
        const inbox = watching(store, { kind: 'log', sessionId, log: inboxOf(runId) })
        const work = watching(store, { kind: 'work' })
        await client.commit({ sessionId, writes: [session.toInbox(runId, 'cancel')] })
        await inbox.until(async () => (await store.run(sessionId, runId))?.inboxNext === 1)
        const fresh = system.uuid()
        await client.commit({
          sessionId: fresh,
          writes: [{ kind: 'run-create', record: runRecord(fresh, system.runId()) }],
        })
        await work.until(async () => (await store.findWork(0, 10)).includes(fresh))
        inbox.stop()
        work.stop()
      }))

    it('of work tells of a start, of an inbox, and of a session that was let go', () =>
      onDatabase(target, async (_database, store) => {
        const sessionId = system.uuid()
        const runId = system.runId()
        const work = watching(store, { kind: 'work' })
        await work.next()
        const expectWork = async (write: () => Promise<unknown>) => {
          const next = work.next()
          await write()
          await next
          expect(await store.findWork(0, 10)).toEqual([sessionId])
        }
        await expectWork(() =>
          store.commit({
            sessionId,
            writes: [{ kind: 'run-create', record: runRecord(sessionId, runId) }],
          }),
        )
        const session = await SessionFixture.claim(store, sessionId)
        await session.swap(runId, { status: 'running', parked: true })
        await store.releaseSession(session)
        await work.next()
        await expectWork(() => session.anybody(session.toInbox(runId, 'message/1')))
        const again = await SessionFixture.claim(store, sessionId)
        await expectWork(() => store.releaseSession(again))
        work.stop()
      }))
  })
}

interface Watching {
  /** What the watch tells next; it fails if the watch has ended. */
  next(): Promise<void>
  /** Watch, read, wait, until a read says so. */
  until(holds: () => Promise<boolean>): Promise<void>
  stop(): void
}

function watching(store: Store, topic: WatchTopic): Watching {
  const abort = new AbortController()
  const iterator = store.watch(topic, abort.signal)[Symbol.asyncIterator]()
  const next = async (): Promise<void> => {
    if ((await iterator.next()).done === true) throw new Error('The watch has ended.')
  }
  return {
    next,
    async until(holds) {
      do await next()
      while (!(await holds()))
    },
    stop: () => abort.abort(),
  }
}

/** Some turns of the event loop, in which nothing that waits for a change has a reason to go on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise<void>((resolve) => system.macrotask(resolve))
  }
}

async function expectPending(promise: Promise<unknown>): Promise<void> {
  const pending = Symbol('pending')
  expect(await Promise.race([promise, settle().then(() => pending)])).toBe(pending)
}
