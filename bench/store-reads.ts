// Reads of a store against the statements that one would write by hand on the same tables.
import { DatabaseSync } from 'node:sqlite'
import type { Store } from '@holdfast/core'
import { appendStep, createRun } from './session-commits.ts'

/** How many times the bare statement's time a read takes: by key, of a journal's page, of a stream's. */
export interface ReadRatios {
  readonly key: number
  readonly journal: number
  readonly stream: number
}

const items = 100

/** Reads by turns through the store and by hand, in one process, so that both see the same machine. */
export async function readRatios(store: Store, path: string): Promise<ReadRatios> {
  const { sessionId, runId, epoch } = await createRun(store)
  for (let revision = 1; revision <= items; revision += 1) {
    await appendStep(store, { sessionId, runId, epoch }, revision)
  }
  const data = '{"type":"text-delta","id":"t","delta":"word "}'
  const value = JSON.stringify('x'.repeat(500))
  await store.commit({
    sessionId,
    fence: { epoch },
    writes: [
      { kind: 'document-put', collection: 'c', key: 'k', expectedRevision: 0, value },
      {
        kind: 'stream-append',
        streamId: runId,
        expectedNext: 0,
        chunks: Array.from({ length: items }, () => ({ data })),
      },
    ],
  })
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const session = '(select key from session where id = ?)'
    const run = `(select key from run where session = ${session} and id = ?)`
    const byKey = database.prepare(
      'select key, revision, value from document' +
        ` where session = ${session} and collection = ? and key = ?`,
    )
    const journal = database.prepare(
      `select revision, data from journal where run = ${run} and revision >= ?` +
        ' order by revision limit ?',
    )
    const stream = database.prepare(
      'select s.ended, c.first, c.next, c.data from stream s join chunk c on c.stream = s.key' +
        ` where s.run = ${run} and s.number = 1 and c.first >= ? order by c.first limit ?`,
    )
    return {
      key: await ratio(
        () => store.document(sessionId, 'c', 'k'),
        () => byKey.get(sessionId, 'c', 'k'),
      ),
      journal: await ratio(
        () => store.journal(sessionId, runId, { from: 0, limit: items }),
        () => journal.all(sessionId, runId, 0, items),
      ),
      stream: await ratio(
        () => store.streamPage(sessionId, runId, { from: 0, limit: items }),
        () =>
          stream
            .all(sessionId, runId, 0, items)
            .flatMap((row) => String(row['data']).split('\n'))
            .map((text) => ({ data: text })),
      ),
    }
  } finally {
    database.close()
  }
}

async function ratio(read: () => Promise<unknown>, bare: () => unknown): Promise<number> {
  const batch = 200
  let reading = 0
  let bareReading = 0
  for (let turn = -5; turn < 20; turn += 1) {
    const started = performance.now()
    for (let index = 0; index < batch; index += 1) await read()
    const between = performance.now()
    for (let index = 0; index < batch; index += 1) bare()
    const ended = performance.now()
    if (turn < 0) continue
    reading += between - started
    bareReading += ended - between
  }
  return reading / bareReading
}
