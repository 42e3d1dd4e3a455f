// The SQLite store against the raw sync of the same moment and hand-written grouped commits.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { join } from 'node:path'
import { openSqliteStore } from '@holdfast/store-sqlite'
import type { Store } from '@holdfast/core'
import { percentile, rawSync, report, row, withFolder } from './measure.ts'
import type { Report } from './measure.ts'
import { appendStep, createRun } from './session-commits.ts'
import { postgresRows } from './store-postgres.ts'

const rounds = 3
const callers = 50

export async function run(): Promise<Report> {
  const raw: number[] = []
  const single: number[] = []
  const grouped: number[] = []
  const delay: number[] = []
  const tail: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await withFolder(async (folder) => {
      const store = await openSqliteStore({ path: join(folder, 'bench.db') })
      await oneAtATime(store, 50)
      const sync = rawSync()
      raw.push(sync.rate)
      single.push((await oneAtATime(store, 300)) - sync.p50)
      const { stepsASecond, loopDelayP99 } = await manyAtOnce(store)
      grouped.push(stepsASecond / rawSync().rate)
      delay.push(loopDelayP99)
      tail.push(await storedBeforeSeen(store))
      await store.close()
    })
  }
  return report('store', [
    row('raw-sync', '1/s', raw),
    row('commit-over-raw-sync-p50', 'ms', single, { atMost: 0.1 }),
    row('steps-a-raw-sync-at-50', 'ratio', grouped, { atLeast: 8 }),
    row('loop-delay-p99-at-50', 'ms', delay, { atMost: 20 }),
    row('chunk-stored-before-seen-p99', 'ms', tail, { atMost: 50 }),
    ...(await postgresRows()),
  ])
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

/** 50 callers, each one step after the other. */
async function manyAtOnce(
  store: Store,
): Promise<{ readonly stepsASecond: number; readonly loopDelayP99: number }> {
  const targets = await Promise.all(Array.from({ length: callers }, () => createRun(store)))
  const steps = 200
  const monitor = monitorEventLoopDelay({ resolution: 1 })
  monitor.enable()
  const before = performance.now()
  await Promise.all(
    targets.map(async (target) => {
      for (let revision = 1; revision <= steps; revision += 1) {
        await appendStep(store, target, revision)
      }
    }),
  )
  const seconds = (performance.now() - before) / 1_000
  monitor.disable()
  return { stepsASecond: (callers * steps) / seconds, loopDelayP99: monitor.percentile(99) / 1e6 }
}

/** 50 streams, a chunk each 10 ms: from the call to the chunk's being durable, p99. */
async function storedBeforeSeen(store: Store): Promise<number> {
  const targets = await Promise.all(Array.from({ length: callers }, () => createRun(store)))
  const times: number[] = []
  await Promise.all(
    targets.map(async (target) => {
      for (let index = 0; index < 100; index += 1) {
        const before = performance.now()
        await store.commit({
          sessionId: target.sessionId,
          fence: { epoch: target.epoch },
          urgency: 'chunks',
          writes: [
            {
              kind: 'stream-append',
              streamId: target.runId,
              expectedNext: index,
              chunks: [{ data: '{"type":"text-delta","id":"t","delta":"word "}' }],
            },
          ],
        })
        times.push(performance.now() - before)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }),
  )
  return percentile(times, 0.99)
}
