// The workflow tools on the engine and SQLite: reads in a session of 10,000 runs against one of 10, a
// read in process, and a start until its acknowledgement beside the raw sync of the same moment.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { RunReader } from '@holdfast/core'
import { createEngine } from '@holdfast/engine'
import { openSqliteStore } from '@holdfast/store-sqlite'
import { createWorkflowTools, workflowTool } from '@holdfast/tools'
import type { WorkflowToolName } from '@holdfast/tools'
import { defineWorkflow } from '@holdfast/workflow'
import { percentile, rawSync, report, row, withFolder } from './measure.ts'
import type { Report } from './measure.ts'

const rounds = 3
const few = 10
const many = 10_000
const atOnce = 100
const calls = 400
const starts = 100

const emptyFlow = defineWorkflow({
  name: 'empty_flow',
  version: 'v1',
  description: 'Ends at once.',
  input: { type: 'object', properties: {}, additionalProperties: false },
  run: () => null,
})

/** Calls a tool of one session. */
type Call = (name: WorkflowToolName, given: object) => Promise<string>

const reads: readonly WorkflowToolName[] = [
  'workflow_run_get',
  'workflow_run_list',
  'workflow_run_history',
]

export async function run(): Promise<Report> {
  const ratios = new Map<WorkflowToolName, number[]>(reads.map((name) => [name, []]))
  const times = new Map<WorkflowToolName, number[]>(reads.map((name) => [name, []]))
  const over: number[] = []
  const raw: number[] = []
  await withFolder(async (folder) => {
    const store = await openSqliteStore({ path: join(folder, 'bench.db') })
    const engine = createEngine({ store, definitions: [emptyFlow], limits: { maxWorkers: 64 } })
    const callIn = (sessionId: string): Call => {
      const supervisor = engine.supervisors.session(sessionId)
      const tools = createWorkflowTools({
        sessionId,
        catalog: engine.catalog,
        runs: store,
        supervisor,
      })
      return async (name, given) =>
        (await workflowTool(tools, name).invoke(JSON.stringify(given))).content[0].text
    }
    const [smallId, largeId, startingId] = [randomUUID(), randomUUID(), randomUUID()]
    const [small, large] = [callIn(smallId), callIn(largeId)]
    const [inSmall, inLarge] = [await fill(small, few), await fill(large, many)]
    await Promise.all([settled(store, smallId), settled(store, largeId)])
    for (let round = 0; round < rounds; round += 1) {
      for (const name of reads) {
        const { fewer, more } = await interleaved(name, [small, inSmall], [large, inLarge])
        times.get(name)?.push(fewer)
        ratios.get(name)?.push(more / fewer)
      }
      const sync = rawSync()
      raw.push(sync.rate)
      over.push((await startTime(callIn(startingId), () => settled(store, startingId))) - sync.p50)
    }
    await engine.close()
    await store.close()
  })
  const short = (name: WorkflowToolName): string => name.replace('workflow_run_', '')
  return report('tools', [
    row('raw-sync', '1/s', raw),
    ...reads.map((name) =>
      row(`${short(name)}-at-10000-against-10`, 'ratio', ratios.get(name) ?? [], { atMost: 1.5 }),
    ),
    // A page of ten runs or of one run's history, and one run: the reads that a model makes.
    ...reads.map((name) => row(`${short(name)}-p50`, 'ms', times.get(name) ?? [], { atMost: 0.2 })),
    row('start-over-raw-sync-p50', 'ms', over, { atMost: 0.3 }),
  ])
}

async function startOne(call: Call): Promise<string> {
  const started: { readonly run_id: string } = JSON.parse(
    await call('workflow_run_start', {
      definition_name: emptyFlow.name,
      definition_version: emptyFlow.version,
      input: {},
    }),
  )
  return started.run_id
}

/** Fills a session; gives a run in the middle of it. */
async function fill(call: Call, count: number): Promise<string> {
  const ids: string[] = []
  for (let at = 0; at < count; at += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, count - at) }, () => startOne(call))
    ids.push(...(await Promise.all(batch)))
  }
  return ids.toSorted()[Math.floor(count / 2)] ?? ''
}

/** Waits until the session's runs have ended, so that nothing executes while it is measured. */
async function settled(store: RunReader, sessionId: string): Promise<void> {
  for (;;) {
    const { items } = await store.runs(sessionId, { status: ['pending', 'running'], limit: 1 })
    if (items.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** p50 of a read in both sessions, call by call in turn, so that both meet the same machine. */
async function interleaved(
  name: WorkflowToolName,
  [small, inSmall]: readonly [Call, string],
  [large, inLarge]: readonly [Call, string],
): Promise<{ readonly fewer: number; readonly more: number }> {
  const given = (run_id: string): object =>
    name === 'workflow_run_list' ? { limit: few } : { run_id }
  const fewer: number[] = []
  const more: number[] = []
  for (let index = 0; index < calls; index += 1) {
    fewer.push(await timed(() => small(name, given(inSmall))))
    more.push(await timed(() => large(name, given(inLarge))))
  }
  return { fewer: percentile(fewer, 0.5), more: percentile(more, 0.5) }
}

/** p50 of a start until it is acknowledged, one at a time, each run having ended before the next. */
async function startTime(call: Call, rest: () => Promise<void>): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < starts; index += 1) {
    times.push(await timed(() => startOne(call)))
    await rest()
  }
  return percentile(times, 0.5)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now()
  await work()
  return performance.now() - before
}
