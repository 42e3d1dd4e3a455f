// The PostgreSQL store against the raw sync of the same moment, and how soon another process sees a chunk.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Store } from '@holdfast/core'
import { openPostgresStore } from '@holdfast/store-postgres'
import { percentile, rawSync, row } from './measure.ts'
import type { Row } from './measure.ts'
import { withPostgres } from './postgres-server.ts'
import { appendStep, createRun } from './session-commits.ts'

const rounds = 3
const callers = 50
const tailProcess = fileURLToPath(new URL('postgres-tail-process.ts', import.meta.url))

/** The rows of the PostgreSQL store. */
export function postgresRows(): Promise<readonly Row[]> {
  return withPostgres(async (url) => {
    const store = await openPostgresStore({ connectionString: url })
    const single: number[] = []
    const grouped: number[] = []
    const tail: number[] = []
    await manyAtOnce(store, 20)
    for (let round = 0; round < rounds; round += 1) {
      single.push((await oneAtATime(store, 200)) / rawSync().p50)
      const before = rawSync().rate
      const rate = await manyAtOnce(store, 100)
      grouped.push(rate / ((before + rawSync().rate) / 2))
      tail.push(await tailElsewhere(store, url))
    }
    await store.close()
    return [
      row('postgres-commit-in-raw-syncs-p50', 'ratio', single),
      row('postgres-steps-a-raw-sync-at-50', 'ratio', grouped, { atLeast: 2 }),
      row('postgres-tail-elsewhere-p50', 'ms', tail, { atMost: 15 }),
    ]
  })
}

/** p50 of one commit at a time, in milliseconds. */
async function oneAtATime(store: Store, commits: number): Promise<number> {
  const target = await createRun(store)
  const times: number[] = []
  for (let revision = 1; revision <= commits; revision += 1) {
    const before = performance.now()
    await appendStep(store, target, revision)
    times.push(performance.now() - before)
  }
  return percentile(times, 0.5)
}

/** 50 callers, each one step after the other: steps a second. */
async function manyAtOnce(store: Store, steps: number): Promise<number> {
  const targets = await Promise.all(Array.from({ length: callers }, () => createRun(store)))
  const before = performance.now()
  await Promise.all(
    targets.map(async (target) => {
      for (let revision = 1; revision <= steps; revision += 1) {
        await appendStep(store, target, revision)
      }
    }),
  )
  return (callers * steps) / ((performance.now() - before) / 1_000)
}

/** A chunk each 10 ms, read by another process: p50 of the time from asking for its commit to its being seen. */
async function tailElsewhere(store: Store, url: string): Promise<number> {
  const { sessionId, runId, epoch } = await createRun(store)
  const chunks = 200
  const child = spawn(
    process.execPath,
    [...process.execArgv, tailProcess, url, sessionId, runId, String(chunks)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  const commits: Promise<unknown>[] = []
  for (let index = 0; index < chunks; index += 1) {
    const data = String(performance.timeOrigin + performance.now())
    commits.push(
      store.commit({
        sessionId,
        fence: { epoch },
        writes: [
          { kind: 'stream-append', streamId: runId, expectedNext: index, chunks: [{ data }] },
        ],
      }),
    )
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await Promise.all(commits)
  const { value } = await lines.next()
  return percentile(JSON.parse(String(value)) as number[], 0.5)
}
