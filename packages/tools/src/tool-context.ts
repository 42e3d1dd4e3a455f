import type { Catalog, SessionId, Supervisor } from '@holdfast/core'
import type { OfferedDefinitions } from './offered-definitions.ts'
import type { PrepareRun } from './prepare-run.ts'
import type { SessionRuns } from './session-runs.ts'
import type { Waiter } from './waiter.ts'

/** The part of a supervisor that the tools use. */
export type ToolSupervisor = Pick<
  Supervisor,
  'sessionId' | 'start' | 'resume' | 'cancel' | 'history' | 'output'
>

/** What the optional arguments and fields need. */
export interface ToolExtensions {
  /** Absent without a watcher: then nothing waits. */
  readonly waiter?: Waiter
}

/** All that the seven tools of one bundle share. */
export interface ToolContext {
  readonly sessionId: SessionId
  readonly runs: SessionRuns
  readonly catalog: Catalog
  readonly definitions: OfferedDefinitions
  readonly supervisor: ToolSupervisor
  readonly now: () => number
  readonly newId: () => string
  readonly prepareRun?: PrepareRun
  readonly resultBytes: number
  /** Absent: exactly the plain seven tools. */
  readonly extensions?: ToolExtensions
}
