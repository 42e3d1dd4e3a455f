import { streamIdOf } from '@holdfast/core'
import type { Store } from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { describe, expect, it } from 'vitest'
import { digest, expectCode, expectConflict, onSession, SessionFixture } from './store-fixture.ts'
import type { StoreTarget } from './store-target.ts'

/** Opening: several at once, and after everything was closed. */
export function describeOpening(target: StoreTarget): void {
  describe('a database', () => {
    it('that is empty is opened by several at once, and is one', async () => {
      const database = await target.create()
      try {
        const opening = await Promise.allSettled([
          database.open(),
          database.openClient(),
          database.open(),
          database.openClient(),
        ])
        const opened: Store[] = []
        for (const outcome of opening) {
          if (outcome.status === 'fulfilled') opened.push(outcome.value)
          // One owner at a time: who comes second is told so.
          else expect(outcome).toMatchObject({ reason: { code: 'store_owned' } })
        }
        const owners = opened.filter(({ node }) => node !== undefined)
        expect(owners).toHaveLength(target.capabilities.owners === 'one' ? 1 : 2)
        expect(opened.length - owners.length).toBe(2)
        const sessionId = system.uuid()
        await Promise.all(
          opened.map((store, index) =>
            store.commit({
              sessionId,
              writes: [
                {
                  kind: 'log-append',
                  log: 'l',
                  key: String(index),
                  value: '1',
                  onFailure: 'fail',
                },
              ],
            }),
          ),
        )
        for (const store of opened) {
          const page = await store.logPage(sessionId, 'l', { from: 0, limit: 9 })
          expect(page.next).toBe(opened.length)
        }
      } finally {
        await database.destroy()
      }
    })

    // oxlint-disable-next-line vitest/no-conditional-tests -- a test that cannot apply is none, not a skipped one
    if (target.capabilities.durable) {
      it('has its tombstones, its closed logs and its ended streams again when it is opened', () =>
        onSession(target, async (session, store, database) => {
          const { sessionId } = session
          const gone = await session.start({ status: 'failed' }, 'gone')
          const kept = await session.start({ status: 'running' })
          await session.write(
            { kind: 'stream-append', streamId: gone, expectedNext: 0, chunks: [{ data: '1' }] },
            { kind: 'stream-close', streamId: kept, end: 'interrupted' },
            { kind: 'log-append', log: 'l', key: 'k', value: '1', onFailure: 'fail' },
            { kind: 'log-close', log: 'l' },
            {
              kind: 'document-put',
              collection: 'c',
              key: 'k',
              expectedRevision: 0,
              value: '1',
            },
          )
          await session.write(
            { kind: 'run-purge', runId: gone },
            { kind: 'document-delete', collection: 'c', key: 'k', expectedRevision: 1 },
          )
          await store.close()
          const second = await database.open()
          const again = await SessionFixture.claim(second, sessionId)
          await expectCode(second.streamHead(sessionId, gone), 'stream_gone')
          await expectCode(second.streamHead(sessionId, streamIdOf(gone, 3)), 'stream_gone')
          expect(await expectConflict(again.start({}, 'gone'), 'run-purged')).toMatchObject({
            runId: gone,
            inputDigest: digest,
          })
          await expectConflict(again.start({ id: gone }), 'run-purged')
          expect(await second.streamHead(sessionId, kept)).toEqual({
            first: 0,
            next: 0,
            end: 'interrupted',
          })
          await expectConflict(
            again.write({ kind: 'stream-append', streamId: kept, expectedNext: 0, chunks: [] }),
            'stream-closed',
          )
          const append = { kind: 'log-append', log: 'l', value: '1', onFailure: 'fail' } as const
          await expectConflict(again.anybody({ ...append, key: 'k' }), 'log-key-exists')
          await expectConflict(again.anybody({ ...append, key: 'k2' }), 'log-closed')
          const put = await again.anybody({
            kind: 'document-put',
            collection: 'c',
            key: 'k',
            expectedRevision: 0,
            value: '2',
          })
          // A revision of a document that was deleted never returns.
          const [result] = put.results
          expect(result?.kind === 'document' && result.revision > 1).toBe(true)
        }))
    }
  })
}
