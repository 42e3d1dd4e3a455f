import type { ModelMessage, ToolSet } from '@ai-sdk/provider-utils'
import {
  configurationInvalid,
  ErrorCode,
  hasErrorCode,
  HoldfastError,
  isHoldfastError,
  silentLog,
  wholeNumberOption,
  Limits,
} from '@holdfast/core'
import type { Log, System, WorkflowContext } from '@holdfast/core'
import { system as realSystem } from '@holdfast/core/system'
import { approvalAuthority, refuseApprovalsInMessages } from './approval-authority.ts'
import { joinCallbacks } from './callbacks.ts'
import type { Callbacks } from './callbacks.ts'
import { durableOperations } from './durable-operations.ts'
import { reportError } from './error-report.ts'
import { redactedErrorText } from './error-text.ts'
import type { ErrorText } from './error-text.ts'
import { runLoop } from './loop.ts'
import { LoopState } from './loop-state.ts'
import type { LoopCall, LoopEnd } from './loop-state.ts'
import { memoryOperations } from './memory-operations.ts'
import type { Operations } from './operations.ts'
import { openPartWriter } from './part-writer.ts'
import type { PartWriter } from './part-writer.ts'
import { budgetOf, mergedSettings, preparedCall } from './prepare.ts'
import type { PreparedCall } from './prepare.ts'
import { finishReasonOf, generateResult, streamResult } from './results.ts'
import type { WorkflowAgentGenerateResult, WorkflowAgentStreamResult } from './results.ts'
import type {
  CallInput,
  GenerateOptions,
  SharedSettings,
  StreamOptions,
  WorkflowAgentOptions,
} from './settings.ts'
import { createDeadline, timeoutsOf } from './timeouts.ts'

const mostConcurrentTools = 64

/**
 * A model with tools, called until it needs no more of them: in memory, or with every step an operation of a durable
 * run (`durable`). It keeps nothing between calls.
 */
export class WorkflowAgent {
  readonly version = 'agent-v1'
  readonly id: string | undefined
  readonly tools: ToolSet
  private readonly options: WorkflowAgentOptions
  private readonly concurrency: number
  private readonly log: Log
  private readonly system: System
  private readonly errorText: ErrorText

  /** @throws `configuration_invalid` no model, or a number out of its bounds */
  constructor(options: WorkflowAgentOptions) {
    const { id, tools = {}, toolCallConcurrency = Limits.toolsAtOnce, maxSteps } = options
    if (options.model === undefined) throw configurationInvalid('workflow: model is required')
    this.options = options
    this.id = id
    this.tools = tools
    this.concurrency = wholeNumberOption('toolCallConcurrency', toolCallConcurrency, {
      min: 1,
      max: mostConcurrentTools,
    })
    if (maxSteps !== undefined) checkedSteps(maxSteps)
    this.log = options.log ?? silentLog
    this.system = options.system ?? realSystem
    this.errorText = options.errorText ?? redactedErrorText
  }

  /**
   * Resolves with the whole answer. Its model calls are not streamed, and a durable run's stream gets nothing.
   *
   * @throws what the signal gives, when it fires; `model_failed`, `timeout`, `approval_invalid`, `message_invalid`;
   * what a hook throws
   */
  async generate(options: GenerateOptions): Promise<WorkflowAgentGenerateResult> {
    const { abortSignal, durable } = options
    const deadline = createDeadline(this.system, [abortSignal])
    const operations =
      durable === undefined
        ? this.inMemory(deadline.signal, false, () => Promise.resolve())
        : this.durably(durable, false)
    const call = this.prepared(options, operations)
    const state = new LoopState(call.messages)
    try {
      deadline.arm('total', durable === undefined ? call.totalMs : undefined)
      const end = await runLoop(call, state)
      if (end.kind !== 'aborted') return generateResult(state, end)
      throw end.reason
    } catch (error) {
      await this.told(error, call, state, abortSignal, durable)
      throw error
    } finally {
      deadline.dispose()
    }
  }

  /**
   * Streams the parts of the answer to `writable`, or as UI message chunks to the durable run's stream, and resolves when
   * all is over. An abort, or a cancel of the run, resolves too: with what had come until then.
   *
   * A model that fails: in memory an `error` part, and `error` in the result. Durable: rejects, so that the run fails
   * and can be retried.
   *
   * @throws `approval_invalid`, `message_invalid`; what a hook or the writable throws; durable: `model_failed`, `timeout`
   */
  async stream(options: StreamOptions): Promise<WorkflowAgentStreamResult> {
    return options.writable === undefined
      ? this.streamDurably(options, options.durable)
      : this.streamInMemory(options)
  }

  private async streamInMemory(
    options: Extract<StreamOptions, { readonly writable: WritableStream }>,
  ): Promise<WorkflowAgentStreamResult> {
    const { writable, abortSignal, preventClose = false, sendFinish = true } = options
    if (options.durable !== undefined) {
      throw configurationInvalid('A durable call streams to its run: give no writable.')
    }
    const deadline = createDeadline(this.system, [abortSignal])
    const writer = openPartWriter(writable, preventClose, deadline.signal)
    let call: LoopCall | undefined
    let state = new LoopState([])
    try {
      await writer.write({ type: 'start', messageId: options.messageId ?? this.system.shortId() })
      const operations = this.inMemory(deadline.signal, true, (part) => writer.write(part))
      call = this.prepared(options, operations)
      state = new LoopState(call.messages)
      deadline.arm('total', call.totalMs)
      const end = await runLoop(call, state)
      return await this.finished(end, { call, state, writer, abortSignal, sendFinish })
    } catch (error) {
      const callbacks = call?.callbacks ?? this.callbacks(options)
      if (isModelFailure(error)) {
        await reportError(callbacks, error)
        await writeFailure(writer, error, sendFinish)
        return streamResult(state, { kind: 'failed', error: error.cause ?? error })
      }
      await reportError(callbacks, error)
      await writeFailure(writer, error, sendFinish)
      throw error
    } finally {
      deadline.dispose()
      await writer.end()
    }
  }

  private async finished(
    end: LoopEnd,
    stream: {
      readonly call: LoopCall
      readonly state: LoopState
      readonly writer: PartWriter
      readonly abortSignal: AbortSignal | undefined
      readonly sendFinish: boolean
    },
  ): Promise<WorkflowAgentStreamResult> {
    const { call, state, writer, abortSignal, sendFinish } = stream
    if (end.kind !== 'aborted') {
      if (sendFinish)
        await writer.write({ type: 'finish', finishReason: finishReasonOf(state, end) })
      return streamResult(state, end)
    }
    if (abortSignal?.aborted !== true) throw end.reason
    const reason = abortText(end.reason)
    await call.callbacks.notify('onAbort', { steps: state.steps, ...reason })
    await writer.write({ type: 'abort', ...reason })
    return streamResult(state, end)
  }

  private async streamDurably(
    options: GenerateOptions,
    context: WorkflowContext<never> | WorkflowContext,
  ): Promise<WorkflowAgentStreamResult> {
    const call = this.prepared(options, this.durably(context, true))
    const state = new LoopState(call.messages)
    try {
      return streamResult(state, await runLoop(call, state))
    } catch (error) {
      if (!hasErrorCode(error, ErrorCode.cancelled)) throw error
      await this.told(error, call, state, undefined, context)
      return streamResult(state, { kind: 'aborted', reason: error })
    }
  }

  /** Tells `onError`, or `onAbort` when it was no failure. */
  private async told(
    error: unknown,
    call: LoopCall,
    state: LoopState,
    abortSignal: AbortSignal | undefined,
    context: WorkflowContext<never> | WorkflowContext | undefined,
  ): Promise<void> {
    const { callbacks } = call
    const { steps } = state
    if (context === undefined) {
      if (abortSignal?.aborted !== true) return reportError(callbacks, error)
      return callbacks.notify('onAbort', { steps, ...abortText(abortSignal.reason) })
    }
    // Errors were told inside the step where they came up. A cancel can be told in a clean-up step only.
    if (!hasErrorCode(error, ErrorCode.cancelled) || !callbacks.has('onAbort')) return
    await context.cleanup((cleanup) =>
      cleanup.step('tell abort', () => callbacks.notify('onAbort', { steps }), { retries: 0 }),
    )
  }

  private prepared(options: GenerateOptions, operations: Operations): LoopCall {
    const { durable: _durable, abortSignal: _signal, maxSteps, prompt: _prompt, ...rest } = options
    const messages = inputMessages(options)
    const settings = mergedSettings(this.options, sharedOf(rest))
    const tools = settings.tools ?? {}
    if (operations.ask === undefined) refuseApprovalsInMessages(messages)
    if (maxSteps !== undefined) checkedSteps(maxSteps)
    let asked: Promise<PreparedCall> | undefined
    let resolved: PreparedCall | undefined
    return {
      operations,
      callbacks: this.callbacks(options),
      tools,
      messages,
      prepare: () => {
        asked ??= preparedCall(this.options, settings, { tools, messages }).then((prepared) => {
          resolved = prepared
          return prepared
        })
        return asked
      },
      contexts: () => ({
        runtimeContext: resolved?.runtimeContext ?? settings.runtimeContext ?? {},
        toolsContext: resolved?.toolsContext ?? settings.toolsContext ?? {},
      }),
      resolveModel: this.options.resolveModel,
      budget: budgetOf(settings, maxSteps ?? this.options.maxSteps),
      totalMs: timeoutsOf(settings.timeout).totalMs,
      concurrency: this.concurrency,
      authority: approvalAuthority(this.options.approvals, this.system),
      errorText: this.errorText,
      log: this.log,
      system: this.system,
    }
  }

  private callbacks(options: SharedSettings): Callbacks {
    return joinCallbacks([this.options, options], this.log)
  }

  private inMemory(signal: AbortSignal, streaming: boolean, emit: PartWriter['write']): Operations {
    const { system } = this
    return memoryOperations({ callId: system.uuid(), streaming, signal, system, emit })
  }

  private durably(
    context: WorkflowContext<never> | WorkflowContext,
    streaming: boolean,
  ): Operations {
    return durableOperations({ context, streaming, chunks: { errorText: this.errorText } })
  }
}

/** The messages of a call. @throws `arguments_invalid` neither prompt nor messages, or both */
function inputMessages(input: Partial<CallInput>): readonly ModelMessage[] {
  const { prompt, messages } = input
  const hasPrompt = prompt !== undefined && prompt.length > 0
  const hasMessages = messages !== undefined && messages.length > 0
  if (hasPrompt && hasMessages) throw badInput('workflow: use either prompt or messages, not both')
  if (hasMessages) return [...messages]
  if (!hasPrompt) throw badInput('workflow: either prompt or messages is required')
  return typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : [...prompt]
}

function badInput(message: string): HoldfastError {
  return new HoldfastError(ErrorCode.argumentsInvalid, { message })
}

function checkedSteps(maxSteps: number): void {
  wholeNumberOption('maxSteps', maxSteps, { min: 1, max: 1_000_000 })
}

/** A call's own settings; what belongs to the agent alone is not taken from it. */
function sharedOf(options: object): SharedSettings {
  const {
    model: _model,
    prepareCall: _prepareCall,
    messages: _messages,
    writable: _writable,
    ...shared
  } = options as SharedSettings & Record<string, unknown>
  return shared
}

function isModelFailure(error: unknown): error is HoldfastError {
  return (
    isHoldfastError(error) &&
    (error.code === ErrorCode.modelFailed || error.code === ErrorCode.timeout)
  )
}

async function writeFailure(
  writer: PartWriter,
  error: unknown,
  sendFinish: boolean,
): Promise<void> {
  try {
    const shown = isModelFailure(error) ? (error.cause ?? error) : error
    await writer.write({ type: 'error', error: shown })
    if (sendFinish) await writer.write({ type: 'finish', finishReason: 'error' })
  } catch {
    // Nobody reads any more; the error itself is what the caller gets.
  }
}

function abortText(reason: unknown): { reason?: string } {
  return typeof reason === 'string' ? { reason } : {}
}
