import { configurationInvalid, isUuid, Limits, wholeNumberOption } from '@holdfast/core'
import type {
  Catalog,
  DefinitionReference,
  InvokableTool,
  SessionId,
  Timers,
  Watcher,
} from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { definitionListTool } from './definition-list.ts'
import type { ToolRunReader } from './journaled-questions.ts'
import { offeredDefinitions } from './offered-definitions.ts'
import type { PrepareRun } from './prepare-run.ts'
import { runCancelTool } from './run-cancel.ts'
import { runGetTool } from './run-get.ts'
import { runHistoryTool } from './run-history.ts'
import { runListTool } from './run-list.ts'
import { runResumeTool } from './run-resume.ts'
import { runStartTool } from './run-start.ts'
import { sessionRuns } from './session-runs.ts'
import type { ToolContext, ToolExtensions, ToolSupervisor } from './tool-context.ts'
import { createWaiter } from './waiter.ts'

/** The smallest bound of a result that still holds every run's metadata. */
const smallestResultBytes = 16 * 1_024

/** What a bundle is made of. */
export interface WorkflowToolsConfig {
  /** Whose runs. Nothing of another session is reachable through the bundle. */
  readonly sessionId: SessionId
  /**
   * All definitions whose runs the session may hold, agents too: runs of those that are not offered
   * are protected, runs of those that nobody knows can be stopped.
   */
  readonly catalog: Catalog
  /**
   * Reads runs; a store is one. With its `journal` the schema of a question that the run's row was too
   * large for is shown and checked; without, the supervisor alone checks the answer.
   */
  readonly runs: ToolRunReader
  /** Of this session: another's is refused. */
  readonly supervisor: ToolSupervisor
  /**
   * Exactly the definitions that the model may start and act on, agents included if listed. Absent:
   * all of the catalog but agents and harnesses.
   */
  readonly allowedDefinitions?: readonly DefinitionReference[]
  /** Chooses where a run's artifacts live; may change nothing else. */
  readonly prepareRun?: PrepareRun
  /**
   * More arguments: `wait_ms` (with a `watcher`), `idempotency_key`, `interrupt_id`, filters and order
   * of the list, paging of definitions; results advise what to do. Default false.
   */
  readonly extensions?: boolean
  /** What `wait_ms` waits on; a store is one. Absent: nothing waits. */
  readonly watcher?: Watcher
  /** Bytes of a result other than the definition list. 16 KiB to 32 KiB, the default. */
  readonly resultBytes?: number
  /** Milliseconds since the epoch. */
  readonly now?: () => number
  /** Mints run ids and execution ids: fresh UUIDs, ascending where listing by age matters. */
  readonly newId?: () => string
  readonly timers?: Timers
}

/** The names of the seven tools, in the order of the bundle. */
export const workflowToolNames = [
  'workflow_definition_list',
  'workflow_run_start',
  'workflow_run_get',
  'workflow_run_list',
  'workflow_run_resume',
  'workflow_run_cancel',
  'workflow_run_history',
] as const

/** The name of one of the seven tools. */
export type WorkflowToolName = (typeof workflowToolNames)[number]

/** The seven tools in their order. The name is the contract: see {@link workflowTool}. */
export type WorkflowTools = readonly [
  InvokableTool,
  InvokableTool,
  InvokableTool,
  InvokableTool,
  InvokableTool,
  InvokableTool,
  InvokableTool,
]

/**
 * Makes the seven workflow tools of one session.
 *
 * Arguments are decoded strictly before anything else is touched; runs of other sessions read as
 * ones that do not exist; results are bounded; a model cannot answer for a person, nor act on the
 * run it runs in, nor start what is not offered.
 *
 * @throws `configuration_invalid` when something is missing, or the supervisor is another session's
 *
 * @example source="../test/readme.examples.ts#bundle"
 */
export function createWorkflowTools(config: WorkflowToolsConfig): WorkflowTools {
  demandComplete(config)
  const context = contextOf(config)
  return Object.freeze([
    definitionListTool(context),
    runStartTool(context),
    runGetTool(context),
    runListTool(context),
    runResumeTool(context),
    runCancelTool(context),
    runHistoryTool(context),
  ] as const)
}

/** One tool of a bundle by its name. */
export function workflowTool(tools: WorkflowTools, name: WorkflowToolName): InvokableTool {
  return tools[workflowToolNames.indexOf(name) as 0]
}

function contextOf(config: WorkflowToolsConfig): ToolContext {
  const { catalog, prepareRun, resultBytes = Limits.toolResultBytes } = config
  const sessionId = config.sessionId.toLowerCase()
  const extensions = extensionsOf(config, sessionId)
  return {
    sessionId,
    catalog,
    runs: sessionRuns(sessionId, config.runs),
    definitions: offeredDefinitions(catalog, config.allowedDefinitions),
    supervisor: config.supervisor,
    now: config.now ?? (() => system.now()),
    newId: config.newId ?? (() => system.runId()),
    resultBytes: wholeNumberOption('resultBytes', resultBytes, {
      min: smallestResultBytes,
      max: Limits.toolResultBytes,
    }),
    ...(prepareRun === undefined ? {} : { prepareRun }),
    ...(extensions === undefined ? {} : { extensions }),
  }
}

function extensionsOf(
  { extensions = false, watcher, timers = system }: WorkflowToolsConfig,
  sessionId: SessionId,
): ToolExtensions | undefined {
  if (!extensions) return undefined
  return watcher === undefined ? {} : { waiter: createWaiter(sessionId, watcher, timers) }
}

/** Fails closed, also for callers whose types promised more than they have. */
function demandComplete(config: WorkflowToolsConfig): void {
  const { sessionId, catalog, runs, supervisor }: Partial<WorkflowToolsConfig> = config
  if (
    sessionId === undefined ||
    catalog === undefined ||
    runs === undefined ||
    supervisor === undefined
  ) {
    throw configurationInvalid(
      'workflow tools: session, catalog, run reader, and supervisor are required',
    )
  }
  if (!isUuid(sessionId))
    throw configurationInvalid('workflow tools: sessionId must be a nonzero UUID')
  demandMethod(supervisor, 'start', 'the session-owned start controller')
  demandMethod(supervisor, 'history', 'the projected history controller')
  demandMethod(supervisor, 'resume', 'the resume controller')
  demandMethod(supervisor, 'cancel', 'the cancel controller')
  demandMethod(supervisor, 'output', 'the output reader')
  if (supervisor.sessionId.toLowerCase() !== sessionId.toLowerCase()) {
    throw configurationInvalid('workflow tools: the supervisor belongs to another session')
  }
}

function demandMethod(
  supervisor: Partial<ToolSupervisor>,
  method: Exclude<keyof ToolSupervisor, 'sessionId'>,
  what: string,
): void {
  if (typeof supervisor[method] === 'function') return
  throw configurationInvalid(`workflow tools: supervisor must provide ${what}`)
}
