import { inboxOf, streamIdOf } from '@holdfast/core'
import type { StoreWrite } from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { describe, expect, it } from 'vitest'
import {
  digest,
  expectConflict,
  onDatabase,
  onSession,
  runRecord,
  SessionFixture,
} from './store-fixture.ts'
import type { StoreTarget } from './store-target.ts'

/** Commits of one moment: each is judged by heads that only accepted ones have moved. */
export function describeGroups(target: StoreTarget): void {
  describe('commits of one moment', () => {
    it('find each head as it was, though a refused one before them had moved it', () =>
      onSession(target, async (session, store) => {
        const { sessionId } = session
        const runId = await session.start({ status: 'running' })
        const ended = await session.start({ status: 'failed' }, 'ended')
        const fresh = system.runId()
        const document = { collection: 'c', value: '1' } as const
        await session.anybody({
          kind: 'document-put',
          key: 'old',
          expectedRevision: 0,
          ...document,
        })
        const append = { kind: 'log-append', key: 'k', value: '1', onFailure: 'fail' } as const
        const writes: readonly StoreWrite[] = [
          { kind: 'run-create', record: runRecord(sessionId, fresh), idempotencyKey: 'key' },
          { kind: 'journal-append', runId: fresh, revision: 0, data: '["seed"]' },
          { kind: 'journal-append', runId, revision: 1, data: '["one"]', head: { at: 1 } },
          await session.swapOf(runId, { statusSummary: 'moved', stream: 1 }),
          { kind: 'blob-put', runId, digest, bytes: new Uint8Array([7]) },
          { kind: 'stream-append', streamId: runId, expectedNext: 0, chunks: [{ data: '0' }] },
          { kind: 'stream-close', streamId: runId, end: 'interrupted' },
          {
            kind: 'stream-append',
            streamId: streamIdOf(runId, 2),
            expectedNext: 0,
            chunks: [{ data: '1' }],
          },
          { ...append, log: 'l' },
          session.toInbox(runId, 'message/1'),
          { kind: 'log-close', log: 'l' },
          { kind: 'document-put', key: 'new', expectedRevision: 0, ...document },
          { kind: 'document-delete', collection: 'c', key: 'old', expectedRevision: 1 },
          { kind: 'run-purge', runId: ended },
        ]
        const [bad, good, late] = await Promise.allSettled([
          session.write(...writes, { kind: 'log-unchanged', log: 'x', expectedNext: 5 }),
          session.write(...writes),
          session.write(...writes),
        ])
        expect(bad).toMatchObject({ reason: { facts: { reason: 'log-grown', write: 14 } } })
        expect(good).toMatchObject({ status: 'fulfilled' })
        expect(late).toMatchObject({ reason: { facts: { reason: 'idempotency-key', write: 0 } } })
        expect(await store.run(sessionId, runId)).toMatchObject({
          revision: 2,
          journalNext: 2,
          head: { at: 1 },
          inboxNext: 1,
          unread: ['message/1'],
        })
        expect(await store.run(sessionId, fresh)).toMatchObject({ revision: 1, journalNext: 1 })
        expect(await store.run(sessionId, ended)).toBeUndefined()
        expect(await store.streamPage(sessionId, runId, { from: 0, limit: 9 })).toEqual({
          head: { first: 0, next: 1, end: 'interrupted' },
          from: 0,
          chunks: [{ data: '0' }],
        })
        expect(await store.streamHead(sessionId, streamIdOf(runId, 2))).toMatchObject({ next: 1 })
        expect(await store.logPage(sessionId, 'l', { from: 0, limit: 9 })).toEqual({
          entries: [{ sequence: 0, key: 'k', value: '1' }],
          next: 1,
          closed: true,
        })
        expect((await store.documents(sessionId, 'c', { limit: 9 })).items).toEqual([
          { key: 'new', revision: 1, value: '1' },
        ])
      }))

    it('of many sessions are judged each by its own heads, in its own order', () =>
      onDatabase(target, async (_database, store) => {
        const sessions = await Promise.all(
          Array.from({ length: 4 }, () => SessionFixture.claim(store)),
        )
        const runs = await Promise.all(sessions.map((session) => session.start()))
        const writing = Array.from({ length: 60 }, (_, index) => {
          const at = index % sessions.length
          const [session, runId] = [sessions[at], runs[at]]
          if (session === undefined || runId === undefined) throw new Error('no session')
          const revision = Math.floor(index / sessions.length) + 1
          // Each third asks for a revision that has been taken, or is not due yet.
          return session.write({
            kind: 'journal-append',
            runId,
            revision: index % 3 === 2 ? revision + 7 : revision,
            data: String(index),
          })
        })
        const outcomes = await Promise.allSettled(writing)
        for (const [at, session] of sessions.entries()) {
          // What the rules say, one after the other.
          let next = 1
          const expected: number[] = []
          for (let index = at; index < outcomes.length; index += sessions.length) {
            const revision = Math.floor(index / sessions.length) + 1
            const asked = index % 3 === 2 ? revision + 7 : revision
            const accepted = asked === next
            expect(outcomes[index]?.status).toBe(accepted ? 'fulfilled' : 'rejected')
            if (!accepted) continue
            expected.push(index)
            next += 1
          }
          const rows = await store.journal(session.sessionId, runs[at] ?? '', {
            from: 1,
            limit: 100,
          })
          expect(rows.map(({ data }) => Number(data))).toEqual(expected)
        }
      }))

    it('beside a claim are written before it, or refused as fenced', () =>
      onSession(target, async (session, store) => {
        const runId = await session.start({ status: 'running' })
        let revision = 0
        const append = () => {
          revision += 1
          return session
            .write({ kind: 'journal-append', runId, revision, data: String(revision) })
            .then(
              () => 'written',
              (error: unknown) => (error as { readonly code?: unknown }).code,
            )
        }
        const before = [append(), append(), append()]
        const claiming = store.claimSession(session.sessionId)
        const beside = [append(), append(), append()]
        const { epoch } = await claiming
        const behind = [append(), append()]
        const told = await Promise.all([...before, ...beside, ...behind])
        const written = told.filter((outcome) => outcome === 'written').length
        expect(told.slice(0, written)).toEqual(told.filter((outcome) => outcome === 'written'))
        expect(new Set(told.slice(written))).toEqual(new Set(['store_fenced']))
        expect(told.slice(-2)).toEqual(['store_fenced', 'store_fenced'])
        expect(await store.run(session.sessionId, runId)).toMatchObject({
          journalNext: written + 1,
        })
        session.epoch = epoch
        await session.write({
          kind: 'journal-append',
          runId,
          revision: written + 1,
          data: '["new owner"]',
        })
      }))
  })

  describe('two handles at the same moment', () => {
    it('do once what both ask for: a start, a key, a document, an answer', () =>
      onSession(target, async (session, store, database) => {
        const { sessionId } = session
        const client = await database.openClient()
        const runId = await session.start({ status: 'running' })
        for (let round = 0; round < 6; round += 1) {
          const asks: readonly (() => StoreWrite)[] = [
            () => ({
              kind: 'run-create',
              record: runRecord(sessionId, system.runId()),
              idempotencyKey: `key-${round}`,
            }),
            () => ({
              kind: 'log-append',
              log: 'l',
              key: `key-${round}`,
              value: '1',
              onFailure: 'fail',
            }),
            () => ({
              kind: 'document-put',
              collection: 'c',
              key: `key-${round}`,
              expectedRevision: 0,
              value: '1',
            }),
            () => session.toInbox(runId, `answer/${round}`, { guard: { runId, notEnded: true } }),
          ]
          const reasons = ['idempotency-key', 'log-key-exists', 'document-revision']
          for (const [index, ask] of asks.entries()) {
            const outcomes = await Promise.allSettled(
              [store, client].map((handle) => handle.commit({ sessionId, writes: [ask()] })),
            )
            expect(outcomes.map(({ status }) => status).toSorted()).toEqual([
              'fulfilled',
              'rejected',
            ])
            expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
              reason: { facts: { reason: reasons[index] ?? 'log-key-exists' } },
            })
          }
        }
        expect((await store.runs(sessionId)).items).toHaveLength(7)
        expect((await store.run(sessionId, runId))?.inboxNext).toBe(6)
      }))

    it('that repeat one commit id get one receipt', () =>
      onSession(target, async (session, store, database) => {
        const { sessionId } = session
        const client = await database.openClient()
        for (let round = 0; round < 6; round += 1) {
          const commit = {
            sessionId,
            commitId: `commit-${round}`,
            writes: [
              {
                kind: 'log-append',
                log: 'l',
                key: `key-${round}`,
                value: '1',
                onFailure: 'fail',
              },
            ],
          } as const
          const [first, second] = await Promise.all([store.commit(commit), client.commit(commit)])
          expect(first).toEqual({ results: [{ kind: 'log-appended', sequence: round }] })
          expect(second).toEqual(first)
        }
      }))

    it('that end a run and write to its inbox: one is told, none is lost', () =>
      onSession(target, async (session, store, database) => {
        const { sessionId } = session
        const client = await database.openClient()
        for (let round = 0; round < 12; round += 1) {
          const runId = await session.start({ status: 'running' })
          const swap = await session.swapOf(runId, { status: 'completed' })
          const end = (expectedNext: number) =>
            session.write(
              { kind: 'log-unchanged', log: inboxOf(runId), expectedNext },
              { kind: 'journal-append', runId, revision: 1, data: '["end"]' },
              swap,
            )
          const message = client.commit({
            sessionId,
            writes: [session.toInbox(runId, 'message/1', { guard: { runId, notEnded: true } })],
          })
          const [ended, told] = await Promise.allSettled([end(0), message])
          const run = await store.run(sessionId, runId)
          if (ended.status === 'fulfilled') {
            expect(told).toMatchObject({ reason: { facts: { reason: 'run-ended' } } })
            expect(run).toMatchObject({ record: { status: 'completed' }, unread: [] })
          } else {
            expect(ended).toMatchObject({ reason: { facts: { reason: 'log-grown', actual: 1 } } })
            expect(told).toMatchObject({ status: 'fulfilled' })
            expect(run).toMatchObject({ record: { status: 'running' }, unread: ['message/1'] })
            await end(1)
          }
          await expectConflict(session.anybody(session.toInbox(runId, 'late')), 'run-ended')
        }
      }))
  })
}
