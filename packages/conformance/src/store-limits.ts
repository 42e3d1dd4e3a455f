import { Limits } from '@holdfast/core'
import type { StoreWrite } from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { describe, expect, it } from 'vitest'
import { digest, expectCode, onDatabase, onSession, runRecord } from './store-fixture.ts'
import type { StoreTarget } from './store-target.ts'

/** Bounds, to the byte. */
export function describeLimits(target: StoreTarget): void {
  describe('a limit', () => {
    it('holds to the byte for each kind of write, and nothing of a commit over it is written', () =>
      onSession(target, async (session, store) => {
        const { sessionId } = session
        const runId = await session.start({ status: 'running' })
        let revision = 0
        let next = 0
        let count = 0
        const fresh = () => `k${(count += 1)}`
        const kinds: Readonly<
          Record<string, { readonly limit: number; readonly of: (text: string) => StoreWrite }>
        > = {
          input: {
            limit: Limits.inputBytes,
            of: (text) => ({ kind: 'input-put', digest, bytes: new TextEncoder().encode(text) }),
          },
          blob: {
            limit: Limits.valueBytes,
            of: (text) => ({
              kind: 'blob-put',
              runId,
              digest,
              bytes: new TextEncoder().encode(text),
            }),
          },
          journal: {
            limit: Limits.valueBytes,
            of: (data) => ({ kind: 'journal-append', runId, revision: (revision += 1), data }),
          },
          chunk: {
            limit: Limits.chunkBytes,
            of: (data) => ({
              kind: 'stream-append',
              streamId: runId,
              expectedNext: next++,
              chunks: [{ data }],
            }),
          },
          log: {
            limit: Limits.valueBytes,
            of: (value) => ({
              kind: 'log-append',
              log: 'l',
              key: fresh(),
              value,
              onFailure: 'skip',
            }),
          },
          head: {
            limit: Limits.runRecordBytes,
            // As JSON text, whose frame takes the rest.
            of: (text) => ({
              kind: 'journal-append',
              runId,
              revision: (revision += 1),
              data: '[]',
              head: { t: text.slice('{"t":""}'.length / 2) },
            }),
          },
          document: {
            limit: Limits.documentBytes,
            of: (value) => ({
              kind: 'document-put',
              collection: 'c',
              key: fresh(),
              expectedRevision: 0,
              value,
            }),
          },
        }
        for (const [name, { limit, of }] of Object.entries(kinds)) {
          // Two bytes a character: what is counted is bytes.
          const fits = `${'é'.repeat(limit / 2 - 1)}xx`
          await session.write(of(fits))
          const marker = { kind: 'log-append', log: 'markers', key: name, value: '1' } as const
          await expectCode(
            session.write({ ...marker, onFailure: 'fail' }, of(`${fits}x`)),
            'limit_exceeded',
          )
          expect(await store.logEntry(sessionId, 'markers', name)).toBeUndefined()
          // What was asked for and refused has taken no number.
          if (name === 'journal' || name === 'head') revision -= 1
          if (name === 'chunk') next -= 1
        }
        const page = await store.logPage(sessionId, 'l', { from: 0, limit: 1 })
        expect(new TextEncoder().encode(page.entries[0]?.value).length).toBe(Limits.valueBytes)
      }))

    it('holds for names: not empty, and at most 512 bytes', () =>
      onSession(target, async (session) => {
        const { sessionId } = session
        const longest = 'é'.repeat(Limits.storageNameBytes / 2)
        const writes: readonly ((name: string) => StoreWrite)[] = [
          (log) => ({ kind: 'log-append', log, key: 'k', value: '1', onFailure: 'fail' }),
          (key) => ({ kind: 'log-append', log: 'l', key, value: '1', onFailure: 'fail' }),
          (log) => ({ kind: 'log-unchanged', log, expectedNext: log === longest ? 1 : 0 }),
          (log) => ({ kind: 'log-close', log }),
          (collection) => ({
            kind: 'document-put',
            collection,
            key: 'k',
            expectedRevision: 0,
            value: '1',
          }),
          (key) => ({
            kind: 'document-put',
            collection: 'c',
            key,
            expectedRevision: 0,
            value: '1',
          }),
          (idempotencyKey) => ({
            kind: 'run-create',
            record: runRecord(sessionId, system.runId()),
            idempotencyKey,
          }),
        ]
        for (const write of writes) {
          await session.write(write(longest))
          await expectCode(session.write(write(`${longest}x`)), 'limit_exceeded')
          await expectCode(session.write(write('')), 'arguments_invalid')
        }
        const runId = await session.start()
        let next = 0
        const named: readonly ((name: string) => Promise<unknown>)[] = [
          (commitId) => session.store.commit({ ...session.owned(), commitId }),
          (tag) =>
            session.write({
              kind: 'stream-append',
              streamId: runId,
              expectedNext: next++,
              chunks: [{ data: '1', tag }],
            }),
        ]
        for (const write of named) {
          await write(longest)
          await expectCode(write(`${longest}x`), 'limit_exceeded')
          await expectCode(write(''), 'arguments_invalid')
        }
        const page = await session.store.streamPage(sessionId, runId, { from: 0, limit: 9 })
        expect(page?.chunks).toEqual([{ data: '1', tag: longest }])
      }))

    it('holds to the byte for a run row, when it is created and when it is swapped', () =>
      onSession(target, async (session, store) => {
        const { sessionId } = session
        const bytes = (record: object) => new TextEncoder().encode(JSON.stringify(record)).length
        const runId = system.runId()
        const bare = { ...runRecord(sessionId, runId), statusSummary: '' }
        const room = Limits.runRecordBytes - bytes(bare)
        // Two bytes a character, and one more if the room is odd.
        const fits = 'é'.repeat(Math.floor(room / 2)) + 'x'.repeat(room % 2)
        const record = (statusSummary: string) => ({ ...bare, statusSummary })
        expect(bytes(record(fits))).toBe(Limits.runRecordBytes)
        const create = (statusSummary: string) =>
          session.anybody({ kind: 'run-create', record: record(statusSummary) })
        await expectCode(create(`${fits}x`), 'limit_exceeded')
        await create(fits)
        const swap = (statusSummary: string) =>
          session.write({ kind: 'run-swap', record: record(statusSummary), expectedRevision: 1 })
        await expectCode(swap(`${fits}x`), 'limit_exceeded')
        await swap(fits)
        expect(await store.run(sessionId, runId)).toMatchObject({
          record: record(fits),
          revision: 2,
        })
      }))

    it('holds for text: half a surrogate pair and U+0000 are refused, everything else is kept', () =>
      onSession(target, async (session, store) => {
        const put = (key: string, value: string) =>
          session.anybody({
            kind: 'log-append',
            log: 'l',
            key,
            value,
            onFailure: 'fail',
          })
        for (const text of ['\0', 'a\0b', '\ud800', 'x\udc00y']) {
          await expectCode(put(text, '1'), 'arguments_invalid')
          await expectCode(put('k', text), 'arguments_invalid')
        }
        const odd = '\u0001\u001f\u2028\ufffe\ufeff\u{10ffff}\r\n\t\\"\'%_'
        await put(odd, odd)
        expect(await store.logEntry(session.sessionId, 'l', odd)).toEqual({
          sequence: 0,
          key: odd,
          value: odd,
        })
      }))

    it('holds for a run row, and a row that does not fit its schema is never written', () =>
      onSession(target, async (session, store) => {
        const { sessionId } = session
        const runId = system.runId()
        const create = (change: object) =>
          session.anybody({
            kind: 'run-create',
            record: { ...runRecord(sessionId, runId), ...change },
          })
        await expectCode(create({ statusSummary: 'x'.repeat(66_000) }), 'limit_exceeded')
        await expectCode(create({ unknown: 1 }), 'arguments_invalid')
        await expectCode(create({ status: 'sleeping' }), 'arguments_invalid')
        await expectCode(create({ sessionId: system.uuid() }), 'arguments_invalid')
        expect(await store.run(sessionId, runId)).toBeUndefined()
      }))

    it('holds for ids and numbers', () =>
      onSession(target, async (session, store) => {
        const runId = await session.start({ status: 'running' })
        await expectCode(store.commit({ sessionId: 'x', writes: [] }), 'id_invalid')
        await expectCode(store.claimSession('x'), 'id_invalid')
        await expectCode(
          store.commit({ sessionId: session.sessionId.toUpperCase(), writes: [] }),
          'id_invalid',
        )
        await expectCode(
          session.write({ kind: 'journal-append', runId: 'x', revision: 1, data: '[]' }),
          'id_invalid',
        )
        for (const revision of [-1, 1.5, Number.NaN, 2 ** 53]) {
          await expectCode(
            session.write({ kind: 'journal-append', runId, revision, data: '[]' }),
            'arguments_invalid',
          )
        }
        await expectCode(
          session.anybody({ kind: 'input-put', digest: 'XYZ', bytes: new Uint8Array() }),
          'arguments_invalid',
        )
      }))

    it('holds for commits that wait: the next is refused, may be tried again, and loses none', () =>
      onDatabase(
        target,
        async (_database, store) => {
          const sessionId = system.uuid()
          const append = (key: number) =>
            store.commit({
              sessionId,
              writes: [
                { kind: 'log-append', log: 'l', key: String(key), value: '1', onFailure: 'fail' },
              ],
            })
          const outcomes = await Promise.allSettled(
            Array.from({ length: 12 }, (_, index) => append(index)),
          )
          const refused = outcomes.filter(({ status }) => status === 'rejected')
          expect(refused).toHaveLength(4)
          for (const outcome of refused) {
            expect(outcome).toMatchObject({
              reason: { code: 'store_unavailable', retryable: true },
            })
          }
          await append(99)
          expect((await store.logPage(sessionId, 'l', { from: 0, limit: 100 })).next).toBe(9)
        },
        { queueCommits: 8 },
      ))
  })
}
