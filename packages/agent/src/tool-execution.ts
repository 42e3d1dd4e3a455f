// Executes one tool call.
//
// T1. Never rejects for what a tool does: a throw, a timeout, an output that JSON cannot hold are results for the model.
// T2. The tool's signal fires when the caller's does, and when its time is over.
// T3. Its last part is emitted after everything else it does, so that a store can keep part and result together.
import { asSchema } from '@ai-sdk/provider-utils'
import type { ModelMessage, ToolResultOutput, ToolSet } from '@ai-sdk/provider-utils'
import { ErrorCode, hasErrorCode, HoldfastError, Limits } from '@holdfast/core'
import type { JsonObject, JsonValue, Log, Span, System } from '@holdfast/core'
import { truncateUtf8, utf8Length } from '@holdfast/json'
import { observe } from './agent-telemetry.ts'
import type { AgentTelemetry } from './agent-telemetry.ts'
import type { Callbacks, ToolExecutionStartEvent } from './callbacks.ts'
import type { ErrorText } from './error-text.ts'
import type { ToolPartOrigin } from './model-call-part.ts'
import type { RecordedToolCall } from './model-call-record.ts'
import type { StepScope } from './operations.ts'
import { plainJson, plainObject } from './plain-json.ts'
import type { Context } from './context.ts'
import type { SharedSettings } from './settings.ts'
import type { StepToolCall } from './step-result.ts'
import { createDeadline, untilAborted } from './timeouts.ts'
import { toolCallRecordVersion } from './tool-call-record.ts'
import type { ToolCallRecord } from './tool-call-record.ts'

/** What a tool's `execute` gets besides AI SDK's own options. */
export interface DurableToolOptions {
  /** The same over retries, crashes and processes: hand it to what has effects. */
  readonly idempotencyKey: string
  /** The run in which the model acts; absent in a call that is not durable. */
  readonly runId?: string
}

/** What an execution needs. */
export interface ToolExecution {
  readonly callId: string
  readonly runId: string | undefined
  readonly stepNumber: number
  readonly call: RecordedToolCall
  readonly tool: ToolSet[string] | undefined
  /** The conversation before the assistant's message that holds the call. */
  readonly messages: readonly ModelMessage[]
  readonly toolsContext: Readonly<Record<string, unknown>>
  readonly runtimeContext: Context
  readonly sandbox: SharedSettings['experimental_sandbox']
  readonly telemetry: AgentTelemetry | undefined
  readonly parent: Span | undefined
  readonly timeoutMs: number | undefined
  /** Whether to give up at once when the caller's signal fires, or to let the tool settle by itself. */
  readonly leavesAtOnce: boolean
  readonly callbacks: Callbacks
  readonly errorText: ErrorText
  readonly log: Log
  readonly system: System
}

/** An error's text that is longer is cut. UTF-8 bytes. */
const errorTextBytes = 4_096
/** Half of what a journaled value may have: `toModelOutput` may give as much again. */
const outputBytes = Limits.valueBytes / 2

/** Executes the tool and emits its result. */
export async function executeToolCall(
  execution: ToolExecution,
  scope: StepScope,
): Promise<ToolCallRecord> {
  const { call, callbacks, system } = execution
  const { toolCallId, toolName } = call
  const origin = originOf(call)
  const event = startEvent(execution)
  const about = { toolCallId, toolName, input: event.input, dynamic: true as const }
  const startedAt = system.now()
  const { telemetry } = execution
  const observed = observe(telemetry, 'execute_tool', {
    name: toolName,
    attributes: {
      'gen_ai.tool.name': toolName,
      'gen_ai.tool.call.id': toolCallId,
      ...(telemetry?.recordInputs === true
        ? { 'gen_ai.tool.call.arguments': JSON.stringify(event.input) }
        : {}),
    },
    parent: execution.parent,
    now: () => system.now(),
  })
  const settled = await attempt(execution, event, scope)
  if (!settled.ok) observed.fail(settled.error)
  else if (telemetry?.recordOutputs !== true) observed.end()
  else {
    const result = JSON.stringify(plainJson(settled.output) ?? null)
    observed.end({ 'gen_ai.tool.call.result': result })
  }
  const toolExecutionMs = Math.max(0, system.now() - startedAt)
  if (settled.ok) {
    const { output, modelOutput } = settled
    await callbacks.notify('onToolExecutionEnd', {
      ...event,
      toolExecutionMs,
      success: true,
      output,
      toolOutput: { ...about, type: 'tool-result', output },
    })
    await scope.emit({ type: 'tool-result', toolCallId, toolName, output, ...origin })
    const forModel = modelOutput === undefined ? {} : { modelOutput }
    const executionMs = toolExecutionMs
    return { version: toolCallRecordVersion, kind: 'result', output, ...forModel, executionMs }
  }
  const { error } = settled
  const errorText = truncateUtf8(errorTextOf(error, execution), errorTextBytes)
  const message = `Tool ${toolName} failed; the model is told.`
  execution.log.write({ level: 'warn', event: 'agent.tool.failed', message, cause: error })
  await callbacks.notify('onToolExecutionEnd', {
    ...event,
    toolExecutionMs,
    success: false,
    error,
    toolOutput: { ...about, type: 'tool-error', error },
  })
  await scope.emit({ type: 'tool-error', toolCallId, toolName, errorText, ...origin })
  return {
    version: toolCallRecordVersion,
    kind: 'error',
    errorText,
    executionMs: toolExecutionMs,
  }
}

/** What a call's later parts repeat of it. */
export function originOf(call: RecordedToolCall): ToolPartOrigin {
  return {
    ...(call.dynamic === true ? { dynamic: true } : {}),
    ...(call.toolMetadata === undefined ? {} : { toolMetadata: call.toolMetadata as JsonObject }),
  }
}

type Settled =
  | { readonly ok: true; readonly output: unknown; readonly modelOutput?: ToolResultOutput }
  | { readonly ok: false; readonly error: unknown }

async function attempt(
  execution: ToolExecution,
  event: ToolExecutionStartEvent,
  scope: StepScope,
): Promise<Settled> {
  const { call, tool, timeoutMs, leavesAtOnce, system } = execution
  const limit = createDeadline(system, leavesAtOnce ? [scope.signal] : [])
  const whole = createDeadline(system, [scope.signal, limit.signal])
  limit.arm('tool', timeoutMs)
  try {
    if (tool?.execute === undefined) throw toolGone(call.toolName)
    const context = await validContext(tool, event.toolContext)
    await execution.callbacks.notify('onToolExecutionStart', event)
    if (limit.signal.aborted) throw limit.signal.reason
    const result: unknown = tool.execute(call.input, {
      toolCallId: call.toolCallId,
      messages: [...execution.messages],
      abortSignal: whole.signal,
      context,
      ...(execution.sandbox === undefined ? {} : { experimental_sandbox: execution.sandbox }),
      ...durableOptions(execution, scope),
    })
    const output = isAsyncIterable(result)
      ? await lastOf(result, execution, scope, limit.signal)
      : await untilAborted(Promise.resolve(result), limit.signal)
    refuseTooLarge(plainJson(output))
    return { ok: true, output, ...(await converted(execution, tool, output)) }
  } catch (error) {
    return { ok: false, error }
  } finally {
    limit.dispose()
    whole.dispose()
  }
}

function durableOptions(execution: ToolExecution, scope: StepScope): DurableToolOptions {
  const { idempotencyKey } = scope
  return { idempotencyKey, ...(execution.runId === undefined ? {} : { runId: execution.runId }) }
}

/** Streams what a generator yields; the last value is its output. */
async function lastOf(
  values: AsyncIterable<unknown>,
  execution: ToolExecution,
  scope: StepScope,
  signal: AbortSignal,
): Promise<unknown> {
  const { toolCallId, toolName } = execution.call
  const origin = { preliminary: true, ...originOf(execution.call) }
  const iterator = values[Symbol.asyncIterator]()
  let last: unknown
  try {
    for (;;) {
      const next = await untilAborted(iterator.next(), signal)
      if (next.done === true) return last
      last = next.value
      await scope.emit({ type: 'tool-result', toolCallId, toolName, output: last, ...origin })
    }
  } catch (error) {
    void iterator.return?.().catch(() => undefined)
    throw error
  }
}

async function converted(
  execution: ToolExecution,
  tool: ToolSet[string],
  output: unknown,
): Promise<{ modelOutput?: ToolResultOutput }> {
  if (tool.toModelOutput === undefined) return {}
  const { toolCallId, input } = execution.call
  const given = await tool.toModelOutput({ toolCallId, input, output })
  return { modelOutput: plainObject(given) as ToolResultOutput }
}

async function validContext(tool: ToolSet[string], context: unknown): Promise<unknown> {
  if (tool.contextSchema === undefined) return context
  const checked = await asSchema(tool.contextSchema).validate?.(context)
  if (checked === undefined) return context
  if (!checked.success) throw checked.error
  return checked.value
}

/** An output that no journal could keep is an error that the model can act on. */
function refuseTooLarge(output: JsonValue | undefined): void {
  const text = JSON.stringify(output ?? null)
  if (text.length * 3 <= outputBytes || utf8Length(text) <= outputBytes) return
  throw new HoldfastError(ErrorCode.limitExceeded, {
    message: `The tool's output is too large: at most ${outputBytes} bytes.`,
    details: { limit: 'toolOutputBytes' },
  })
}

function startEvent(execution: ToolExecution): ToolExecutionStartEvent {
  const { callId, stepNumber, call, messages, toolsContext, runtimeContext } = execution
  const { toolCallId, toolName } = call
  const toolContext = Object.hasOwn(toolsContext, toolName) ? toolsContext[toolName] : undefined
  const input = call.input as JsonValue
  const dynamic = call.dynamic === true ? { dynamic: true } : {}
  // Its type follows from the tools, which its input was checked against.
  const toolCall = { type: 'tool-call', toolCallId, toolName, input, ...dynamic } as StepToolCall
  return {
    callId,
    stepNumber,
    toolCallId,
    toolName,
    input,
    toolCall,
    messages: [...messages],
    toolContext,
    runtimeContext,
  }
}

/** What the model and the reader are told: our own texts as they are, a tool's by the application's rule. */
function errorTextOf(error: unknown, execution: ToolExecution): string {
  if (hasErrorCode(error, ErrorCode.toolUnknown)) return error.message
  if (hasErrorCode(error, ErrorCode.toolTimeout)) return error.message
  if (hasErrorCode(error, ErrorCode.limitExceeded)) return error.message
  return execution.errorText(error, 'tool')
}

/** The call was decided on when the tool was there; code that was deployed since has it no more. */
function toolGone(toolName: string): HoldfastError {
  return new HoldfastError(ErrorCode.toolUnknown, { message: `Tool not found: ${toolName}.` })
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}
