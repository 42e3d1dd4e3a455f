import { inboxOf } from '@holdfast/core'
import type { Store } from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { describe, expect, it } from 'vitest'
import { expectCode, onSession } from './store-fixture.ts'
import type { StoreTarget } from './store-target.ts'

/** Reads beside writes, and the bounds of pages. */
export function describeReads(target: StoreTarget): void {
  describe('a read', () => {
    it('answers with what was so at one moment, in any handle, while it is written', () =>
      onSession(target, async (session, store, database) => {
        const { sessionId } = session
        const client = await database.openClient()
        const runId = await session.start({ status: 'running' })
        const total = 80
        let isWritten = false
        const write = async () => {
          for (let at = 1; at <= total; at += 1) {
            await session.write(
              { kind: 'journal-append', runId, revision: at, data: String(at), head: { at } },
              {
                kind: 'stream-append',
                streamId: runId,
                expectedNext: 2 * (at - 1),
                chunks: [{ data: String(at) }, { data: String(at) }],
              },
              session.toInbox(runId, `message/${at}`),
            )
          }
          isWritten = true
        }
        const read = async (handle: Store) => {
          let known = 0
          let seen = false
          while (!seen) {
            seen = isWritten
            const run = await handle.run(sessionId, runId)
            const at = (run?.journalNext ?? 0) - 1
            expect([run?.inboxNext, run?.unread.length]).toEqual([at, at])
            expect(run?.head).toEqual(at === 0 ? undefined : { at })
            const [listed] = (await handle.runs(sessionId)).items
            expect(listed?.inboxNext).toBe((listed?.journalNext ?? 0) - 1)
            const page = await handle.streamPage(sessionId, runId, { from: 0, limit: 1_000 })
            expect(page?.chunks ?? []).toHaveLength(page?.head.next ?? 0)
            const log = await handle.logPage(sessionId, inboxOf(runId), { from: 0, limit: 1_000 })
            expect(log.entries).toHaveLength(log.next)
            // What a commit has shown in one read, later reads show whole, and never less.
            const seenBy = [
              at,
              (listed?.journalNext ?? 0) - 1,
              (page?.head.next ?? 0) / 2,
              log.next,
            ]
            expect(seenBy).toEqual(seenBy.toSorted((one, other) => one - other))
            expect(at).toBeGreaterThanOrEqual(known)
            known = log.next
            await new Promise<void>((resolve) => system.macrotask(resolve))
          }
          expect(known).toBe(total)
        }
        await Promise.all([write(), read(store), read(client)])
      }))

    it('that is paged takes as many as it may give, and not one more', () =>
      onSession(target, async ({ sessionId }, store) => {
        const runId = system.runId()
        const pages: Readonly<
          Record<string, readonly [number, (limit: number) => Promise<unknown>]>
        > = {
          runs: [100, (limit) => store.runs(sessionId, { limit })],
          journal: [1_000, (limit) => store.journal(sessionId, runId, { from: 0, limit })],
          stream: [1_000, (limit) => store.streamPage(sessionId, runId, { from: 0, limit })],
          log: [1_000, (limit) => store.logPage(sessionId, 'l', { from: 0, limit })],
          documents: [1_000, (limit) => store.documents(sessionId, 'c', { limit })],
        }
        for (const [maximum, read] of Object.values(pages)) {
          await read(1)
          await read(maximum)
          for (const limit of [0, -1, 1.5, Number.NaN, maximum + 1]) {
            await expectCode(read(limit), 'arguments_invalid')
          }
        }
        for (const from of [-1, 0.5, Number.NaN]) {
          const request = { from, limit: 1 }
          await expectCode(store.journal(sessionId, runId, request), 'arguments_invalid')
          await expectCode(store.streamPage(sessionId, runId, request), 'arguments_invalid')
          await expectCode(store.logPage(sessionId, 'l', request), 'arguments_invalid')
        }
      }))
  })
}
