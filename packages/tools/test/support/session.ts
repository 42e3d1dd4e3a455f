import { expect } from 'vitest'
import { isHoldfastError } from '@holdfast/core'
import type {
  AnyWorkflowDefinition,
  HoldfastError,
  InvokableTool,
  JsonObject,
  SessionId,
  Store,
  StoredRun,
  Supervisor,
  ToolInvocation,
} from '@holdfast/core'
import { compileSchema, isJsonObject, parseStrictJson } from '@holdfast/json'
import { createManualSystem } from '@holdfast/testing'
import type { ManualSystem } from '@holdfast/testing'
import { createCatalog } from '@holdfast/workflow'
import { createWorkflowTools, workflowTool } from '../../src/index.ts'
import type { WorkflowToolName, WorkflowTools, WorkflowToolsConfig } from '../../src/index.ts'
import { allDefinitions } from './definitions.ts'
import { createSessionSupervisor, moveRun } from './session-supervisor.ts'
import type { RunMove } from './session-supervisor.ts'
import { storeOfTest } from './stores.ts'

export const sessionOne = '00000000-0000-4000-8000-000000000001'
export const sessionTwo = '00000000-0000-4000-8000-000000000002'

/** The tools of a session with all that is behind them. */
export interface Session {
  readonly sessionId: SessionId
  readonly store: Store
  readonly supervisor: Supervisor
  readonly system: ManualSystem
  readonly tools: WorkflowTools
  tool(name: WorkflowToolName): InvokableTool
  /** Calls a tool and gives its result, which must fit its published output schema and its bound. */
  call(name: WorkflowToolName, given: unknown, invocation?: ToolInvocation): Promise<JsonObject>
  /** The error that a call must end with. */
  refusal(
    name: WorkflowToolName,
    given: unknown,
    invocation?: ToolInvocation,
  ): Promise<HoldfastError>
  /** Starts a run through the tool and gives its id. */
  start(
    definition?: { readonly name: string; readonly version: string },
    input?: JsonObject,
  ): Promise<string>
  /** Starts a run recorded under another. */
  startUnder(parentRunId: string): Promise<string>
  /** A run of any definition, started by the host. */
  hostRun(name: string, input?: JsonObject): Promise<string>
  move(runId: string, move: RunMove): Promise<StoredRun>
}

/** What a test changes of the usual session. */
export interface SessionOptions extends Partial<WorkflowToolsConfig> {
  readonly definitions?: readonly AnyWorkflowDefinition[]
  readonly store?: Store
  /** Whether the bundle gets the store to watch. Default true. */
  readonly watches?: boolean
  /** Wraps the supervisor, to count its calls or break it. */
  readonly around?: (supervisor: Supervisor) => Supervisor
}

export function createSession(options: SessionOptions = {}): Session {
  const {
    definitions = allDefinitions,
    around = (given) => given,
    watches = true,
    store: givenStore,
    ...config
  } = options
  const system = createManualSystem()
  const sessionId = config.sessionId ?? sessionOne
  const store = givenStore ?? storeOfTest(system)
  const catalog = config.catalog ?? createCatalog(definitions)
  const supervisor = around(createSessionSupervisor(store, catalog, sessionId))
  const tools = createWorkflowTools({
    sessionId,
    catalog,
    runs: store,
    supervisor,
    ...(watches ? { watcher: store } : {}),
    timers: system,
    now: () => system.now(),
    newId: () => system.runId(),
    ...config,
  })
  const tool = (name: WorkflowToolName): InvokableTool => workflowTool(tools, name)
  const invoke = (name: WorkflowToolName, given: unknown, invocation?: ToolInvocation) =>
    tool(name).invoke(typeof given === 'string' ? given : JSON.stringify(given), invocation)
  const session: Session = {
    sessionId,
    store,
    supervisor,
    system,
    tools,
    tool,
    async call(name, given, invocation) {
      return checkedResult(tool(name), (await invoke(name, given, invocation)).content[0].text)
    },
    async refusal(name, given, invocation) {
      try {
        await invoke(name, given, invocation)
      } catch (error) {
        if (isHoldfastError(error)) return error
        throw error
      }
      throw new Error(`${name} was not refused`)
    },
    async start(definition = { name: 'counter_flow', version: 'v1' }, input = { count: 1 }) {
      const run = await session.call('workflow_run_start', {
        definition_name: definition.name,
        definition_version: definition.version,
        input,
      })
      return textOf(run, 'run_id')
    },
    async startUnder(parentRunId) {
      const run = await session.call('workflow_run_start', {
        definition_name: 'counter_flow',
        definition_version: 'v1',
        input: { count: 1 },
        parent_run_id: parentRunId,
      })
      return textOf(run, 'run_id')
    },
    async hostRun(name, input = {}) {
      const id = system.runId()
      const bytes = new TextEncoder().encode(JSON.stringify(input))
      await supervisor.start({ id, definition: { name, version: 'v1' } }, bytes)
      return id
    },
    move: (runId, move) => moveRun(store, sessionId, runId, move),
  }
  return session
}

/** Parses a result strictly and demands what every result promises. */
export function checkedResult(tool: InvokableTool, text: string): JsonObject {
  const { name, outputSchema } = tool.info()
  const bound = name === 'workflow_definition_list' ? 262_144 : 32_768
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bound)
  const value = parseStrictJson(text, { maxBytes: bound, maxProperties: 100_000 })
  const checked = compileSchema(outputSchema ?? {}).validate(value)
  expect(checked).toMatchObject({ ok: true })
  if (!isJsonObject(value)) throw new Error('A result is one object.')
  return value
}

export function textOf(object: JsonObject, name: string): string {
  const value = object[name]
  if (typeof value !== 'string') throw new Error(`${name} is no text`)
  return value
}
