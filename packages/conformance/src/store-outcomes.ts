import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { Commit, ConflictReason, Receipt, Store, StoreWrite } from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { describe, expect, it } from 'vitest'
import {
  digest,
  expectCode,
  expectConflict,
  onSession,
  runRecord,
  sharedDatabase,
} from './store-fixture.ts'
import type { SessionFixture } from './store-fixture.ts'
import type { StoreTarget } from './store-target.ts'

/** What a write that is made twice, without an id, is told the second time: harmless, or a conflict. */
const repeats: Readonly<
  Record<
    StoreWrite['kind'],
    readonly [(session: SessionFixture) => Promise<StoreWrite>, ConflictReason | 'harmless']
  >
> = {
  'input-put': [
    async () => ({ kind: 'input-put', digest, bytes: new Uint8Array([1]) }),
    'harmless',
  ],
  'blob-put': [
    async (session) => ({
      kind: 'blob-put',
      runId: await session.start(),
      digest,
      bytes: new Uint8Array([1]),
    }),
    'harmless',
  ],
  'run-create': [
    async ({ sessionId }) => ({
      kind: 'run-create',
      record: runRecord(sessionId, system.runId()),
    }),
    'run-exists',
  ],
  'run-swap': [
    async (session) => session.swapOf(await session.start(), { statusSummary: 'moved' }),
    'run-revision',
  ],
  'journal-append': [
    async (session) => ({
      kind: 'journal-append',
      runId: await session.start(),
      revision: 1,
      data: '[]',
    }),
    'journal-revision',
  ],
  'stream-append': [
    async (session) => ({
      kind: 'stream-append',
      streamId: await session.start(),
      expectedNext: 0,
      chunks: [{ data: '1' }],
    }),
    'stream-index',
  ],
  'stream-close': [
    async (session) => ({
      kind: 'stream-close',
      streamId: await session.start(),
      end: 'failed',
    }),
    'stream-closed',
  ],
  'log-append': [
    async () => ({ kind: 'log-append', log: 'l', key: 'k', value: '1', onFailure: 'fail' }),
    'log-key-exists',
  ],
  'log-close': [async () => ({ kind: 'log-close', log: 'l' }), 'harmless'],
  'log-unchanged': [async () => ({ kind: 'log-unchanged', log: 'l', expectedNext: 0 }), 'harmless'],
  'document-put': [
    async () => ({
      kind: 'document-put',
      collection: 'c',
      key: 'k',
      expectedRevision: 0,
      value: '1',
    }),
    'document-revision',
  ],
  'document-delete': [
    async (session) => {
      const document = { collection: 'c', key: 'k' } as const
      await session.anybody({
        kind: 'document-put',
        ...document,
        expectedRevision: 0,
        value: '1',
      })
      return { kind: 'document-delete', ...document, expectedRevision: 1 }
    },
    'document-revision',
  ],
  'run-purge': [
    async (session) => ({ kind: 'run-purge', runId: await session.start({ status: 'failed' }) }),
    'run-purged',
  ],
}

/** Commits whose acknowledgement is lost, and what a repeat finds. */
export function describeOutcomes(target: StoreTarget): void {
  describe('a commit of which nobody knows the outcome', () => {
    it.each(['was written', 'was not written'])(
      'is asked for again under its id, and answers as if nothing had happened: it %s',
      (outcome) =>
        onSession(target, async (session, store, database) => {
          const { sessionId } = session
          const runId = await session.start({ status: 'running' })
          const commit = {
            ...session.owned(
              { kind: 'journal-append', runId, revision: 1, data: '["step"]' },
              {
                kind: 'stream-append',
                streamId: runId,
                expectedNext: 0,
                chunks: [{ data: '1' }],
              },
              session.toInbox(runId, 'message/1'),
            ),
            commitId: 'step-1',
          }
          const lossy = losing(store, outcome === 'was written')
          await expectCode(lossy.commit(commit), 'store_outcome_unknown')
          const receipt: Receipt = {
            results: [{ kind: 'done' }, { kind: 'done' }, { kind: 'log-appended', sequence: 0 }],
          }
          expect(await store.commit(commit)).toEqual(receipt)
          expect(await store.commit(commit)).toEqual(receipt)
          // Another process knows the id too.
          const client = await database.openClient()
          expect(await client.commit(commit)).toEqual(receipt)
          expect(await store.run(sessionId, runId)).toMatchObject({
            journalNext: 2,
            inboxNext: 1,
          })
          expect(await store.streamHead(sessionId, runId)).toMatchObject({ next: 1 })
        }),
    )
  })

  describe('a commit of which nobody knows the outcome, and that has no id', () => {
    const inSession = sharedDatabase(target)

    for (const [kind, [make, told]] of Object.entries(repeats)) {
      it(`is written once if it is asked for again: ${kind}, ${told}`, () =>
        inSession(async (session, store) => {
          const write = await make(session)
          await expectCode(
            losing(store, true).commit(session.owned(write)),
            'store_outcome_unknown',
          )
          if (told === 'harmless') await session.write(write)
          else await expectConflict(session.write(write), told)
        }))
    }
  })
}

/** The store, with the acknowledgement of each commit lost on its way. */
function losing(store: Store, written: boolean): Pick<Store, 'commit'> {
  return {
    async commit(commit: Commit) {
      if (written) await store.commit(commit)
      throw new HoldfastError(ErrorCode.storeOutcomeUnknown, { message: 'It was lost.' })
    },
  }
}
