import type { RunId, RunRecord, SessionId } from '@holdfast/core'

export const sessionIds = Array.from(
  { length: 4 },
  (_, index) => `0190a1b2-0000-7000-8000-00000000000${index + 1}`,
)

export const runIds = Array.from(
  { length: 4 },
  (_, index) => `0190a1b2-0000-7000-8000-00000000001${index}`,
)

export function runRecord(sessionId: SessionId, runId: RunId): RunRecord {
  return {
    version: 1,
    id: runId,
    sessionId,
    definition: { name: 'flow', version: 'v1', digest: 'd' },
    input: { digest: 'a'.repeat(64), size: 2 },
    artifactNamespace: { sessionId, runId },
    status: 'running',
    parked: false,
    interrupts: [],
    artifacts: [],
    stream: 0,
    inboxReadThrough: 0,
    recoveries: 0,
    createdAt: 1,
    updatedAt: 1,
  }
}
