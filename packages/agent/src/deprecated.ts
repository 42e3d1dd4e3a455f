import type { ToolSet } from '@ai-sdk/provider-utils'
import type { AgentCallbacks } from './callbacks.ts'
import type { Download } from './download.ts'
import type { Instructions } from './prompt.ts'
import type { ToolInputRefinement } from './tool-input-refinement.ts'
import type { ToolCallRepair } from './tool-call-parsing.ts'

/** Older names of settings. Each does what the newer one does, which wins where both are given. */
export interface DeprecatedSettings<TOOLS extends ToolSet = ToolSet> {
  /** @deprecated Use `instructions`. */
  readonly system?: Instructions | undefined
  /** @deprecated Use `onStepEnd`. */
  readonly onStepFinish?: AgentCallbacks<TOOLS>['onStepEnd']
  /** @deprecated Use `onEnd`. */
  readonly onFinish?: AgentCallbacks<TOOLS>['onEnd']
  /** @deprecated Use `onStart`. */
  readonly experimental_onStart?: AgentCallbacks<TOOLS>['onStart']
  /** @deprecated Use `onStepStart`. */
  readonly experimental_onStepStart?: AgentCallbacks<TOOLS>['onStepStart']
  /** @deprecated Use `onToolExecutionStart`. */
  readonly experimental_onToolCallStart?: AgentCallbacks<TOOLS>['onToolExecutionStart']
  /** @deprecated Use `onToolExecutionEnd`. */
  readonly experimental_onToolCallFinish?: AgentCallbacks<TOOLS>['onToolExecutionEnd']
  /** @deprecated Use `repairToolCall`. */
  readonly experimental_repairToolCall?: ToolCallRepair | undefined
  /** @deprecated Use `refineToolInput`. */
  readonly experimental_refineToolInput?: ToolInputRefinement<TOOLS> | undefined
  /** @deprecated Use `download`. */
  readonly experimental_download?: Download | undefined
}

const newerNames = {
  system: 'instructions',
  onStepFinish: 'onStepEnd',
  onFinish: 'onEnd',
  experimental_onStart: 'onStart',
  experimental_onStepStart: 'onStepStart',
  experimental_onToolCallStart: 'onToolExecutionStart',
  experimental_onToolCallFinish: 'onToolExecutionEnd',
  experimental_repairToolCall: 'repairToolCall',
  experimental_refineToolInput: 'refineToolInput',
  experimental_download: 'download',
} as const satisfies Readonly<Record<keyof DeprecatedSettings, string>>

/** The same settings under their newer names only. */
export function withNewerNames<Settings extends object>(settings: Settings): Settings {
  const renamed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(settings)) {
    if (!isOlder(name)) {
      if (value !== undefined) renamed[name] = value
    } else if (value !== undefined && readOf(settings, newerNames[name]) === undefined) {
      renamed[newerNames[name]] = value
    }
  }
  return renamed as Settings
}

function isOlder(name: string): name is keyof DeprecatedSettings {
  return Object.hasOwn(newerNames, name)
}

function readOf(settings: object, name: string): unknown {
  return (settings as Readonly<Record<string, unknown>>)[name]
}
