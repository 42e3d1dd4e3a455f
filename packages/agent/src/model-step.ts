import { withUserAgentSuffix } from '@ai-sdk/provider-utils'
import type { ModelMessage, ToolSet } from '@ai-sdk/provider-utils'
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { JsonObject } from '@holdfast/core'
import { askedAttributes, modelCallAttributes, observe } from './agent-telemetry.ts'
import type { StartEvent } from './callbacks.ts'
import { guardedDownload, withDownloads } from './download.ts'
import { callableModel } from './language-model.ts'
import { reportingErrors } from './error-report.ts'
import type { LoopCall, LoopState } from './loop-state.ts'
import { callModel } from './model-call.ts'
import { judgeToolCall } from './judge-tool-call.ts'
import { describeTool } from './tool-description.ts'
import type { ModelCallRecord } from './model-call-record.ts'
import { activeToolsOf, modelToolChoice, modelTools } from './model-tools.ts'
import type { StepScope } from './operations.ts'
import { plainJson } from './plain-json.ts'
import { generationOf } from './prepare.ts'
import type { PreparedCall } from './prepare.ts'
import { modelPrompt, refuseSystemMessages } from './prompt.ts'
import type { Instructions } from './prompt.ts'
import type { GenerationSettings, PrepareStepResult } from './settings.ts'
import { timeoutsOf } from './timeouts.ts'

/** The step whose model is to be called. */
export interface ModelStep {
  readonly call: LoopCall
  readonly state: LoopState
  /** From 1. */
  readonly number: number
  readonly remainingMs: number | undefined
}

const defaultRetries = 2

/**
 * The body of a model step: hooks first, then the call. Everything that an application may do here with effects or
 * awaits happens inside of the step, so that a replay does none of it.
 */
export function runModelStep(step: ModelStep, scope: StepScope): Promise<ModelCallRecord> {
  return reportingErrors(step.call, () => prepareAndCall(step, scope))
}

async function prepareAndCall(step: ModelStep, scope: StepScope): Promise<ModelCallRecord> {
  const { call, state, number, remainingMs } = step
  const settings = await call.prepare()
  const given = number === 1 ? settings.messages : undefined
  const incoming = given ?? state.messages
  if (number === 1) await notifyStart(step, settings, incoming)
  const changes = await stepChanges(step, settings, incoming)
  const messages = changes.messages ?? incoming
  if (!(changes.allowSystemInMessages ?? settings.allowSystemInMessages)) {
    refuseSystemMessages(messages)
  }
  const instructions = changes.instructions ?? changes.system ?? settings.instructions
  const generation: GenerationSettings = { ...settings.generation, ...generationOf(changes) }
  const kept = await settings.filterActiveTools?.({ stepNumber: number - 1, tools: call.tools })
  const tools = activeToolsOf(
    (kept ?? call.tools) as ToolSet,
    changes.activeTools ?? settings.activeTools,
  )
  const runtimeContext = changes.runtimeContext ?? settings.runtimeContext
  const toolsContext = changes.toolsContext ?? settings.toolsContext
  const model = callableModel(changes.model ?? settings.model, call.resolveModel)
  const options: LanguageModelV4CallOptions = {
    ...callSettings(generation),
    prompt: await withDownloads(
      modelPrompt(instructions, messages),
      await model.supportedUrls(),
      changes.download ?? settings.download ?? guardedDownload(scope.signal),
    ),
    ...(settings.include.rawChunks === true ? { includeRawChunks: true } : {}),
  }
  const responseFormat = await settings.output?.responseFormat
  if (responseFormat !== undefined && responseFormat.type !== 'text') {
    options.responseFormat = responseFormat
  }
  if (Object.keys(tools).length > 0) {
    options.tools = await modelTools(tools, toolsContext)
    options.toolChoice = modelToolChoice(changes.toolChoice ?? settings.toolChoice)
  }
  const { provider, modelId } = model
  await call.callbacks.notify('onStepStart', {
    callId: call.operations.callId,
    stepNumber: number - 1,
    provider,
    modelId,
    model: { provider, modelId },
    instructions: heard(instructions),
    messages: [...messages],
    tools,
    toolChoice: changes.toolChoice ?? settings.toolChoice,
    activeTools: changes.activeTools ?? settings.activeTools,
    toolOrder: undefined,
    providerOptions: generation.providerOptions,
    output: settings.output,
    steps: state.steps,
    runtimeContext,
    toolsContext,
  })
  const sendReasoning = changes.sendReasoning ?? settings.sendReasoning
  const observed = observe(settings.telemetry, 'chat', {
    name: modelId,
    attributes: {
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': modelId,
      ...askedAttributes(settings.telemetry, options),
    },
    parent: call.observed.span,
    now: () => call.system.now(),
  })
  const record = await callModel(
    {
      transforms: settings.transforms,
      tools,
      include: settings.include,
      messages,
      model,
      options,
      streaming: call.operations.streaming,
      takesBack: call.operations.takesBack,
      maxRetries: generation.maxRetries ?? defaultRetries,
      timeouts: timeoutsOf(changes.timeout ?? settings.timeout),
      remainingMs,
      blockIds: { taken: state.blockIds, suffix: String(number) },
      errorText: call.errorText,
      system: call.system,
      describeTool: (toolName) => describeTool(tools, toolName),
      judge: (toolCall) =>
        judgeToolCall(toolCall, {
          tools,
          repair: settings.repairToolCall,
          instructions,
          messages,
          policy: settings.toolApproval,
          refine: settings.refineToolInput,
          toolsContext,
          runtimeContext,
          log: call.log,
        }),
    },
    sendReasoning ? scope : withoutReasoning(scope),
  ).catch((error: unknown) => {
    observed.fail(error)
    throw error
  })
  observed.end(modelCallAttributes(settings.telemetry, record))
  return {
    ...record,
    ...(messages === state.messages ? {} : { messages: recorded(messages) }),
    ...(changes.runtimeContext === undefined ? {} : { runtimeContext }),
    ...(changes.toolsContext === undefined ? {} : { toolsContext }),
  }
}

async function notifyStart(
  { call }: ModelStep,
  settings: PreparedCall,
  messages: readonly ModelMessage[],
): Promise<void> {
  const { provider, modelId } = callableModel(settings.model, call.resolveModel)
  await call.callbacks.notify('onStart', {
    ...callSettings(settings.generation),
    callId: call.operations.callId,
    operationId: `ai.workflowAgent.${call.operations.streaming ? 'stream' : 'generate'}`,
    provider,
    modelId,
    model: { provider, modelId },
    instructions: heard(settings.instructions),
    messages: [...messages],
    tools: call.tools,
    toolChoice: settings.toolChoice,
    activeTools: settings.activeTools,
    toolOrder: undefined,
    maxRetries: settings.generation.maxRetries ?? defaultRetries,
    timeout: settings.timeout as StartEvent['timeout'],
    headers: settings.generation.headers,
    providerOptions: settings.generation.providerOptions,
    output: settings.output,
    runtimeContext: settings.runtimeContext,
    toolsContext: settings.toolsContext,
  })
}

async function stepChanges(
  { call, state, number }: ModelStep,
  settings: PreparedCall,
  messages: readonly ModelMessage[],
): Promise<PrepareStepResult> {
  const changes = await settings.prepareStep?.({
    model: settings.model,
    stepNumber: number - 1,
    steps: state.steps,
    messages,
    instructions: settings.instructions,
    initialInstructions: call.instructions,
    initialMessages: call.messages,
    responseMessages: state.generated,
    usage: state.totalUsage,
    tools: call.tools,
    toolChoice: settings.toolChoice,
    activeTools: settings.activeTools,
    settings: settings.generation,
    experimental_sandbox: settings.sandbox,
    runtimeContext: settings.runtimeContext,
    toolsContext: settings.toolsContext,
  })
  return changes ?? {}
}

/** The scope of a reader who is shown no reasoning. */
function withoutReasoning(scope: StepScope): StepScope {
  return {
    ...scope,
    emit: (part) => (part.type.startsWith('reasoning-') ? Promise.resolve() : scope.emit(part)),
  }
}

function callSettings(generation: GenerationSettings): Omit<LanguageModelV4CallOptions, 'prompt'> {
  const { headers, stopSequences, maxRetries: _retries, ...rest } = generation
  const given = Object.entries(rest).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries(given),
    ...(stopSequences === undefined ? {} : { stopSequences: [...stopSequences] }),
    headers: withUserAgentSuffix({ ...headers }, 'ai-sdk-agent/workflow'),
  }
}

/** Instructions as AI SDK's events have them. */
function heard(instructions: Instructions | undefined): StartEvent['instructions'] {
  return Array.isArray(instructions) ? [...instructions] : (instructions as string | undefined)
}

/** Messages as a journal keeps them. */
function recorded(messages: readonly ModelMessage[]): (JsonObject & { readonly role: string })[] {
  return plainJson(messages) as unknown as (JsonObject & { readonly role: string })[]
}
