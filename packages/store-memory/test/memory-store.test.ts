import type { RunRecord } from '@holdfast/core'
import { createManualSystem } from '@holdfast/testing'
import { expect, it } from 'vitest'
import { createMemoryDatabase, createMemoryStore } from '../src/index.ts'

const sessionId = '0190a1b2-0000-7000-8000-00000000000a'
const runId = '0190a1b2-0000-7000-8000-000000000001'
const digest = 'a'.repeat(64)

function record(change: Partial<RunRecord> = {}): RunRecord {
  return {
    version: 1,
    id: runId,
    sessionId,
    definition: { name: 'flow', version: 'v1', digest: 'd' },
    input: { digest, size: 2 },
    artifactNamespace: { sessionId, runId },
    status: 'pending',
    parked: false,
    interrupts: [],
    artifacts: [],
    stream: 0,
    inboxReadThrough: 0,
    recoveries: 0,
    createdAt: 1,
    updatedAt: 1,
    ...change,
  }
}

it('keeps nothing of what a caller holds', async () => {
  const store = createMemoryStore()
  const mutable = structuredClone<{ -readonly [K in keyof RunRecord]: RunRecord[K] }>(record())
  const bytes = new Uint8Array([1, 2])
  const writing = store.commit({
    sessionId,
    writes: [
      { kind: 'input-put', digest, bytes },
      { kind: 'run-create', record: mutable },
    ],
  })
  mutable.status = 'failed'
  bytes[0] = 9
  await writing
  expect((await store.run(sessionId, runId))?.record.status).toBe('pending')
  expect(await store.input(sessionId, digest)).toEqual(new Uint8Array([1, 2]))
  await store.close()
})

it('does nothing by the time that commit returns, and everything by the time it resolves', async () => {
  const system = createManualSystem({ macrotasks: 'manual' })
  const store = createMemoryStore({ system })
  const writing = store.commit({ sessionId, writes: [{ kind: 'run-create', record: record() }] })
  await Promise.resolve()
  expect(await store.run(sessionId, runId)).toBeUndefined()
  expect(system.runMacrotask()).toBe(true)
  await writing
  expect(await store.run(sessionId, runId)).toMatchObject({ revision: 1, journalNext: 0 })
})

it('loses what a killed node has not had acknowledged, and its handle is closed', async () => {
  const system = createManualSystem({ macrotasks: 'manual' })
  const database = createMemoryDatabase({ system })
  const first = database.open({ node: 'first' })
  const second = database.open({ node: 'second' })
  const writing = first.commit({ sessionId, writes: [{ kind: 'run-create', record: record() }] })
  const refused = writing.catch((error: unknown) => error)
  await Promise.resolve()
  database.kill('first')
  expect(await refused).toMatchObject({ code: 'store_closed' })
  while (system.runMacrotask()) await Promise.resolve()
  expect(await second.run(sessionId, runId)).toBeUndefined()
  await expect(first.run(sessionId, runId)).rejects.toMatchObject({ code: 'store_closed' })
})
