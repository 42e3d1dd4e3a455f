// The SQLite store against the raw sync of the same moment, grouped commits and reads by hand.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteStore } from '@holdfast/store-sqlite'
import type { Store } from '@holdfast/core'
import { groupedByHand } from './grouped-by-hand.ts'
import { cpuOf, percentile, rawSync, report, row, withFolder } from './measure.ts'
import type { Report } from './measure.ts'
import { appendStep, createRun, record500 } from './session-commits.ts'
import { postgresRows } from './store-postgres.ts'
import { readRatios } from './store-reads.ts'

const rounds = 5
const callers = 50
const steps = 200
const streams = 200

export async function run(): Promise<Report> {
  const figures = {
    raw: [] as number[],
    single: [] as number[],
    grouped: [] as number[],
    byHand: [] as number[],
    delay: [] as number[],
    growth: [] as number[],
    key: [] as number[],
    journal: [] as number[],
    stream: [] as number[],
    tail: [] as number[],
    cores: [] as number[],
  }
  for (let round = 0; round < rounds; round += 1) {
    await withFolder(async (folder) => {
      const path = join(folder, 'store.db')
      const store = await openSqliteStore({ path })
      const { above, raw } = await oneAtATime(store)
      figures.single.push(above)
      figures.raw.push(raw)
      const many = await manyAtOnce(store, join(folder, 'by-hand.db'))
      figures.grouped.push(many.stepsASecond / rawSync().rate)
      figures.byHand.push(many.stepsASecond / many.byHand)
      figures.delay.push(many.loopDelayP99)
      const reads = await readRatios(store, path)
      figures.key.push(reads.key)
      figures.journal.push(reads.journal)
      figures.stream.push(reads.stream)
      const { p99, cores } = await storedBeforeSeen(store)
      figures.tail.push(p99)
      figures.cores.push(cores)
      await store.close()
      figures.growth.push(await growth(join(folder, 'growth.db')))
    })
  }
  return report('store', [
    row('raw-sync', '1/s', figures.raw),
    row('commit-over-raw-sync-p50', 'ms', figures.single, { atMost: 0.1 }),
    row('steps-a-raw-sync-at-50', 'ratio', figures.grouped, { atLeast: 8 }),
    row('steps-by-hand-at-50', 'ratio', figures.byHand, { atLeast: 0.7 }),
    row('loop-delay-p99-at-50', 'ms', figures.delay, { atMost: 20 }),
    row('chunk-stored-before-seen-p99', 'ms', figures.tail, { atMost: 50 }),
    row('chunk-cores', 'cores', figures.cores, { atMost: 1 }),
    row('read-by-key-bare', 'ratio', figures.key, { atMost: 1.2 }),
    row('read-journal-page-bare', 'ratio', figures.journal, { atMost: 1.2 }),
    row('read-stream-page-bare', 'ratio', figures.stream, { atMost: 1.2 }),
    row('bytes-a-byte-stored', 'ratio', figures.growth, { atMost: 1.5 }),
    ...(await postgresRows()),
  ])
}

/** One commit at a time, by turns with raw syncs: how much its p50 lies above theirs. Milliseconds. */
async function oneAtATime(store: Store): Promise<{ readonly above: number; readonly raw: number }> {
  const target = await createRun(store)
  const times: number[] = []
  const syncs: number[] = []
  const rates: number[] = []
  let revision = 1
  for (let turn = 0; turn < 9; turn += 1) {
    for (let index = 0; index < 60; index += 1) {
      const before = performance.now()
      await appendStep(store, target, revision)
      revision += 1
      if (turn > 0) times.push(performance.now() - before)
    }
    const sync = rawSync(50)
    syncs.push(sync.p50)
    rates.push(sync.rate)
  }
  return { above: percentile(times, 0.5) - percentile(syncs, 0.5), raw: percentile(rates, 0.5) }
}

/** 50 callers, each one step after the other: through the store and by hand, by turns. */
async function manyAtOnce(
  store: Store,
  path: string,
): Promise<{
  readonly stepsASecond: number
  readonly byHand: number
  readonly loopDelayP99: number
}> {
  const targets = await Promise.all(Array.from({ length: callers }, () => createRun(store)))
  const hand = groupedByHand(path)
  const rates = { store: [] as number[], hand: [] as number[] }
  const monitor = monitorEventLoopDelay({ resolution: 1 })
  for (let turn = 0; turn < 6; turn += 1) {
    const first = turn * steps
    if (turn > 0) monitor.enable()
    const throughStore = await rateOf(targets.length, async (caller) => {
      const target = targets[caller]
      if (target === undefined) return
      for (let index = 1; index <= steps; index += 1) {
        await appendStep(store, target, first + index)
      }
    })
    monitor.disable()
    const throughHand = await rateOf(callers, async (caller) => {
      for (let index = 0; index < steps; index += 1) {
        await hand.append(caller, first + index, record500())
      }
    })
    // The first turn makes both warm.
    if (turn === 0) continue
    rates.store.push(throughStore)
    rates.hand.push(throughHand)
  }
  await hand.close()
  return {
    stepsASecond: percentile(rates.store, 0.5),
    byHand: percentile(rates.hand, 0.5),
    loopDelayP99: monitor.percentile(99) / 1e6,
  }
}

async function rateOf(count: number, call: (caller: number) => Promise<void>): Promise<number> {
  const before = performance.now()
  await Promise.all(Array.from({ length: count }, (_, caller) => call(caller)))
  return (count * steps) / ((performance.now() - before) / 1_000)
}

/**
 * 200 streams, a chunk each 10 ms, for two seconds. As an engine does, a stream commits what has come
 * while its commit before was under way. From a chunk's making to its being durable, p99, and the
 * processor time of all of it.
 */
async function storedBeforeSeen(
  store: Store,
): Promise<{ readonly p99: number; readonly cores: number }> {
  const targets = await Promise.all(Array.from({ length: streams }, () => createRun(store)))
  const times: number[] = []
  const before = performance.now()
  const end = before + 2_000
  const spent = await cpuOf(async () => {
    await Promise.all(
      targets.map(async ({ sessionId, runId, epoch }, place) => {
        let next = 0
        // Spread over the 10 ms, each chunk has its moment, whenever this loop gets to it.
        let due = before + (place / streams) * 10
        while (due < end) {
          const wait = due - performance.now()
          if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
          const made: number[] = []
          for (const now = performance.now(); due <= now; due += 10) made.push(due)
          if (made.length === 0) continue
          await store.commit({
            sessionId,
            fence: { epoch },
            urgency: 'chunks',
            writes: [
              {
                kind: 'stream-append',
                streamId: runId,
                expectedNext: next,
                chunks: made.map(() => ({
                  data: '{"type":"text-delta","id":"t","delta":"word "}',
                })),
              },
            ],
          })
          next += made.length
          const seen = performance.now()
          for (const moment of made) times.push(seen - moment)
        }
      }),
    )
  })
  return { p99: percentile(times, 0.99), cores: spent / (performance.now() - before) }
}

/** Bytes of the closed file for each byte of 500-byte records, beyond what the file began with. */
async function growth(path: string): Promise<number> {
  const store = await openSqliteStore({ path })
  const targets = await Promise.all(Array.from({ length: callers }, () => createRun(store)))
  await store.close()
  const before = statSync(path).size
  const again = await openSqliteStore({ path })
  let stored = 0
  await Promise.all(
    targets.map(async ({ sessionId, runId }) => {
      const { epoch } = await again.claimSession(sessionId)
      for (let revision = 1; revision <= steps; revision += 1) {
        const data = record500()
        stored += data.length
        await again.commit({
          sessionId,
          fence: { epoch },
          writes: [{ kind: 'journal-append', runId, revision, data }],
        })
      }
    }),
  )
  await again.close()
  return (statSync(path).size - before) / stored
}
