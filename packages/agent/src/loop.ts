// The loop: model call, tools, again, until the model calls no tool or something ends it.
//
// Owns:  the conversation as it grows, the steps so far.
// Asks:  `Operations` for everything that takes time or has effects.
// Never: awaits anything else, so that a replay takes the same way.
//
// L1. A step is: its model call, its tool calls, its end. Each is an operation with a key that the step's number gives.
// L2. What an operation gave is in the state before the next one is asked for: whoever catches a rejection has it all.
// L3. Messages that came meanwhile are taken up before each model call, and once more before the loop would end.
// L4. The end of a step says once whether the loop goes on; a replay is told the same.
import type { ModelMessage, ToolSet } from '@ai-sdk/provider-utils'
import type { JsonObject, RunMessage } from '@holdfast/core'
import { extendBudget } from './budget.ts'
import { reportingErrors } from './error-report.ts'
import type { LoopCall, LoopEnd, LoopState } from './loop-state.ts'
import { modelCallCodec } from './model-call-record.ts'
import type { ModelCallRecord, RecordedToolCall } from './model-call-record.ts'
import { runModelStep } from './model-step.ts'
import type { PreparedCall } from './prepare.ts'
import { assistantMessage, toolMessage } from './response-messages.ts'
import { gathered, stepResult } from './step-result.ts'
import type { EndEvent } from './callbacks.ts'
import { steeringPart, userMessageFromUi } from './steering.ts'
import { isAnyMet } from './stop-conditions.ts'
import { timeoutsOf, toolLimitMs } from './timeouts.ts'
import { settleToolCalls } from './tool-calls.ts'
import type { UnsettledCalls } from './tool-calls.ts'
import { executeToolCall } from './tool-execution.ts'
import type { ToolOutcome } from './tool-outcome.ts'
import { outputCodec, stepEndCodec } from './tool-call-record.ts'
import { addUsage } from './usage.ts'
import type { FinishReason } from './usage.ts'

/** Runs the loop to its end. What it did is in `state`, also when it rejects. */
export async function runLoop(call: LoopCall, state: LoopState): Promise<LoopEnd> {
  const { operations } = call
  const startedAt = operations.now()
  let budget = call.budget
  let steering: readonly RunMessage[] = []
  for (let number = 1; ; number += 1) {
    if (budget !== undefined && number > budget) {
      const more = await extendBudget(number - 1, operations)
      if (more === 0) {
        await endCall(call, state)
        return { kind: 'budget', steps: number - 1 }
      }
      budget += more
    }
    await takeUp([...steering, ...operations.messages()], number, call, state)
    const cut = operations.aborted()
    if (cut !== undefined) return { kind: 'aborted', reason: cut.reason }
    const step = await runStep(call, state, number, startedAt)
    if (step.kind === 'aborted') return step
    steering = step.goesOn ? [] : operations.messages()
    const isLast =
      (!step.goesOn && steering.length === 0) ||
      (budget !== undefined && number >= budget && operations.ask === undefined)
    if (!step.goesOn && steering.length === 0 && step.waiting === undefined) {
      await readOutput(call, state)
    }
    const { stop } = await endStep(call, state, { number, goesOn: step.goesOn, isLast })
    if (step.waiting !== undefined) return { kind: 'waiting', unsettled: step.waiting }
    if (!step.goesOn && steering.length === 0) return { kind: 'finished', stopped: false }
    if (stop) return { kind: 'finished', stopped: true }
    if (isLast) return { kind: 'budget', steps: number }
  }
}

type StepCourse =
  | {
      readonly kind: 'done'
      /** Tools have results that the model has not seen. */
      readonly goesOn: boolean
      readonly waiting?: UnsettledCalls
    }
  | Extract<LoopEnd, { kind: 'aborted' }>

async function runStep(
  call: LoopCall,
  state: LoopState,
  number: number,
  startedAt: number,
): Promise<StepCourse> {
  const { operations } = call
  const begunAt = operations.now()
  const elapsed = begunAt - startedAt
  const remainingMs = call.totalMs === undefined ? undefined : call.totalMs - elapsed
  const record = await operations.step({
    key: `model ${number}`,
    label: `model call ${number}`,
    codec: modelCallCodec,
    run: (scope) => runModelStep({ call, state, number, remainingMs }, scope),
  })
  if (record.messages !== undefined) state.messages = record.messages as unknown as ModelMessage[]
  const before = state.messages
  for (const part of record.content) if ('id' in part) state.blockIds.add(part.id)
  state.add(assistantMessage(record))
  const outcomes = new Map<string, ToolOutcome>()
  const finish = (): void => closeStep({ call, state, number, record, outcomes, begunAt })
  if (record.aborted === true) {
    finish()
    const cut = operations.aborted()
    // Durable, the next operation rejects if the run was cancelled; else the model is simply called again.
    return cut === undefined
      ? { kind: 'done', goesOn: true }
      : { kind: 'aborted', reason: cut.reason }
  }
  if (!allowsTools(record.finishReason)) {
    finish()
    return { kind: 'done', goesOn: false }
  }
  let unsettled: UnsettledCalls
  try {
    unsettled = await settleToolCalls({
      step: number,
      record,
      operations,
      concurrency: call.concurrency,
      authority: call.authority,
      tools: call.tools,
      outcomes,
      execute: async (toolCall, scope) => {
        const settings = await call.prepare()
        return executeToolCall(
          execution(call, settings, { record, toolCall, before, number }),
          scope,
        )
      },
    })
  } finally {
    finish()
  }
  const cut = operations.aborted()
  if (cut !== undefined) return { kind: 'aborted', reason: cut.reason }
  const isWaiting = unsettled.approvals.length > 0 || unsettled.client.length > 0
  if (isWaiting) return { kind: 'done', goesOn: false, waiting: unsettled }
  return { kind: 'done', goesOn: outcomes.size > 0 || awaitsDeferred(call.tools, state) }
}

/** Adds a step to the state, with the outcomes that are there. */
function closeStep(step: {
  readonly call: LoopCall
  readonly state: LoopState
  readonly number: number
  readonly record: ModelCallRecord
  readonly outcomes: ReadonlyMap<string, ToolOutcome>
  readonly begunAt: number
}): void {
  const { call, state, number, record, outcomes, begunAt } = step
  const tools = toolMessage(record, outcomes)
  state.add(tools)
  const result = stepResult({
    callId: call.operations.callId,
    stepNumber: number - 1,
    record,
    outcomes,
    stepTimeMs: Math.max(0, call.operations.now() - begunAt),
    messages: [...assistantMessage(record), ...tools],
    runtimeContext:
      (record.runtimeContext as JsonObject | undefined) ?? call.contexts().runtimeContext,
    toolsContext: (record.toolsContext as JsonObject | undefined) ?? call.contexts().toolsContext,
  })
  state.steps = [...state.steps, result]
  state.totalUsage = addUsage(state.totalUsage, result.usage)
}

function execution(
  call: LoopCall,
  settings: PreparedCall,
  step: {
    readonly record: ModelCallRecord
    readonly toolCall: RecordedToolCall
    readonly before: readonly ModelMessage[]
    readonly number: number
  },
): Parameters<typeof executeToolCall>[0] {
  const { operations, callbacks, errorText, log, system } = call
  const { toolName } = step.toolCall
  return {
    callId: operations.callId,
    runId: operations.runId,
    stepNumber: step.number - 1,
    call: step.toolCall,
    tool: Object.hasOwn(call.tools, toolName) ? call.tools[toolName] : undefined,
    messages: step.before,
    toolsContext: (step.record.toolsContext as JsonObject | undefined) ?? settings.toolsContext,
    runtimeContext:
      (step.record.runtimeContext as JsonObject | undefined) ?? settings.runtimeContext,
    sandbox: settings.sandbox,
    telemetry: settings.telemetry,
    parent: call.observed.span,
    timeoutMs: toolLimitMs(timeoutsOf(settings.timeout), toolName),
    leavesAtOnce: operations.leavesTools,
    callbacks,
    errorText,
    log,
    system,
  }
}

/** Ends a step: its last part, its callback, the stop conditions, and the call's end if it is the last. */
async function endStep(
  call: LoopCall,
  state: LoopState,
  step: { readonly number: number; readonly goesOn: boolean; readonly isLast: boolean },
): Promise<{ readonly stop: boolean }> {
  return call.operations.step({
    key: `end ${step.number}`,
    label: `step ${step.number} ended`,
    codec: stepEndCodec,
    run: (scope) =>
      reportingErrors(call, async () => {
        const last = state.steps.at(-1)
        if (last !== undefined && last.aborted !== true) {
          await call.callbacks.notify('onStepEnd', last)
        }
        const { stopWhen } = await call.prepare()
        const stop = step.goesOn && (await isAnyMet(stopWhen, state.steps))
        if (stop || step.isLast) await notifyEnd(call, state)
        await scope.emit({ type: 'finish-step' })
        return { version: 1 as const, stop }
      }),
  })
}

/** Makes the call's output of the last text: kept, since a schema of the application's is asked. */
async function readOutput(call: LoopCall, state: LoopState): Promise<void> {
  const { output } = call
  const last = state.steps.at(-1)
  if (output === undefined || last === undefined || state.output !== undefined) return
  const { value } = await call.operations.step({
    key: 'output',
    label: 'read output',
    codec: outputCodec,
    run: () =>
      reportingErrors(call, async () => {
        const { text, response, usage, finishReason } = last
        const about = { response, usage, finishReason }
        return { version: 1 as const, value: await output.parseCompleteOutput({ text }, about) }
      }),
  })
  state.output = { value }
}

/** Tells that the call ended, where no step's end could. */
async function endCall(call: LoopCall, state: LoopState): Promise<void> {
  await call.operations.step({
    key: 'end',
    label: 'agent ended',
    codec: stepEndCodec,
    run: async () => {
      await notifyEnd(call, state)
      return { version: 1 as const, stop: true }
    },
  })
}

async function notifyEnd(call: LoopCall, state: LoopState): Promise<void> {
  if (!call.callbacks.has('onEnd')) return
  const { steps, totalUsage, generated } = state
  const last = steps.at(-1)
  if (last === undefined) return
  const { runtimeContext, toolsContext } = await call.prepare()
  const { experimental_steeringMessages: _steering, aborted: _aborted, ...step } = last
  await call.callbacks.notify('onEnd', {
    ...step,
    ...gathered(steps),
    callId: call.operations.callId,
    runtimeContext,
    toolsContext,
    usage: totalUsage,
    totalUsage,
    steps: [...steps],
    finalStep: last,
    // Generated messages have the roles that AI SDK's type names, and steering ones.
    responseMessages: [...generated] as EndEvent['responseMessages'],
  })
}

async function takeUp(
  messages: readonly RunMessage[],
  number: number,
  call: LoopCall,
  state: LoopState,
): Promise<void> {
  if (messages.length === 0) return
  state.add(messages.map((message) => userMessageFromUi(message.body)))
  await call.operations.emit(`steering ${number}`, messages.map(steeringPart))
}

/** Tools run only for a model that stopped because it wanted them to. */
function allowsTools(reason: FinishReason): boolean {
  return reason === 'tool-calls' || reason === 'stop'
}

/** Whether a provider still owes the result of a call that it defers. */
function awaitsDeferred(tools: ToolSet, state: LoopState): boolean {
  const answered = new Set<string>()
  const owed = new Set<string>()
  for (const step of state.steps) {
    for (const part of step.content) {
      if (part.type === 'tool-call' && part.providerExecuted === true) {
        const tool = Object.hasOwn(tools, part.toolName) ? tools[part.toolName] : undefined
        if (tool?.supportsDeferredResults === true) owed.add(part.toolCallId)
      } else if (part.type === 'tool-result' || part.type === 'tool-error') {
        answered.add(part.toolCallId)
      }
    }
  }
  return [...owed].some((toolCallId) => !answered.has(toolCallId))
}
