// The engine on SQLite: ten-step runs one at a time and 50 at once, beside the raw sync of the same moment.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createEngine } from '@holdfast/engine'
import type { EngineSession } from '@holdfast/engine'
import { openSqliteStore } from '@holdfast/store-sqlite'
import { defineWorkflow } from '@holdfast/workflow'
import { cpuOf, percentile, rawSync, report, row, withFolder } from './measure.ts'
import type { Report } from './measure.ts'

const rounds = 3
const steps = 10
const atOnce = 50

const input = {
  type: 'object',
  properties: { steps: { type: 'integer' } },
  required: ['steps'],
  additionalProperties: false,
} as const

const text = 'x'.repeat(200)

/** So many steps, one after the other, each with a result of 200 bytes. */
const stepsFlow = defineWorkflow({
  name: 'steps_flow',
  version: 'v1',
  description: 'Steps, one after the other.',
  input,
  async run(context, given) {
    for (let step = 0; step < given.steps; step += 1) await context.step(`step ${step}`, () => text)
    return given.steps
  },
})

export async function run(): Promise<Report> {
  const raw: number[] = []
  const single: number[] = []
  const grouped: number[] = []
  const cpu: number[] = []
  const delay: number[] = []
  const flat: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await withFolder(async (folder) => {
      const store = await openSqliteStore({ path: join(folder, 'bench.db') })
      const engine = createEngine({
        store,
        definitions: [stepsFlow],
        limits: { maxWorkers: 64 },
      })
      const session = engine.session(randomUUID())
      await tenStepRun(session)
      const before = rawSync()
      raw.push(before.rate)
      single.push((await oneAtATime(session)) - before.p50)
      const many = await manyAtOnce(session)
      grouped.push(many.stepsASecond / rawSync().rate)
      cpu.push(many.cpuMsARun)
      delay.push(many.loopDelayP99)
      flat.push(await lateAgainstEarly(session))
      await engine.close()
      await store.close()
    })
  }
  return report('engine', [
    row('raw-sync', '1/s', raw),
    row('commit-over-raw-sync-p50', 'ms', single, { atMost: 0.15 }),
    row('steps-a-raw-sync-at-50', 'ratio', grouped, { atLeast: 8 }),
    row('cpu-a-ten-step-run-at-50', 'ms', cpu, { atMost: 1 }),
    row('loop-delay-p99-at-50', 'ms', delay, { atMost: 20 }),
    row('step-1000-against-step-10', 'ratio', flat, { atMost: 1.2 }),
  ])
}

async function tenStepRun(session: EngineSession): Promise<void> {
  const handle = await session.start(stepsFlow, { steps })
  await handle.result()
}

/** p50 of one commit, in milliseconds: a run's time over its commits (start, steps, end). */
async function oneAtATime(session: EngineSession): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < 40; index += 1) {
    const before = performance.now()
    await tenStepRun(session)
    times.push((performance.now() - before) / (steps + 2))
  }
  return percentile(times, 0.5)
}

async function manyAtOnce(session: EngineSession): Promise<{
  readonly stepsASecond: number
  readonly cpuMsARun: number
  readonly loopDelayP99: number
}> {
  const waves = 20
  const monitor = monitorEventLoopDelay({ resolution: 1 })
  monitor.enable()
  const before = performance.now()
  const cpuMs = await cpuOf(async () => {
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let wave = 0; wave < waves; wave += 1) await tenStepRun(session)
      }),
    )
  })
  const seconds = (performance.now() - before) / 1_000
  monitor.disable()
  const runs = atOnce * waves
  return {
    stepsASecond: (runs * steps) / seconds,
    cpuMsARun: cpuMs / runs,
    loopDelayP99: monitor.percentile(99) / 1e6,
  }
}

/** The time of the steps around the 1,000th over that of the steps around the 10th. */
async function lateAgainstEarly(session: EngineSession): Promise<number> {
  const handle = await session.start(stepsFlow, { steps: 1_100 })
  await handle.result()
  const { activities } = await session.supervisor.history(handle.id, { limit: 60 })
  const late = await session.supervisor.history(handle.id, { afterRevision: 1_000, limit: 60 })
  const span = (page: typeof activities): number =>
    ((page.at(-1)?.occurredAt ?? 0) - (page[0]?.occurredAt ?? 0)) / Math.max(1, page.length - 1)
  return span(late.activities) / span(activities)
}
