import { inboxOf, streamIdOf } from '@holdfast/core'
import type { RunStatus } from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { describe, expect, it } from 'vitest'
import {
  digest,
  expectCode,
  expectConflict,
  onDatabase,
  runRecord,
  SessionFixture,
  sharedDatabase,
} from './store-fixture.ts'
import type { StoreTarget } from './store-target.ts'

/** Commits of runs and journals: all or none, each conflict, groups, repeats. */
export function describeCommits(target: StoreTarget): void {
  describe('a commit', () => {
    const inSession = sharedDatabase(target)

    it('writes everything of it, and answers one result a write in order', () =>
      inSession(async ({ sessionId }, store) => {
        const runId = system.runId()
        const receipt = await store.commit({
          sessionId,
          writes: [
            { kind: 'journal-append', runId, revision: 0, data: '["seed"]', head: { step: 0 } },
            { kind: 'input-put', digest, bytes: new Uint8Array([1, 2, 3]) },
            { kind: 'run-create', record: runRecord(sessionId, runId), idempotencyKey: 'k' },
            { kind: 'blob-put', runId, digest, bytes: new Uint8Array([9]) },
            { kind: 'log-append', log: 'chat/1', key: 'm1', value: '"hi"', onFailure: 'fail' },
            {
              kind: 'document-put',
              collection: 'chats',
              key: '1',
              expectedRevision: 0,
              value: '{}',
            },
          ],
        })
        expect(receipt.results).toEqual([
          { kind: 'done' },
          { kind: 'done' },
          { kind: 'run', revision: 1 },
          { kind: 'done' },
          { kind: 'log-appended', sequence: 0 },
          { kind: 'document', revision: 1 },
        ])
        expect(await store.run(sessionId, runId)).toEqual({
          record: runRecord(sessionId, runId),
          revision: 1,
          journalNext: 1,
          head: { step: 0 },
          inboxNext: 0,
          unread: [],
        })
        expect((await store.runByIdempotencyKey(sessionId, 'k'))?.record.id).toBe(runId)
        expect(await store.input(sessionId, digest)).toEqual(new Uint8Array([1, 2, 3]))
        expect(await store.blob(sessionId, runId, digest)).toEqual(new Uint8Array([9]))
        expect(await store.journal(sessionId, runId, { from: 0, limit: 10 })).toEqual([
          { revision: 0, data: '["seed"]' },
        ])
      }))

    it('writes nothing of it when its last write fails', () =>
      inSession(async (session, store) => {
        const { sessionId } = session
        const runId = await session.start({ status: 'running' })
        const other = system.runId()
        const facts = await expectConflict(
          session.write(
            { kind: 'run-create', record: runRecord(sessionId, other), idempotencyKey: 'k' },
            { kind: 'journal-append', runId, revision: 1, data: '[]' },
            { kind: 'stream-append', streamId: runId, expectedNext: 0, chunks: [{ data: '1' }] },
            session.toInbox(runId, 'cancel'),
            { kind: 'document-put', collection: 'c', key: 'k', expectedRevision: 0, value: '1' },
            { kind: 'input-put', digest: 'ee'.repeat(32), bytes: new Uint8Array(1) },
            { kind: 'log-unchanged', log: inboxOf(runId), expectedNext: 0 },
          ),
          'log-grown',
        )
        expect(facts).toMatchObject({ write: 6, actual: 1 })
        expect(await store.run(sessionId, other)).toBeUndefined()
        expect(await store.runByIdempotencyKey(sessionId, 'k')).toBeUndefined()
        expect(await store.run(sessionId, runId)).toMatchObject({ journalNext: 1, inboxNext: 0 })
        expect(await store.streamHead(sessionId, runId)).toBeUndefined()
        expect(await store.document(sessionId, 'c', 'k')).toBeUndefined()
        expect(await store.input(sessionId, 'ee'.repeat(32))).toBeUndefined()
      }))

    it('that is bad fails alone beside good ones of the same moment, before and behind it', () =>
      inSession(async (session, store) => {
        const { sessionId } = session
        const runId = await session.start()
        const journal = (revision: number) =>
          session.write({ kind: 'journal-append', runId, revision, data: `[${revision}]` })
        const outcomes = await Promise.allSettled([
          journal(1),
          journal(1),
          journal(2),
          session.write(
            { kind: 'document-put', collection: 'c', key: 'k', expectedRevision: 0, value: '1' },
            { kind: 'journal-append', runId, revision: 9, data: '[]' },
          ),
          journal(3),
          session.write({
            kind: 'document-put',
            collection: 'c',
            key: 'k',
            expectedRevision: 0,
            value: '2',
          }),
        ])
        expect(outcomes.map(({ status }) => status)).toEqual([
          'fulfilled',
          'rejected',
          'fulfilled',
          'rejected',
          'fulfilled',
          'fulfilled',
        ])
        expect(await store.run(sessionId, runId)).toMatchObject({ journalNext: 4 })
        expect(await store.document(sessionId, 'c', 'k')).toMatchObject({ revision: 1, value: '2' })
      }))

    it('is judged in the order of asking, a hundred at once', () =>
      inSession(async (session, store) => {
        const runId = await session.start()
        await Promise.all(
          Array.from({ length: 100 }, (_, index) =>
            session.write({
              kind: 'journal-append',
              runId,
              revision: index + 1,
              data: String(index),
            }),
          ),
        )
        const rows = await store.journal(session.sessionId, runId, { from: 1, limit: 1_000 })
        expect(rows.map(({ data }) => Number(data))).toEqual(
          Array.from({ length: 100 }, (_, n) => n),
        )
      }))

    it('keeps chunks before the step that ends their stream, though they may be held', () =>
      inSession(async (session, store) => {
        const runId = await session.start()
        const append = session.store.commit({
          ...session.owned({
            kind: 'stream-append',
            streamId: runId,
            expectedNext: 0,
            chunks: [{ data: '"held"' }],
          }),
          urgency: 'chunks',
        })
        const step = session.write(
          { kind: 'stream-append', streamId: runId, expectedNext: 1, chunks: [{ data: '"step"' }] },
          { kind: 'stream-close', streamId: runId, end: 'completed' },
        )
        await Promise.all([append, step])
        const page = await store.streamPage(session.sessionId, runId, { from: 0, limit: 10 })
        expect(page?.chunks.map(({ data }) => data)).toEqual(['"held"', '"step"'])
      }))

    it('of chunks alone is written without company', () =>
      inSession(async (session, store) => {
        const runId = await session.start()
        await session.store.commit({
          ...session.owned({
            kind: 'stream-append',
            streamId: runId,
            expectedNext: 0,
            chunks: [{ data: '"alone"' }],
          }),
          urgency: 'chunks',
        })
        expect(await store.streamHead(session.sessionId, runId)).toEqual({ first: 0, next: 1 })
      }))

    it('takes nothing from its caller but what it was when it was asked for', () =>
      inSession(async (session, store) => {
        const runId = await session.start()
        const chunks = [{ data: '"first"' }]
        const writing = session.write({
          kind: 'stream-append',
          streamId: runId,
          expectedNext: 0,
          chunks,
        })
        chunks.push({ data: '"later"' })
        await writing
        expect(await store.streamHead(session.sessionId, runId)).toMatchObject({ next: 1 })
      }))

    it('that writes nothing succeeds', () =>
      inSession(async (session) => {
        expect(await session.write()).toEqual({ results: [] })
      }))
  })

  describe('a repeated commit id', () => {
    const inSession = sharedDatabase(target)

    it('gives the first receipt and writes nothing again, also after the session moved on', () =>
      inSession(async (session, store) => {
        const runId = await session.start({ status: 'running' })
        const commit = {
          ...session.owned(
            { kind: 'journal-append', runId, revision: 1, data: '["once"]' },
            session.toInbox(runId, 'message/1'),
          ),
          commitId: 'commit-1',
        }
        const first = await store.commit(commit)
        expect(await store.commit(commit)).toEqual(first)
        await session.store.claimSession(session.sessionId)
        expect(await store.commit(commit)).toEqual(first)
        expect(await store.run(session.sessionId, runId)).toMatchObject({
          journalNext: 2,
          inboxNext: 1,
        })
      }))

    it('in the same moment gives the same receipt', () =>
      inSession(async (session, store) => {
        const runId = await session.start()
        const commit = {
          ...session.owned({ kind: 'journal-append', runId, revision: 1, data: '[]' }),
          commitId: 'twin',
        }
        const [first, second] = await Promise.all([store.commit(commit), store.commit(commit)])
        expect(second).toEqual(first)
        expect((await store.run(session.sessionId, runId))?.journalNext).toBe(2)
      }))

    it('is refused for another content, and free again in another session or after a refusal', () =>
      onDatabase(target, async (_database, store) => {
        const session = await SessionFixture.claim(store)
        const other = await SessionFixture.claim(store)
        const document = (value: string, expectedRevision: number) =>
          ({ kind: 'document-put', collection: 'c', key: 'k', expectedRevision, value }) as const
        const commit = (fixture: SessionFixture, value: string, expected = 0) =>
          store.commit({ ...fixture.owned(document(value, expected)), commitId: 'same' })
        await expectConflict(commit(session, 'a', 7), 'document-revision')
        await commit(session, 'a')
        await expectCode(commit(session, 'b'), 'arguments_invalid')
        await commit(other, 'b')
        expect((await store.document(session.sessionId, 'c', 'k'))?.value).toBe('a')
        expect((await store.document(other.sessionId, 'c', 'k'))?.value).toBe('b')
      }))
  })

  describe('a run', () => {
    const inSession = sharedDatabase(target)

    it('is created once', () =>
      inSession(async (session) => {
        const runId = await session.start()
        await expectConflict(session.start({ id: runId }), 'run-exists')
      }))

    it('is one of its session: the same id elsewhere is another run', () =>
      onDatabase(target, async (_database, store) => {
        const session = await SessionFixture.claim(store)
        const other = await SessionFixture.claim(store)
        const runId = await session.start()
        expect(await store.run(other.sessionId, runId)).toBeUndefined()
        await other.start({ id: runId, definition: { name: 'other', version: 'v1', digest: 'x' } })
        expect((await store.run(session.sessionId, runId))?.record.definition.name).toBe(
          'counter_flow',
        )
      }))

    it('tells who holds an idempotency key, with the input', () =>
      inSession(async (session) => {
        const runId = await session.start({}, 'order-7')
        const facts = await expectConflict(session.start({}, 'order-7'), 'idempotency-key')
        expect(facts).toMatchObject({ runId, inputDigest: digest, write: 1 })
      }))

    it('started twice with one key in the same moment is started once', () =>
      inSession(async (session, store) => {
        const outcomes = await Promise.allSettled(
          Array.from({ length: 8 }, () => session.start({}, 'double-click')),
        )
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
        expect((await store.runs(session.sessionId)).items).toHaveLength(1)
      }))

    it('is swapped at its revision only', () =>
      inSession(async (session) => {
        const runId = await session.start()
        const swap = await session.swapOf(runId, { status: 'running' })
        expect(await session.write(swap)).toEqual({ results: [{ kind: 'run', revision: 2 }] })
        const facts = await expectConflict(session.write(swap), 'run-revision')
        expect(facts.actual).toBe(2)
        await expectConflict(
          session.write({
            kind: 'run-swap',
            record: runRecord(session.sessionId, system.runId()),
            expectedRevision: 1,
          }),
          'run-absent',
        )
      }))

    it('keeps its identity', () =>
      inSession(async (session) => {
        const { sessionId } = session
        const runId = await session.start()
        const record = runRecord(sessionId, runId)
        const changes = [
          { definition: { ...record.definition, version: 'v2' } },
          { parentRunId: system.runId() },
          { childOf: system.runId() },
          { retriedFrom: system.runId() },
          { input: { digest: 'ab'.repeat(32), size: 2 } },
          { createdAt: 999 },
          { artifactNamespace: { sessionId, runId: system.runId() } },
        ]
        for (const change of changes) {
          await expectConflict(session.swap(runId, change), 'run-identity')
        }
        await session.swap(runId, { status: 'running', statusSummary: 'going' })
      }))

    it('never ends twice, and moves only as the table says', () =>
      inSession(async (session) => {
        const illegal: readonly (readonly [RunStatus, RunStatus])[] = [
          ['pending', 'completed'],
          ['pending', 'interrupted'],
          ['interrupted', 'completed'],
          ['completed', 'running'],
          ['cancelled', 'failed'],
          ['failed', 'cancelled'],
        ]
        for (const [from, to] of illegal) {
          const runId = await session.start({ status: from })
          await expectConflict(session.swap(runId, { status: to }), 'run-transition')
        }
      }))

    it('has an updatedAt that never goes back', () =>
      inSession(async (session, store) => {
        const runId = await session.start({ updatedAt: 5_000 })
        await session.swap(runId, { status: 'running', updatedAt: 4_000 })
        expect((await store.run(session.sessionId, runId))?.record.updatedAt).toBe(5_000)
        await session.swap(runId, { updatedAt: 6_000 })
        expect((await store.run(session.sessionId, runId))?.record.updatedAt).toBe(6_000)
      }))
  })

  describe('a journal', () => {
    const inSession = sharedDatabase(target)

    it('grows by the next revision only', () =>
      inSession(async (session) => {
        const runId = await session.start()
        for (const revision of [0, 2, 7]) {
          const facts = await expectConflict(
            session.write({ kind: 'journal-append', runId, revision, data: '[]' }),
            'journal-revision',
          )
          expect(facts.actual).toBe(1)
        }
        await expectConflict(
          session.write({
            kind: 'journal-append',
            runId: system.runId(),
            revision: 0,
            data: '[]',
          }),
          'run-absent',
        )
      }))

    it('takes its end in the commit that ends the run, and nothing afterwards', () =>
      inSession(async (session) => {
        const runId = await session.start({ status: 'running' })
        const end = await session.swapOf(runId, { status: 'completed' })
        await session.write(end, { kind: 'journal-append', runId, revision: 1, data: '["end"]' })
        await expectConflict(
          session.write({ kind: 'journal-append', runId, revision: 2, data: '[]' }),
          'run-ended',
        )
      }))

    it('shows the newest head, whether or not the last revisions carried one', () =>
      inSession(async (session, store) => {
        const runId = await session.start()
        const shown = async () => (await store.run(session.sessionId, runId))?.head
        expect(await shown()).toBeUndefined()
        await session.write({
          kind: 'journal-append',
          runId,
          revision: 1,
          data: '[]',
          head: { step: 'one', nested: { at: 1 } },
        })
        expect(await shown()).toEqual({ step: 'one', nested: { at: 1 } })
        await session.write(
          { kind: 'journal-append', runId, revision: 2, data: '[]' },
          { kind: 'journal-append', runId, revision: 3, data: '[]' },
        )
        expect(await shown()).toEqual({ step: 'one', nested: { at: 1 } })
        await session.write({ kind: 'journal-append', runId, revision: 4, data: '[]', head: {} })
        expect(await shown()).toEqual({})
      }))

    it('is read in pages from any revision, within their bytes', () =>
      inSession(async (session, store) => {
        const runId = await session.start()
        const large = 'x'.repeat(1_500_000)
        for (let revision = 1; revision <= 5; revision += 1) {
          await session.write({
            kind: 'journal-append',
            runId,
            revision,
            data: `${revision}${large}`,
          })
        }
        const read = async (from: number, limit: number) =>
          (await store.journal(session.sessionId, runId, { from, limit })).map(
            ({ revision }) => revision,
          )
        expect(await read(0, 1_000)).toEqual([0, 1, 2])
        expect(await read(3, 1_000)).toEqual([3, 4])
        expect(await read(4, 1)).toEqual([4])
        expect(await read(6, 10)).toEqual([])
        expect(
          await store.journal(session.sessionId, system.runId(), { from: 0, limit: 1 }),
        ).toEqual([])
        for (const limit of [0, 1_001, 1.5]) {
          await expectCode(
            store.journal(session.sessionId, runId, { from: 0, limit }),
            'arguments_invalid',
          )
        }
      }))
  })

  describe('a list of runs', () => {
    const inSession = sharedDatabase(target)

    it('is paged by id in both directions, and filtered', () =>
      inSession(async (session, store) => {
        const { sessionId } = session
        const parentRunId = system.runId()
        const ids: string[] = []
        for (let index = 0; index < 7; index += 1) {
          ids.push(
            await session.start({
              status: index % 2 === 0 ? 'pending' : 'failed',
              ...(index === 3 ? { parentRunId } : {}),
              ...(index === 4 ? { definition: { name: 'rare', version: 'v1', digest: 'x' } } : {}),
            }),
          )
        }
        await (await SessionFixture.claim(store)).start()
        const walk = async (request: Parameters<typeof store.runs>[1]) => {
          const found: string[] = []
          let after: string | undefined
          do {
            const page = await store.runs(sessionId, {
              ...request,
              limit: 2,
              ...(after === undefined ? {} : { after }),
            })
            expect(page.items.length).toBeLessThanOrEqual(2)
            found.push(...page.items.map(({ record }) => record.id))
            after = page.next
          } while (after !== undefined)
          return found
        }
        expect(await walk({})).toEqual(ids)
        expect(await walk({ order: 'descending' })).toEqual([...ids].toReversed())
        expect(await walk({ status: ['failed'] })).toEqual([ids[1], ids[3], ids[5]])
        expect(await walk({ status: ['pending', 'running'] })).toEqual([
          ids[0],
          ids[2],
          ids[4],
          ids[6],
        ])
        expect(await walk({ status: ['pending', 'failed'] })).toEqual(ids)
        expect(await walk({ status: [] })).toEqual([])
        expect(await walk({ definition: 'rare' })).toEqual([ids[4]])
        expect(await walk({ parentRunId })).toEqual([ids[3]])
        for (const limit of [0, 101]) {
          await expectCode(store.runs(sessionId, { limit }), 'arguments_invalid')
        }
      }))
  })

  describe('what does not exist', () => {
    it('reads as absent', () =>
      onDatabase(target, async (_database, store) => {
        const [sessionId, runId] = [system.uuid(), system.runId()]
        expect(await store.run(sessionId, runId)).toBeUndefined()
        expect(await store.runs(sessionId)).toEqual({ items: [] })
        expect(await store.runByIdempotencyKey(sessionId, 'k')).toBeUndefined()
        expect(await store.input(sessionId, digest)).toBeUndefined()
        expect(await store.blob(sessionId, runId, digest)).toBeUndefined()
        expect(await store.streamHead(sessionId, streamIdOf(runId, 2))).toBeUndefined()
        expect(await store.streamPage(sessionId, 'not one', { from: 0, limit: 1 })).toBeUndefined()
        expect(await store.logPage(sessionId, 'l', { from: 0, limit: 1 })).toEqual({
          entries: [],
          next: 0,
          closed: false,
        })
        expect(await store.logEntry(sessionId, 'l', 'k')).toBeUndefined()
        expect(await store.document(sessionId, 'c', 'k')).toBeUndefined()
        expect(await store.documents(sessionId, 'c', { limit: 1 })).toEqual({ items: [] })
      }))
  })
}
