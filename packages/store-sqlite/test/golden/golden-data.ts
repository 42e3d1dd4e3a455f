// What golden files hold: some of everything that the port can store, from fixed data.
// Never changed: a file of a new version is written from the same, and read as the same.
import { createHash } from 'node:crypto'
import { inboxOf, streamIdOf } from '@holdfast/core'
import type { Commit, Receipt, RunId, RunRecord, Store, StoreWrite } from '@holdfast/core'

/** When golden files were written, by their own clock. */
export const goldenNow = 1_790_000_000_000

/** A session with runs of every status, and one with a single run. */
export const sessions = {
  full: '01900000-0000-7000-8000-0000000000aa',
  small: '01900000-0000-7000-8000-0000000000bb',
} as const

const runId = (number: number): RunId => `01900000-0000-7000-8000-${`${number}`.padStart(12, '0')}`

/** By what has become of them. */
export const runs = {
  pending: runId(1),
  running: runId(2),
  asleep: runId(3),
  interrupted: runId(4),
  completed: runId(5),
  cancelled: runId(6),
  failed: runId(7),
  purged: runId(8),
  child: runId(9),
  small: runId(10),
} as const

export const inputBytes = new TextEncoder().encode('{"text":"Grüße, 世界 🌍"}')
export const blobBytes = Uint8Array.from({ length: 3_000 }, (_, index) => (index * 7) % 256)

export const sha256 = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

/** The commit that golden files hold the receipt of. */
export const repeatable: Commit = {
  sessionId: sessions.full,
  commitId: 'golden-commit',
  writes: [
    { kind: 'log-append', log: 'chat/1', key: 'm3', value: '{"n":3}', onFailure: 'skip' },
    { kind: 'log-append', log: 'chat/1', key: 'm3', value: '{"n":3}', onFailure: 'skip' },
  ],
}

function record(id: RunId, change: Partial<RunRecord> = {}): RunRecord {
  const sessionId = id === runs.small ? sessions.small : sessions.full
  return {
    version: 1,
    id,
    sessionId,
    definition: { name: 'order_flow', version: 'v1', digest: 'definition-digest' },
    input: { digest: sha256(inputBytes), size: inputBytes.length },
    artifactNamespace: { sessionId, runId: id },
    status: 'pending',
    parked: false,
    interrupts: [],
    artifacts: [],
    stream: 0,
    inboxReadThrough: 0,
    recoveries: 0,
    createdAt: goldenNow - 1_000,
    updatedAt: goldenNow - 500,
    ...change,
  }
}

/** Writes it all to an empty store. */
export async function writeGolden(store: Store): Promise<void> {
  const { epoch } = await store.claimSession(sessions.full)
  const write = (...writes: StoreWrite[]): Promise<Receipt> =>
    store.commit({ sessionId: sessions.full, fence: { epoch }, writes })
  const start = (change: RunRecord, idempotencyKey?: string): Promise<Receipt> =>
    store.commit({
      sessionId: change.sessionId,
      writes: [
        { kind: 'input-put', digest: sha256(inputBytes), bytes: inputBytes },
        {
          kind: 'run-create',
          record: change,
          ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
        },
        { kind: 'journal-append', runId: change.id, revision: 0, data: `["seed","${change.id}"]` },
      ],
    })

  await start(record(runs.pending), 'key of the pending run')

  await start(
    record(runs.running, {
      status: 'running',
      executionId: 'execution',
      recoveries: 1,
      recoveredAt: 1,
    }),
  )
  const streamId = streamIdOf(runs.running, 1)
  for (let revision = 1; revision <= 5; revision += 1) {
    await write(
      {
        kind: 'journal-append',
        runId: runs.running,
        revision,
        data: JSON.stringify([revision, 'ü'.repeat(revision)]),
        ...(revision % 2 === 1 ? { head: { revision, progress: { done: revision, of: 5 } } } : {}),
      },
      {
        kind: 'stream-append',
        streamId,
        expectedNext: (revision - 1) * 3,
        chunks: [
          { data: `{"n":${revision}}`, tag: 'attempt-1' },
          { data: `{"line":"a\\nb"}`, tag: 'attempt-1' },
          { data: `{\n  "spread": ${revision}\n}`, ...(revision === 3 ? {} : { tag: 'other' }) },
        ],
      },
    )
  }
  await write(
    { kind: 'blob-put', runId: runs.running, digest: sha256(blobBytes), bytes: blobBytes },
    ...['message/m1', 'message/m2', 'cancel'].map((key): StoreWrite => ({
      kind: 'log-append',
      log: inboxOf(runs.running),
      key,
      value: JSON.stringify({ key }),
      onFailure: 'fail',
    })),
  )
  await write({
    kind: 'run-swap',
    expectedRevision: 1,
    record: record(runs.running, {
      status: 'running',
      executionId: 'execution',
      inboxReadThrough: 1,
      checkpoint: 2,
      artifacts: [{ id: 'invoice', kind: 'pdf', digest: sha256(blobBytes), size: 3_000 }],
      updatedAt: goldenNow,
    }),
  })

  await start(
    record(runs.asleep, {
      status: 'running',
      waitingFor: 'sleep',
      parked: true,
      wakeAt: goldenNow + 60_000.5,
    }),
  )

  await start(
    record(runs.interrupted, {
      status: 'interrupted',
      parked: true,
      statusSummary: 'Waits for an approval.',
      stream: 1,
      interrupts: [
        {
          id: 'interrupt-1',
          key: 'pay',
          revision: 0,
          answer: 'person',
          reason: 'It costs money.',
          schema: { type: 'object' },
          payload: { kind: 'tool-approval', toolName: 'pay', input: { euro: 5 } },
          openedAt: goldenNow,
        },
      ],
    }),
  )
  await write(
    {
      kind: 'stream-append',
      streamId: runs.interrupted,
      expectedNext: 0,
      chunks: [{ data: '{"type":"start"}' }],
    },
    { kind: 'stream-close', streamId: runs.interrupted, end: 'interrupted' },
    {
      kind: 'stream-append',
      streamId: streamIdOf(runs.interrupted, 2),
      expectedNext: 0,
      chunks: [{ data: '{"type":"start"}' }, { data: '{"type":"text"}' }],
    },
  )

  for (const status of ['completed', 'cancelled', 'failed'] as const) {
    await start(
      record(runs[status], {
        status,
        endedAt: goldenNow,
        ...(status === 'cancelled' ? { cancelRequested: true } : {}),
        ...(status === 'failed'
          ? { error: { code: 'step_failed', message: 'It failed.', retryable: false } }
          : {}),
      }),
      `key of the ${status} run`,
    )
    await write({ kind: 'stream-close', streamId: runs[status], end: status })
  }

  await start(
    record(runs.purged, { status: 'completed', endedAt: goldenNow }),
    'key of the purged run',
  )
  await write({ kind: 'run-purge', runId: runs.purged })

  await start(
    record(runs.child, {
      definition: { name: 'child_flow', version: 'v2', digest: 'another-digest' },
      parentRunId: runs.running,
      childOf: runs.running,
      retriedFrom: runs.failed,
      artifactNamespace: {
        sessionId: sessions.full,
        runId: runs.child,
        inputKind: 'parent',
        inputSessionId: sessions.full,
        inputRunId: runs.running,
      },
    }),
  )

  for (let index = 1; index <= 2; index += 1) {
    await write({
      kind: 'log-append',
      log: 'chat/1',
      key: `m${index}`,
      value: `{"n":${index}}`,
      onFailure: 'fail',
    })
  }
  await store.commit(repeatable)
  await write(
    { kind: 'log-append', log: 'chat/2', key: 'only', value: 'null', onFailure: 'fail' },
    { kind: 'log-close', log: 'chat/2' },
  )

  const document = { kind: 'document-put', collection: 'chats' } as const
  await write(
    { ...document, key: 'kept', expectedRevision: 0, value: '{"title":"first"}' },
    { ...document, key: 'gone', expectedRevision: 0, value: '{}' },
    { ...document, key: 'a/b ü', expectedRevision: 0, value: '[1,2.5,"é"]' },
  )
  await write(
    { ...document, key: 'kept', expectedRevision: 1, value: '{"title":"second"}' },
    { kind: 'document-delete', collection: 'chats', key: 'gone', expectedRevision: 1 },
  )

  await start(record(runs.small, { status: 'running', parked: true, waitingFor: 'message' }))
  await store.releaseSession({ sessionId: sessions.full, epoch })
}
