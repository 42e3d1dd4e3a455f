import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { runRecordVersion } from '@holdfast/core'
import type { RunRecord, Store } from '@holdfast/core'
import { system } from '@holdfast/core/system'

/** A run in a session that this process owns, to which a benchmark appends. */
export interface BenchRun {
  readonly sessionId: string
  readonly runId: string
  readonly epoch: number
}

/** About 500 bytes of JSON, different each time. */
export function record500(): string {
  return JSON.stringify({ value: randomBytes(240).toString('hex') })
}

/** Creates a run with its seed, as a start does. */
export async function createRun(store: Store, sessionId = randomUUID()): Promise<BenchRun> {
  const { epoch } = await store.claimSession(sessionId)
  const runId = system.runId()
  const bytes = new TextEncoder().encode('{}')
  const digest = createHash('sha256').update(bytes).digest('hex')
  const now = Date.now()
  const record: RunRecord = {
    version: runRecordVersion,
    id: runId,
    sessionId,
    definition: { name: 'bench_flow', version: 'v1', digest },
    input: { digest, size: bytes.length },
    artifactNamespace: { sessionId, runId },
    status: 'running',
    parked: false,
    interrupts: [],
    artifacts: [],
    stream: 0,
    inboxReadThrough: 0,
    recoveries: 0,
    createdAt: now,
    updatedAt: now,
  }
  await store.commit({
    sessionId,
    fence: { epoch },
    writes: [
      { kind: 'input-put', digest, bytes },
      { kind: 'run-create', record },
      { kind: 'journal-append', runId, revision: 0, data: '{"seed":true}' },
    ],
  })
  return { sessionId, runId, epoch }
}

/** Appends one record to the run's journal and waits until it is durable. */
export async function appendStep(store: Store, run: BenchRun, revision: number): Promise<void> {
  await store.commit({
    sessionId: run.sessionId,
    fence: { epoch: run.epoch },
    writes: [{ kind: 'journal-append', runId: run.runId, revision, data: record500() }],
  })
}
