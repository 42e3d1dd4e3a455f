// What the engine's tests share: databases in memory, engines that can be killed, a recording log.
import type { AnyWorkflowDefinition, JsonValue, Store, System, Telemetry } from '@holdfast/core'
import { createMemoryDatabase } from '@holdfast/store-memory'
import type { MemoryDatabase } from '@holdfast/store-memory'
import { createManualSystem, createRecordingLog } from '@holdfast/testing'
import type { ManualSystem, RecordingLog } from '@holdfast/testing'
import { createEngine } from '../src/index.ts'
import type { Engine, EngineLimits, EngineSession } from '../src/index.ts'

export const sessionId = '00000000-0000-4000-8000-000000000001'
export const noInput = { type: 'object', additionalProperties: false, properties: {} } as const
export const anyJson = {
  type: 'object',
  additionalProperties: false,
  properties: { value: true },
} as const

export interface World {
  readonly database: MemoryDatabase
  readonly system: ManualSystem
  readonly log: RecordingLog
  /** Starts another engine, as a process of its own would. */
  engine(definitions: readonly AnyWorkflowDefinition[], options?: NodeOptions): Node
}

export interface NodeOptions {
  readonly node?: string
  readonly limits?: Partial<EngineLimits>
  readonly telemetry?: Telemetry
}

export interface Node {
  readonly engine: Engine
  readonly store: Store
  readonly session: EngineSession
  /** The process dies at once. */
  kill(): void
}

let nodes = 0

/** A world whose time stands still until it is moved. */
export function createWorld(): World {
  const system = createManualSystem()
  const database = createMemoryDatabase({ system })
  const log = createRecordingLog()
  return {
    database,
    system,
    log,
    engine: (definitions, options = {}) =>
      startNode({ database, system, log }, definitions, options),
  }
}

export function startNode(
  parts: {
    readonly database: MemoryDatabase
    readonly system: System
    readonly log: RecordingLog
  },
  definitions: readonly AnyWorkflowDefinition[],
  options: NodeOptions = {},
): Node {
  nodes += 1
  const node = options.node ?? `node-${nodes}`
  const { database, system, log } = parts
  const store = database.open({ node })
  let isAlive = true
  const mortal: System = {
    now: () => system.now(),
    next: () => system.next(),
    runId: () => system.runId(),
    uuid: () => system.uuid(),
    shortId: () => system.shortId(),
    after: (delayMs, run) => system.after(delayMs, () => isAlive && run()),
    macrotask: (run) => system.macrotask(() => isAlive && run()),
  }
  const engine = createEngine({
    store,
    definitions,
    system: mortal,
    log,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.telemetry === undefined ? {} : { telemetry: options.telemetry }),
  })
  return {
    engine,
    store,
    session: engine.session(sessionId),
    kill() {
      isAlive = false
      database.kill(node)
    },
  }
}

/** Lets time pass until something is so. Fails if it never is. */
export async function until(
  world: World,
  holds: () => boolean | Promise<boolean>,
  stepMs = 0,
): Promise<void> {
  for (let turn = 0; turn < 400; turn += 1) {
    if (await holds()) return
    if (stepMs > 0) await world.system.advance(stepMs)
    else await world.system.settle()
  }
  throw new Error(
    `what was waited for never came; ${JSON.stringify(world.log.records.map((r) => [r.event, String(r.cause)]))}`,
  )
}

/** Waits until a run has this status, without letting time pass. */
export async function untilStatus(
  world: World,
  run: { status(): Promise<{ readonly record: { readonly status: string } }> },
  status: string,
  stepMs = 0,
): Promise<void> {
  await until(world, async () => (await run.status()).record.status === status, stepMs)
}

/** A promise that a test settles. */
export function gate<Value = void>(): {
  readonly promise: Promise<Value>
  readonly open: (value: Value) => void
} {
  let open: (value: Value) => void = () => undefined
  const promise = new Promise<Value>((resolve) => {
    open = resolve
  })
  return { promise, open }
}

/** All chunks of a stream. */
export async function chunksOf(store: Store, streamId: string): Promise<readonly JsonValue[]> {
  const page = await store.streamPage(sessionId, streamId, { from: 0, limit: 1_000 })
  return (page?.chunks ?? []).map(({ data }) => JSON.parse(data) as JsonValue)
}
