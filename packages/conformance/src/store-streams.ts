import { streamIdOf } from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { describe, expect, it } from 'vitest'
import { expectCode, expectConflict, sharedDatabase } from './store-fixture.ts'
import type { StoreTarget } from './store-target.ts'

/** Streams: their order, their end, and reads from any index. */
export function describeStreams(target: StoreTarget): void {
  describe('a stream', () => {
    const inSession = sharedDatabase(target)

    it('exists from its first append on, and takes the next index only', () =>
      inSession(async (session, store) => {
        const runId = await session.start()
        const append = (expectedNext: number, ...texts: string[]) =>
          session.write({
            kind: 'stream-append',
            streamId: runId,
            expectedNext,
            chunks: texts.map((data) => ({ data })),
          })
        expect((await expectConflict(append(1, 'x'), 'stream-index')).actual).toBe(0)
        expect(await store.streamHead(session.sessionId, runId)).toBeUndefined()
        await append(0, '0', '1')
        expect((await expectConflict(append(1, 'x'), 'stream-index')).actual).toBe(2)
        await append(2, '2')
        expect(await store.streamHead(session.sessionId, runId)).toEqual({ first: 0, next: 3 })
      }))

    it('is closed once, in one of four ways, with its last chunk or without any', () =>
      inSession(async (session, store) => {
        const runId = await session.start()
        const ends = ['completed', 'interrupted', 'cancelled', 'failed'] as const
        for (const [index, end] of ends.entries()) {
          const streamId = streamIdOf(runId, index + 1)
          if (index > 0) {
            await session.write({
              kind: 'stream-append',
              streamId,
              expectedNext: 0,
              chunks: [{ data: '0' }],
            })
          }
          await session.write({ kind: 'stream-close', streamId, end })
          expect(await store.streamHead(session.sessionId, streamId)).toEqual({
            first: 0,
            next: index === 0 ? 0 : 1,
            end,
          })
          await expectConflict(
            session.write({ kind: 'stream-close', streamId, end: 'completed' }),
            'stream-closed',
          )
          await expectConflict(
            session.write({ kind: 'stream-append', streamId, expectedNext: 1, chunks: [] }),
            'stream-closed',
          )
        }
      }))

    it('belongs to a run that exists', () =>
      inSession(async (session) => {
        await expectConflict(
          session.write({ kind: 'stream-close', streamId: system.runId(), end: 'failed' }),
          'run-absent',
        )
        await expectCode(
          session.write({ kind: 'stream-close', streamId: 'x', end: 'failed' }),
          'id_invalid',
        )
      }))

    it('gives from every index exactly what was stored behind it, however it was appended', () =>
      inSession(async (session, store) => {
        const runId = await session.start()
        const chunks = [
          { data: '{"type":"start"}', tag: 'engine' },
          { data: '"line\\nfeed"', tag: 'engine' },
          { data: '{\n  "pretty": true\n}' },
          { data: '' },
          { data: '"ü\u{1f600}"', tag: 'step-1/1' },
          { data: '\u0001odd', tag: '\u0001odd' },
          { data: '"a"', tag: 'step-1/2' },
          { data: '"b"', tag: 'step-1/2' },
          { data: `"${'x'.repeat(70_000)}"` },
          { data: '"end"' },
        ]
        const cuts = [0, 1, 2, 3, 6, 8, 10]
        for (const [index, from] of cuts.slice(0, -1).entries()) {
          await session.write({
            kind: 'stream-append',
            streamId: runId,
            expectedNext: from,
            chunks: chunks.slice(from, cuts[index + 1]),
          })
        }
        for (let from = 0; from <= chunks.length + 1; from += 1) {
          for (const limit of [1, 3, 1_000]) {
            expect(await store.streamPage(session.sessionId, runId, { from, limit })).toEqual({
              head: { first: 0, next: chunks.length },
              from,
              chunks: chunks.slice(from, from + limit),
            })
          }
        }
        await expectCode(
          store.streamPage(session.sessionId, runId, { from: -1, limit: 1 }),
          'arguments_invalid',
        )
        await expectCode(
          store.streamPage(session.sessionId, runId, { from: 0, limit: 1_001 }),
          'arguments_invalid',
        )
      }))

    it('gives pages of about a MiB, and always one chunk', () =>
      inSession(async (session, store) => {
        const runId = await session.start()
        const large = `"${'x'.repeat(700_000)}"`
        await session.write({
          kind: 'stream-append',
          streamId: runId,
          expectedNext: 0,
          chunks: [{ data: large }, { data: large }, { data: '1' }, { data: '2' }],
        })
        const read = async (from: number) =>
          (await store.streamPage(session.sessionId, runId, { from, limit: 1_000 }))?.chunks.length
        expect(await read(0)).toBe(1)
        expect(await read(1)).toBe(3)
      }))
  })
}
