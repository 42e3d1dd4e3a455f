// The real engine over a store in memory, with processes that can die at any commit.
import { isTerminal, streamIdOf, unansweredInterrupts } from '@holdfast/core'
import type {
  AnyWorkflowDefinition,
  JsonValue,
  OpenInterrupt,
  Store,
  StoredRun,
  System,
} from '@holdfast/core'
import { createEngine } from '@holdfast/engine'
import type { Engine, EngineSession } from '@holdfast/engine'
import { createMemoryDatabase } from '@holdfast/store-memory'
import { createManualSystem, createRecordingLog } from '@holdfast/testing'
import type { ManualSystem, RecordingLog } from '@holdfast/testing'

const sessionId = '00000000-0000-4000-8000-000000000001'
const runId = '01890000-0000-7000-8000-000000000001'

/** Where a process dies: instead of its n-th commit, or right after it, before it hears of it. */
export interface Death {
  readonly commit: number
  readonly when: 'before' | 'after'
}

/** How a run is driven. */
export interface EngineRunOptions {
  /** Made anew for each process, which shares nothing with the others but the store and the clock. */
  readonly definition: (system: System) => AnyWorkflowDefinition
  readonly input: JsonValue
  /** Of the first process, the second and so on; the last one lives. */
  readonly deaths?: readonly Death[]
  /** Answers an open interrupt; `undefined` leaves it open. */
  readonly answer?: (interrupt: OpenInterrupt) => JsonValue | undefined
  /** How much time passes between two looks at the run. Milliseconds. Default 0. */
  readonly stepMs?: number
  /** Called whenever the run is looked at. */
  readonly seen?: (run: StoredRun, session: EngineSession) => Promise<void> | void
}

/** What became of a run. */
export interface EngineRun {
  readonly run: StoredRun
  readonly output: JsonValue | undefined
  /** The chunks of each stream. */
  readonly streams: readonly (readonly JsonValue[])[]
  /** All of them, as a reader that follows the run gets them. */
  readonly chunks: readonly JsonValue[]
  /** Commits of the last process. */
  readonly commits: number
  readonly log: RecordingLog
}

/** Runs a definition to its end, through all deaths. */
export async function runOnEngine(options: EngineRunOptions): Promise<EngineRun> {
  const system = createManualSystem()
  const database = createMemoryDatabase({ system })
  const log = createRecordingLog()
  const deaths = [...(options.deaths ?? [])]
  let number = 0
  const begin = (): Process => {
    number += 1
    return startProcess({
      name: `node-${number}`,
      open: (node) => database.open({ node }),
      kill: (node) => database.kill(node),
      system,
      log,
      definitions: [options.definition(system)],
      death: deaths.shift(),
    })
  }
  let node = begin()
  const definition = options.definition(system)
  void node.session.start(definition, options.input, { runId }).catch(() => undefined)
  for (let turn = 0; turn < 4_000; turn += 1) {
    if (node.isDead()) {
      node = begin()
      const { session } = node
      const start = { runId, idempotencyKey: 'one' }
      const known = await node.store.run(sessionId, runId)
      if (known === undefined)
        void session.start(definition, options.input, start).catch(() => undefined)
    }
    if (options.stepMs !== undefined) await system.advance(options.stepMs)
    await system.settle(2)
    if (node.isDead()) continue
    const run = await node.store.run(sessionId, runId)
    if (run === undefined) continue
    await options.seen?.(run, node.session)
    if (isTerminal(run.record.status)) return ended(node, run, log)
    // A person answers once the run rests and asks.
    if (run.record.status !== 'interrupted') continue
    for (const interrupt of unansweredInterrupts(run)) {
      const payload = options.answer?.(interrupt)
      if (payload === undefined) continue
      void node.session.supervisor
        .resume({ runId, interruptId: interrupt.id, payload, by: { kind: 'person' } })
        .catch(() => undefined)
    }
  }
  const told = log.records.map(({ event, cause }) => `${event} ${String(cause)}`)
  throw new Error(`The run did not end. ${told.slice(-10).join('; ')}`)
}

async function ended(node: Process, run: StoredRun, log: RecordingLog): Promise<EngineRun> {
  const streams: (readonly JsonValue[])[] = []
  for (let number = 1; number <= run.record.stream; number += 1) {
    const streamId = streamIdOf(runId, number)
    const page = await node.store.streamPage(sessionId, streamId, { from: 0, limit: 1_000 })
    streams.push((page?.chunks ?? []).map(({ data }) => JSON.parse(data) as JsonValue))
  }
  const output = await node.session.supervisor.output(runId)
  const commits = node.commits()
  await node.engine.close()
  return { run, output, streams, chunks: streams.flat(), commits, log }
}

interface Process {
  readonly engine: Engine
  readonly session: EngineSession
  readonly store: Store
  readonly isDead: () => boolean
  readonly commits: () => number
}

function startProcess(parts: {
  readonly name: string
  readonly open: (node: string) => Store
  readonly kill: (node: string) => void
  readonly system: ManualSystem
  readonly log: RecordingLog
  readonly definitions: readonly AnyWorkflowDefinition[]
  readonly death: Death | undefined
}): Process {
  const { name, system, log, definitions, death } = parts
  let isDead = false
  let commits = 0
  const store = parts.open(name)
  const die = (): Promise<never> => {
    isDead = true
    parts.kill(name)
    return new Promise<never>(() => undefined)
  }
  const commit: Store['commit'] = async (...given) => {
    commits += 1
    if (death?.commit === commits && death.when === 'before') return die()
    const receipt = await store.commit(...given)
    return death?.commit === commits && death.when === 'after' ? die() : receipt
  }
  const mortalStore = new Proxy(store, {
    get(target, property) {
      if (property === 'commit') return commit
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const mortalSystem: System = {
    now: () => system.now(),
    next: () => system.next(),
    runId: () => system.runId(),
    uuid: () => system.uuid(),
    shortId: () => system.shortId(),
    after: (delayMs, run) => system.after(delayMs, () => isDead || run()),
    macrotask: (run) => system.macrotask(() => isDead || run()),
  }
  const engine = createEngine({ store: mortalStore, definitions, system: mortalSystem, log })
  return {
    engine,
    store,
    session: engine.session(sessionId),
    isDead: () => isDead,
    commits: () => commits,
  }
}
