import { inboxOf } from '@holdfast/core'
import type { OpenInterrupt } from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { describe, expect, it } from 'vitest'
import { expectCode, expectConflict, sharedDatabase } from './store-fixture.ts'
import type { StoreTarget } from './store-target.ts'

/** Logs, inboxes and their guards; documents. */
export function describeLogs(target: StoreTarget): void {
  const interrupt: OpenInterrupt = {
    id: 'interrupt-1',
    key: 'approve',
    revision: 1,
    answer: 'person',
    openedAt: 1_000,
  }

  describe('a log', () => {
    const inSession = sharedDatabase(target)

    it('gives the order, keeps keys apart, and is read in pages', () =>
      inSession(async ({ sessionId }, store) => {
        const append = (key: string) =>
          store.commit({
            sessionId,
            writes: [
              { kind: 'log-append', log: 'chat/1', key, value: `"${key}"`, onFailure: 'fail' },
            ],
          })
        const receipts = await Promise.all(['a', 'b', 'c'].map(append))
        expect(receipts.map(({ results }) => results[0])).toEqual(
          [0, 1, 2].map((sequence) => ({ kind: 'log-appended', sequence })),
        )
        const facts = await expectConflict(append('b'), 'log-key-exists')
        expect(facts.actual).toBe(1)
        expect(await store.logPage(sessionId, 'chat/1', { from: 1, limit: 1 })).toEqual({
          entries: [{ sequence: 1, key: 'b', value: '"b"' }],
          next: 3,
          closed: false,
        })
        expect(await store.logPage(sessionId, 'chat/1', { from: 3, limit: 9 })).toEqual({
          entries: [],
          next: 3,
          closed: false,
        })
        expect(await store.logEntry(sessionId, 'chat/1', 'c')).toEqual({
          sequence: 2,
          key: 'c',
          value: '"c"',
        })
        expect(await store.logEntry(sessionId, 'chat/1', 'd')).toBeUndefined()
      }))

    it('tells names with slashes and quotes apart', () =>
      inSession(async ({ sessionId }, store) => {
        const names = ['a/b', 'a', "it's", '"', 'ü', '\u{1f600}', 'a/b/c']
        for (const log of names) {
          for (const key of ['c', 'b/c', '/']) {
            await store.commit({
              sessionId,
              writes: [{ kind: 'log-append', log, key, value: log + key, onFailure: 'fail' }],
            })
          }
        }
        for (const log of names) {
          expect((await store.logEntry(sessionId, log, 'b/c'))?.value).toBe(`${log}b/c`)
          expect((await store.logPage(sessionId, log, { from: 0, limit: 9 })).next).toBe(3)
        }
      }))

    it('that is closed takes no more, and closing it again is harmless', () =>
      inSession(async (session, store) => {
        const append = session.anybody({
          kind: 'log-append',
          log: 'l',
          key: 'a',
          value: '1',
          onFailure: 'fail',
        })
        await append
        const facts = await expectConflict(
          session.write({ kind: 'log-close', log: 'l', expectedNext: 0 }),
          'log-grown',
        )
        expect(facts.actual).toBe(1)
        await session.write({ kind: 'log-close', log: 'l', expectedNext: 1 })
        await session.write({ kind: 'log-close', log: 'l' })
        await expectConflict(
          session.anybody({
            kind: 'log-append',
            log: 'l',
            key: 'b',
            value: '1',
            onFailure: 'fail',
          }),
          'log-closed',
        )
        await expectConflict(
          session.anybody({
            kind: 'log-append',
            log: 'l',
            key: 'a',
            value: '1',
            onFailure: 'fail',
          }),
          'log-key-exists',
        )
        await session.write({ kind: 'log-close', log: 'never was' })
        expect(await store.logPage(session.sessionId, 'never was', { from: 0, limit: 1 })).toEqual({
          entries: [],
          next: 0,
          closed: true,
        })
      }))

    it('skips instead of failing when it is asked to, and the rest is written', () =>
      inSession(async (session, store) => {
        const { sessionId } = session
        const parent = await session.start({ status: 'completed' })
        const child = await session.start({ status: 'running' })
        await session.write({ kind: 'log-close', log: 'closed' })
        const skip = { onFailure: 'skip' } as const
        const receipt = await session.write(
          await session.swapOf(child, { status: 'completed' }),
          session.toInbox(parent, `child/${child}`, skip),
          session.toInbox(system.runId(), 'cancel', skip),
          { kind: 'log-append', log: 'closed', key: 'k', value: '1', ...skip },
          { kind: 'log-append', log: 'open', key: 'k', value: '1', ...skip },
          { kind: 'log-append', log: 'open', key: 'k', value: '2', ...skip },
        )
        expect(receipt.results).toEqual([
          { kind: 'run', revision: 2 },
          { kind: 'log-skipped', reason: 'run-ended' },
          { kind: 'log-skipped', reason: 'run-absent' },
          { kind: 'log-skipped', reason: 'log-closed' },
          { kind: 'log-appended', sequence: 0 },
          { kind: 'log-skipped', reason: 'log-key-exists' },
        ])
        expect((await store.run(sessionId, child))?.record.status).toBe('completed')
        expect((await store.logPage(sessionId, 'open', { from: 0, limit: 9 })).entries).toEqual([
          { sequence: 0, key: 'k', value: '1' },
        ])
      }))
  })

  describe('an inbox', () => {
    const inSession = sharedDatabase(target)

    it('shows its unread keys in the run, oldest first, as of the same read', () =>
      inSession(async (session, store) => {
        const runId = await session.start({ status: 'running' })
        for (const key of ['message/b', 'cancel', 'message/a']) {
          await session.anybody(session.toInbox(runId, key))
        }
        const run = async () => {
          const found = await store.run(session.sessionId, runId)
          return { inboxNext: found?.inboxNext, unread: found?.unread }
        }
        expect(await run()).toEqual({ inboxNext: 3, unread: ['message/b', 'cancel', 'message/a'] })
        await session.swap(runId, { inboxReadThrough: 2 })
        expect(await run()).toEqual({ inboxNext: 3, unread: ['message/a'] })
      }))

    it('of a run that has ended or never was refuses, with or without a guard', () =>
      inSession(async (session) => {
        const runId = await session.start({ status: 'running' })
        await session.anybody(session.toInbox(runId, 'message/1'))
        await session.swap(runId, { status: 'cancelled' })
        await expectConflict(session.anybody(session.toInbox(runId, 'message/2')), 'run-ended')
        await expectConflict(
          session.anybody(
            session.toInbox(runId, 'message/2', { guard: { runId, notEnded: true } }),
          ),
          'run-ended',
        )
        // A repeat is told as one, whatever has happened since.
        await expectConflict(session.anybody(session.toInbox(runId, 'message/1')), 'log-key-exists')
        const absent = system.runId()
        await expectConflict(session.anybody(session.toInbox(absent, 'cancel')), 'run-absent')
      }))

    it('is guarded by an open interrupt, a stream number and a bound, each told as itself', () =>
      inSession(async (session) => {
        const runId = await session.start({ status: 'running', stream: 2, interrupts: [interrupt] })
        const append = (key: string, guard: object) =>
          session.anybody(session.toInbox(runId, key, { guard: { runId, ...guard } }))
        await expectConflict(append('answer/x', { interruptOpen: 'x' }), 'interrupt-not-open')
        const facts = await expectConflict(append('answer/1', { streamIs: 1 }), 'stream-number')
        expect(facts.actual).toBe(2)
        await append('answer/interrupt-1', {
          interruptOpen: 'interrupt-1',
          streamIs: 2,
          maxUnread: 1,
        })
        const full = await expectConflict(append('message/1', { maxUnread: 1 }), 'inbox-full')
        expect(full.actual).toBe(1)
        await append('message/1', { maxUnread: 2 })
        await append('child/1', { notEnded: true })
        await session.swap(runId, { inboxReadThrough: 3 })
        await append('message/2', { maxUnread: 1 })
      }))

    it('is guarded by another run than its own too', () =>
      inSession(async (session) => {
        const ended = await session.start({ status: 'failed' })
        const runId = await session.start({ status: 'running' })
        await expectConflict(
          session.anybody(
            session.toInbox(runId, 'message/1', { guard: { runId: ended, notEnded: true } }),
          ),
          'run-ended',
        )
        await expectConflict(
          session.anybody({
            kind: 'log-append',
            log: 'chat/1',
            key: 'm',
            value: '1',
            guard: { runId: system.runId(), notEnded: true },
            onFailure: 'fail',
          }),
          'run-absent',
        )
      }))

    it('that grew stops the end, and an append that comes after the end is refused: none is lost', () =>
      inSession(async (session, store) => {
        const runId = await session.start({ status: 'running' })
        const swap = await session.swapOf(runId, { status: 'completed' })
        const end = (expectedNext: number) =>
          session.write(
            { kind: 'log-unchanged', log: inboxOf(runId), expectedNext },
            { kind: 'journal-append', runId, revision: 1, data: '["end"]' },
            swap,
          )
        const message = (key: string) =>
          session.anybody(session.toInbox(runId, key, { guard: { runId, notEnded: true } }))
        const [first, early, second, late] = await Promise.allSettled([
          message('message/1'),
          end(0),
          end(1),
          message('message/2'),
        ])
        expect(first).toMatchObject({ status: 'fulfilled' })
        expect(early).toMatchObject({ reason: { facts: { reason: 'log-grown', actual: 1 } } })
        expect(second).toMatchObject({ status: 'fulfilled' })
        expect(late).toMatchObject({ reason: { facts: { reason: 'run-ended' } } })
        expect(await store.run(session.sessionId, runId)).toMatchObject({
          inboxNext: 1,
          journalNext: 2,
        })
      }))

    it('that was closed lets the end win', () =>
      inSession(async (session) => {
        const runId = await session.start({ status: 'running' })
        const swap = await session.swapOf(runId, { status: 'completed' })
        await session.write({ kind: 'log-close', log: inboxOf(runId) })
        await expectConflict(session.anybody(session.toInbox(runId, 'message/1')), 'log-closed')
        await session.write({ kind: 'log-unchanged', log: inboxOf(runId), expectedNext: 0 }, swap)
      }))
  })

  describe('a document', () => {
    const inSession = sharedDatabase(target)

    it('is put, replaced and deleted at its revision only', () =>
      inSession(async (session, store) => {
        const { sessionId } = session
        const put = (expectedRevision: number, value: string) =>
          session.anybody({
            kind: 'document-put',
            collection: 'chats',
            key: 'k',
            expectedRevision,
            value,
          })
        const remove = (expectedRevision: number) =>
          session.anybody({
            kind: 'document-delete',
            collection: 'chats',
            key: 'k',
            expectedRevision,
          })
        await expectConflict(put(1, 'x'), 'document-revision')
        await expectConflict(remove(0), 'document-revision')
        await put(0, 'one')
        expect((await expectConflict(put(0, 'x'), 'document-revision')).actual).toBe(1)
        expect(await put(1, 'two')).toEqual({ results: [{ kind: 'document', revision: 2 }] })
        expect(await store.document(sessionId, 'chats', 'k')).toEqual({
          key: 'k',
          revision: 2,
          value: 'two',
        })
        await expectConflict(remove(1), 'document-revision')
        await remove(2)
        expect(await store.document(sessionId, 'chats', 'k')).toBeUndefined()
        expect((await store.documents(sessionId, 'chats', { limit: 10 })).items).toEqual([])
      }))

    it('that is made anew has a revision that its predecessor never had', () =>
      inSession(async (session, store) => {
        const document = { collection: 'c', key: 'k' } as const
        await session.anybody({
          kind: 'document-put',
          ...document,
          expectedRevision: 0,
          value: 'a',
        })
        await session.anybody({ kind: 'document-delete', ...document, expectedRevision: 1 })
        await session.anybody({
          kind: 'document-put',
          ...document,
          expectedRevision: 0,
          value: 'b',
        })
        await expectConflict(
          session.anybody({ kind: 'document-put', ...document, expectedRevision: 1, value: 'c' }),
          'document-revision',
        )
        expect((await store.document(session.sessionId, 'c', 'k'))?.revision).toBeGreaterThan(1)
      }))

    it('is swapped by one of many who try at once', () =>
      inSession(async (session) => {
        const outcomes = await Promise.allSettled(
          Array.from({ length: 10 }, (_, index) =>
            session.anybody({
              kind: 'document-put',
              collection: 'c',
              key: 'k',
              expectedRevision: 0,
              value: String(index),
            }),
          ),
        )
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      }))

    it('is listed by key in the order of code points, page by page', () =>
      inSession(async (session, store) => {
        const keys = ['B', 'a', 'b', '\u{1f600}', '\uffee', 'é', '1']
        for (const key of keys) {
          await session.anybody({
            kind: 'document-put',
            collection: 'c',
            key,
            expectedRevision: 0,
            value: key,
          })
        }
        await session.anybody({
          kind: 'document-put',
          collection: 'other',
          key: 'x',
          expectedRevision: 0,
          value: 'x',
        })
        const found: string[] = []
        let after: string | undefined
        do {
          const page = await store.documents(session.sessionId, 'c', {
            limit: 3,
            ...(after === undefined ? {} : { after }),
          })
          found.push(...page.items.map(({ value }) => value))
          after = page.next
        } while (after !== undefined)
        expect(found).toEqual(['1', 'B', 'a', 'b', 'é', '\uffee', '\u{1f600}'])
        await expectCode(store.documents(session.sessionId, 'c', { limit: 0 }), 'arguments_invalid')
      }))
  })
}
