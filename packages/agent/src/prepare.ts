import type { ModelMessage, ToolSet } from '@ai-sdk/provider-utils'
import { asSchema, safeValidateTypes } from '@ai-sdk/provider-utils'
import { ErrorCode, HoldfastError, Limits } from '@holdfast/core'
import type { AgentTelemetry } from './agent-telemetry.ts'
import { withNewerNames } from './deprecated.ts'
import type { Download } from './download.ts'
import type { IncludeOptions } from './include.ts'
import type { PartTransform } from './part-transform.ts'
import type { ToolInputRefinement } from './tool-input-refinement.ts'
import type { LanguageModel } from './language-model.ts'
import type { Instructions } from './prompt.ts'
import type { Context } from './context.ts'
import type { OutputSpecification } from './output.ts'
import type {
  FilterActiveTools,
  GenerationSettings,
  PrepareCall,
  PrepareStep,
  SharedSettings,
  ToolChoice,
  WorkflowAgentOptions,
} from './settings.ts'
import type { StopCondition } from './stop-conditions.ts'
import type { TimeoutSetting } from './timeouts.ts'
import type { ToolApproval } from './tool-approval.ts'
import type { ToolCallRepair } from './tool-call-parsing.ts'

/** A call's settings after `prepareCall`. */
export interface PreparedCall {
  readonly model: LanguageModel
  readonly generation: GenerationSettings
  readonly instructions: Instructions | undefined
  readonly toolChoice: ToolChoice | undefined
  readonly stopWhen: readonly StopCondition[]
  readonly activeTools: readonly string[] | undefined
  readonly prepareStep: PrepareStep | undefined
  readonly repairToolCall: ToolCallRepair | undefined
  readonly toolApproval: ToolApproval | undefined
  readonly timeout: TimeoutSetting | undefined
  readonly runtimeContext: Context
  readonly toolsContext: Readonly<Record<string, unknown>>
  readonly allowSystemInMessages: boolean
  readonly output: OutputSpecification | undefined
  readonly filterActiveTools: FilterActiveTools | undefined
  readonly refineToolInput: ToolInputRefinement | undefined
  readonly download: Download | undefined
  readonly include: IncludeOptions
  readonly sendReasoning: boolean
  readonly sandbox: SharedSettings['experimental_sandbox']
  readonly telemetry: AgentTelemetry | undefined
  readonly transforms: readonly PartTransform[]
  /** Given by `prepareCall` in place of the caller's. */
  readonly messages: readonly ModelMessage[] | undefined
}

/** Settings of agent and call, joined. */
export interface MergedSettings extends SharedSettings {
  readonly tools?: ToolSet | undefined
  readonly toolsContext?: Readonly<Record<string, unknown>> | undefined
  readonly output?: OutputSpecification | undefined
  readonly options?: unknown
  readonly experimental_transform?: PartTransform | readonly PartTransform[] | undefined
}

/** The agent's and the call's settings as one: where both say something, the call's word counts. */
export function mergedSettings(agent: SharedSettings, call: SharedSettings): MergedSettings {
  const allowSystemInMessages = agent.allowSystemInMessages === true || call.allowSystemInMessages
  return { ...withNewerNames(agent), ...withNewerNames(call), allowSystemInMessages }
}

/** The bound on steps: as it is given, else 20 unless stop conditions bound the call. */
export function budgetOf(
  settings: SharedSettings,
  maxSteps: number | undefined,
): number | undefined {
  if (maxSteps !== undefined) return maxSteps
  return settings.stopWhen === undefined ? Limits.agentSteps : undefined
}

/** Resolves a call's settings, asking `prepareCall` if there is one. */
export async function preparedCall(
  agent: Pick<WorkflowAgentOptions, 'model' | 'prepareCall' | 'callOptionsSchema'>,
  settings: MergedSettings,
  given: { readonly tools: ToolSet; readonly messages: readonly ModelMessage[] },
): Promise<PreparedCall> {
  const asked = await askedChanges(agent, settings, given)
  const changed = { ...settings, ...asked }
  const { stopWhen } = changed
  return {
    model: asked.model ?? agent.model,
    generation: generationOf(changed),
    instructions: changed.instructions,
    toolChoice: changed.toolChoice,
    stopWhen: stopWhen === undefined ? [] : listOf(stopWhen),
    activeTools: changed.activeTools,
    prepareStep: settings.prepareStep,
    repairToolCall: settings.repairToolCall,
    toolApproval: settings.toolApproval,
    timeout: changed.timeout,
    runtimeContext: changed.runtimeContext ?? {},
    toolsContext: changed.toolsContext ?? {},
    allowSystemInMessages: changed.allowSystemInMessages ?? false,
    output: settings.output,
    filterActiveTools: settings.filterActiveTools,
    refineToolInput: settings.refineToolInput,
    download: changed.download,
    include: changed.include ?? {},
    sendReasoning: changed.sendReasoning ?? true,
    sandbox: changed.experimental_sandbox,
    telemetry: changed.telemetry,
    transforms:
      settings.experimental_transform === undefined ? [] : listOf(settings.experimental_transform),
    messages: asked.messages,
  }
}

/** Only the generation settings of something that has more. */
export function generationOf(settings: GenerationSettings): GenerationSettings {
  const picked: Partial<Record<keyof GenerationSettings, unknown>> = {}
  for (const name of generationNames) {
    if (settings[name] !== undefined) picked[name] = settings[name]
  }
  return picked as GenerationSettings
}

const generationNames = [
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'stopSequences',
  'seed',
  'reasoning',
  'providerOptions',
  'headers',
  'maxRetries',
] as const satisfies readonly (keyof GenerationSettings)[]

async function askedChanges(
  agent: Pick<WorkflowAgentOptions, 'model' | 'prepareCall' | 'callOptionsSchema'>,
  settings: MergedSettings,
  given: { readonly tools: ToolSet; readonly messages: readonly ModelMessage[] },
): Promise<NonNullable<Awaited<ReturnType<PrepareCall>>>> {
  const options = await checkedOptions(agent.callOptionsSchema, settings.options)
  if (agent.prepareCall === undefined) return {}
  const { instructions, toolChoice, stopWhen, activeTools, timeout, include, download } = settings
  const { sendReasoning, telemetry, allowSystemInMessages, experimental_sandbox } = settings
  const changes = await agent.prepareCall({
    model: agent.model,
    ...given,
    ...generationOf(settings),
    ...(instructions === undefined ? {} : { instructions }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(stopWhen === undefined ? {} : { stopWhen }),
    ...(activeTools === undefined ? {} : { activeTools }),
    timeout,
    include,
    download,
    sendReasoning,
    telemetry,
    allowSystemInMessages,
    experimental_sandbox,
    options,
    runtimeContext: settings.runtimeContext ?? {},
    toolsContext: settings.toolsContext ?? {},
  })
  const defined = Object.entries(changes ?? {}).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined)
}

async function checkedOptions(
  schema: WorkflowAgentOptions['callOptionsSchema'],
  options: unknown,
): Promise<unknown> {
  if (schema === undefined || options === undefined) return options
  const checked = await safeValidateTypes({ value: options, schema: asSchema(schema) })
  if (checked.success) return checked.value
  throw new HoldfastError(ErrorCode.argumentsInvalid, {
    message: 'The call options do not fit the call options schema.',
    details: { field: 'options' },
    cause: checked.error,
  })
}

function listOf<Item>(value: Item | readonly Item[]): readonly Item[] {
  return Array.isArray(value) ? value : [value as Item]
}
