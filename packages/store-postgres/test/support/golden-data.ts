// What stands in a golden database, and what every later release must read from it.
import type { Commit, RunRecord, Store } from '@holdfast/core'
import { expect } from 'vitest'
import { runRecord } from '../crash-writer-data.ts'

/** When it was written, by the store's clock. */
export const goldenTime = 1_700_000_000_000

const sessionId = '0190a1b2-0000-7000-8000-0000000000a1'
const runId = '0190a1b2-0000-7000-8000-0000000000b1'
const purgedId = '0190a1b2-0000-7000-8000-0000000000b2'
const digest = 'ab'.repeat(32)
const bytes = new Uint8Array([0, 1, 254, 255])

const record: RunRecord = {
  ...runRecord(sessionId, runId),
  input: { digest, size: bytes.length },
  parked: true,
  wakeAt: goldenTime + 0.5,
}

const named: Commit = {
  sessionId,
  commitId: 'a name',
  writes: [
    {
      kind: 'log-append',
      log: 'inbox/' + runId,
      key: 'message/1',
      value: '"ü"',
      onFailure: 'fail',
    },
  ],
}

/** Writes it: something of every kind. */
export async function writeGolden(store: Store): Promise<void> {
  const { epoch } = await store.claimSession(sessionId)
  const fence = { epoch }
  await store.commit({
    sessionId,
    fence,
    writes: [
      { kind: 'input-put', digest, bytes },
      { kind: 'run-create', record, idempotencyKey: 'key' },
      { kind: 'journal-append', runId, revision: 0, data: '["seed"]' },
      { kind: 'journal-append', runId, revision: 1, data: '[1]', head: { step: 1 } },
      { kind: 'journal-append', runId, revision: 2, data: '[2]' },
      { kind: 'blob-put', runId, digest, bytes },
      {
        kind: 'stream-append',
        streamId: runId,
        expectedNext: 0,
        chunks: [{ data: '{"a":1}', tag: 't' }, { data: '"line\\n"' }],
      },
      { kind: 'stream-append', streamId: runId, expectedNext: 2, chunks: [{ data: '[\n3]' }] },
      { kind: 'stream-close', streamId: runId, end: 'interrupted' },
      { kind: 'log-append', log: 'closed', key: 'k', value: 'v', onFailure: 'fail' },
      { kind: 'log-close', log: 'closed' },
      { kind: 'document-put', collection: 'c', key: 'k', expectedRevision: 0, value: '{}' },
      { kind: 'document-put', collection: 'c', key: 'gone', expectedRevision: 0, value: '{}' },
      { kind: 'document-delete', collection: 'c', key: 'gone', expectedRevision: 1 },
    ],
  })
  await store.commit(named)
  const purged = { ...runRecord(sessionId, purgedId), status: 'completed' as const }
  await store.commit({
    sessionId,
    fence,
    writes: [
      { kind: 'run-create', record: purged, idempotencyKey: 'gone' },
      { kind: 'run-purge', runId: purgedId },
    ],
  })
  await store.releaseSession({ sessionId, epoch })
}

/** Reads it. */
export async function expectGolden(store: Store): Promise<void> {
  const from = { from: 0, limit: 10 }
  const run = await store.run(sessionId, runId)
  expect(run).toEqual({
    record,
    revision: 1,
    journalNext: 3,
    head: { step: 1 },
    inboxNext: 1,
    unread: ['message/1'],
  })
  expect(await store.runByIdempotencyKey(sessionId, 'key')).toEqual(run)
  expect((await store.runs(sessionId)).items).toEqual([run])
  expect(await store.input(sessionId, digest)).toEqual(bytes)
  expect(await store.blob(sessionId, runId, digest)).toEqual(bytes)
  expect(await store.journal(sessionId, runId, from)).toEqual([
    { revision: 0, data: '["seed"]' },
    { revision: 1, data: '[1]' },
    { revision: 2, data: '[2]' },
  ])
  expect(await store.streamPage(sessionId, runId, from)).toEqual({
    head: { first: 0, next: 3, end: 'interrupted' },
    from: 0,
    chunks: [{ data: '{"a":1}', tag: 't' }, { data: '"line\\n"' }, { data: '[\n3]' }],
  })
  expect(await store.logPage(sessionId, 'closed', from)).toEqual({
    entries: [{ sequence: 0, key: 'k', value: 'v' }],
    next: 1,
    closed: true,
  })
  expect(await store.logEntry(sessionId, 'inbox/' + runId, 'message/1')).toEqual({
    sequence: 0,
    key: 'message/1',
    value: '"ü"',
  })
  expect((await store.documents(sessionId, 'c', { limit: 10 })).items).toEqual([
    { key: 'k', revision: 1, value: '{}' },
  ])
  expect(await store.findWork(goldenTime, 10)).toEqual([sessionId])
  expect(await store.nextWake()).toBe(goldenTime + 0.5)
  await expect(store.streamHead(sessionId, purgedId)).rejects.toMatchObject({ code: 'stream_gone' })
}

/** What is written on top of it finds the heads, names and tombstones that it has. */
export async function expectGoldenGoesOn(store: Store): Promise<void> {
  expect(await store.commit(named)).toEqual({ results: [{ kind: 'log-appended', sequence: 0 }] })
  const claim = await store.claimSession(sessionId)
  expect(claim.epoch).toBe(2)
  const create = (id: string, idempotencyKey: string) =>
    store.commit({
      sessionId,
      writes: [{ kind: 'run-create', record: runRecord(sessionId, id), idempotencyKey }],
    })
  const fresh = '0190a1b2-0000-7000-8000-0000000000b3'
  const refused = (reason: string) => ({ code: 'store_conflict', facts: { reason } })
  await expect(create(fresh, 'key')).rejects.toMatchObject(refused('idempotency-key'))
  await expect(create(fresh, 'gone')).rejects.toMatchObject(refused('run-purged'))
  await expect(create(purgedId, 'other')).rejects.toMatchObject(refused('run-purged'))
  await create(fresh, 'other')
  expect(
    await store.commit({
      sessionId,
      fence: { epoch: claim.epoch },
      writes: [
        { kind: 'journal-append', runId, revision: 3, data: '[3]' },
        { kind: 'document-put', collection: 'c', key: 'gone', expectedRevision: 0, value: '{}' },
      ],
    }),
  ).toEqual({ results: [{ kind: 'done' }, { kind: 'document', revision: 3 }] })
}
