// A process that writes until it is killed, and says on its output what was acknowledged.
import { openPostgresStore } from '../src/index.ts'
import { runIds, runRecord, sessionIds } from './crash-writer-data.ts'

const [connectionString = '', schema = '', leaseMs = ''] = process.argv.slice(2)
const store = await openPostgresStore({ connectionString, schema, leaseMs: Number(leaseMs) })

await Promise.all(
  sessionIds.map(async (sessionId, index) => {
    const runId = runIds[index] ?? ''
    const { epoch } = await store.claimSession(sessionId)
    const known = await store.run(sessionId, runId)
    if (known === undefined) {
      await store.commit({
        sessionId,
        writes: [
          { kind: 'run-create', record: runRecord(sessionId, runId) },
          { kind: 'journal-append', runId, revision: 0, data: '[0]' },
        ],
      })
    }
    for (let revision = known?.journalNext ?? 1; ; revision += 1) {
      // A step and its chunk are one commit: after the crash there are as many of one as of the other.
      await store.commit({
        sessionId,
        fence: { epoch },
        writes: [
          {
            kind: 'journal-append',
            runId,
            revision,
            data: JSON.stringify([revision, 'x'.repeat(300)]),
            head: { revision },
          },
          {
            kind: 'stream-append',
            streamId: runId,
            expectedNext: revision - 1,
            chunks: [{ data: JSON.stringify({ revision }) }],
          },
        ],
      })
      process.stdout.write(`${runId} ${revision}\n`)
    }
  }),
)
