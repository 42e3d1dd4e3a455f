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
import type { JsonObject, Log, System } from '@holdfast/core'
import { system as realSystem } from '@holdfast/core/system'
import { observe } from './agent-telemetry.ts'
import type { Observed } from './agent-telemetry.ts'
import type { Usage } from './usage.ts'
import { approvalAuthority, refuseApprovalsInMessages } from './approval-authority.ts'
import { joinCallbacks } from './callbacks.ts'
import type { Callbacks } from './callbacks.ts'
import { withNewerNames } from './deprecated.ts'
import { durableOperations } from './durable-operations.ts'
import { reportError } from './error-report.ts'
import { redactedErrorText } from './error-text.ts'
import type { ErrorText } from './error-text.ts'
import { runLoop } from './loop.ts'
import { LoopState } from './loop-state.ts'
import type { LoopCall, LoopEnd } from './loop-state.ts'
import { liveResult } from './live-result.ts'
import type { FedPart } from './live-result.ts'
import { memoryOperations } from './memory-operations.ts'
import type { Operations } from './operations.ts'
import type { ModelCallStreamPart } from './model-call-part.ts'
import { Output } from './output.ts'
import type { OutputSpecification } from './output.ts'
import { PartFeed } from './part-feed.ts'
import { openPartWriter } from './part-writer.ts'
import type { PartWriter } from './part-writer.ts'
import { budgetOf, mergedSettings, preparedCall } from './prepare.ts'
import type { MergedSettings, PreparedCall } from './prepare.ts'
import { finishReasonOf, generateResult, streamResult } from './results.ts'
import type {
  WorkflowAgentGenerateResult,
  WorkflowAgentLiveResult,
  WorkflowAgentStreamResult,
} from './results.ts'
import type {
  CallInput,
  DurableContext,
  GenerateOptions,
  SharedSettings,
  StreamDurablyOptions,
  StreamLiveOptions,
  StreamOptions,
  StreamToWritableOptions,
  WorkflowAgentOptions,
} from './settings.ts'
import { textStreamParts } from './text-stream-part.ts'
import { createDeadline, timeoutsOf } from './timeouts.ts'

const mostConcurrentTools = 64

/** A call that says for itself what the answer shall be. */
interface WithOutput<OUTPUT extends OutputSpecification> {
  readonly output: OUTPUT
}

/**
 * A model with tools, called until it needs no more of them: in memory, or with every step an operation of a durable
 * run (`durable`). It keeps nothing between calls. Types of results, hooks and callbacks follow `tools` and `output`.
 */
export class WorkflowAgent<
  TOOLS extends ToolSet = ToolSet,
  OUTPUT extends OutputSpecification = never,
> {
  readonly version = 'agent-v1'
  readonly id: string | undefined
  readonly tools: TOOLS
  private readonly options: Omit<WorkflowAgentOptions, 'system'>
  private readonly concurrency: number
  private readonly log: Log
  private readonly system: System
  private readonly errorText: ErrorText

  /** @throws `configuration_invalid` no model, unusable instructions, or a number out of its bounds */
  constructor(options: WorkflowAgentOptions<TOOLS, OUTPUT>) {
    // Inside, all tools look alike; types that follow them are given at the methods.
    const { system, ...given } = options as unknown as WorkflowAgentOptions
    this.options = isSystem(system) ? given : withNewerNames({ ...given, system })
    const { id, tools = {}, toolCallConcurrency = Limits.toolsAtOnce, maxSteps } = this.options
    if (options.model === undefined) throw configurationInvalid('workflow: model is required')
    this.id = id
    this.tools = tools as TOOLS
    this.concurrency = wholeNumberOption('toolCallConcurrency', toolCallConcurrency, {
      min: 1,
      max: mostConcurrentTools,
    })
    if (maxSteps !== undefined) checkedSteps(maxSteps)
    this.log = options.log ?? silentLog
    this.system = isSystem(system) ? system : realSystem
    this.errorText = options.errorText ?? redactedErrorText
  }

  /**
   * Resolves with the whole answer. Its model calls are not streamed, and a durable run's stream gets nothing.
   *
   * @throws what the signal gives, when it fires; `model_failed`, `output_invalid`, `timeout`, `approval_invalid`,
   * `message_invalid`; what a hook throws
   */
  generate<CALL_OUTPUT extends OutputSpecification>(
    options: GenerateOptions<TOOLS, CALL_OUTPUT> & WithOutput<CALL_OUTPUT>,
  ): Promise<WorkflowAgentGenerateResult<TOOLS, CALL_OUTPUT>>
  generate(
    options: GenerateOptions<TOOLS, OUTPUT>,
  ): Promise<WorkflowAgentGenerateResult<TOOLS, OUTPUT>>
  async generate(options: unknown): Promise<unknown> {
    return this.generated(options as GenerateOptions)
  }

  /**
   * Resolves at once with a live result: AI SDK's, which its helpers for agents take. The call runs whether or not the
   * result is read. What fails, fails its promises, and is an `error` part of its streams.
   *
   * @throws `arguments_invalid`, `approval_invalid`
   */
  stream<CALL_OUTPUT extends OutputSpecification>(
    options: StreamLiveOptions<TOOLS, CALL_OUTPUT> & WithOutput<CALL_OUTPUT>,
  ): Promise<WorkflowAgentLiveResult<TOOLS, CALL_OUTPUT>>
  stream(options: StreamLiveOptions<TOOLS, OUTPUT>): Promise<WorkflowAgentLiveResult<TOOLS, OUTPUT>>
  /**
   * Streams the parts of the answer to `writable`, or as UI message chunks to the durable run's stream, and resolves when
   * all is over. An abort, or a cancel of the run, resolves too: with what had come until then.
   *
   * A model that fails: in memory an `error` part, and `error` in the result. Durable: rejects, so that the run fails
   * and can be retried.
   *
   * @throws `approval_invalid`, `message_invalid`; what a hook or the writable throws; durable: `model_failed`,
   * `output_invalid`, `timeout`
   */
  stream<CALL_OUTPUT extends OutputSpecification>(
    options: (
      | StreamToWritableOptions<TOOLS, CALL_OUTPUT>
      | StreamDurablyOptions<TOOLS, CALL_OUTPUT>
    ) &
      WithOutput<CALL_OUTPUT>,
  ): Promise<WorkflowAgentStreamResult<TOOLS, CALL_OUTPUT>>
  stream(
    options: StreamToWritableOptions<TOOLS, OUTPUT> | StreamDurablyOptions<TOOLS, OUTPUT>,
  ): Promise<WorkflowAgentStreamResult<TOOLS, OUTPUT>>
  async stream(given: unknown): Promise<unknown> {
    const options = given as StreamOptions
    if (isToWritable(options)) return this.streamInMemory(options)
    if (isDurable(options)) return this.streamDurably(options, options.durable)
    return this.streamLive(options)
  }

  private async generated(options: GenerateOptions): Promise<WorkflowAgentGenerateResult> {
    const { abortSignal, durable } = options
    const deadline = createDeadline(this.system, [abortSignal])
    const operations =
      durable === undefined
        ? this.inMemory(deadline.signal, 'none', () => Promise.resolve())
        : this.durably(durable, false)
    const call = this.prepared(options, operations)
    const state = new LoopState(call.messages)
    try {
      deadline.arm('total', durable === undefined ? call.totalMs : undefined)
      const end = await runLoop(call, state)
      if (end.kind === 'aborted') throw end.reason
      const result = generateResult(state, end, call.output)
      call.observed.end(endAttributes(result))
      return result
    } catch (error) {
      call.observed.fail(error)
      await this.told(error, call, state, abortSignal, durable)
      throw error
    } finally {
      deadline.dispose()
    }
  }

  /** Begins the call, and gives its live result. Only what the caller did wrong rejects. */
  private async streamLive(options: StreamLiveOptions): Promise<WorkflowAgentLiveResult> {
    const { abortSignal } = options
    const deadline = createDeadline(this.system, [abortSignal])
    const feed = new PartFeed<FedPart>()
    let state = new LoopState([])
    const convert = textStreamParts({
      lastStep: () => state.steps.at(-1),
      totalUsage: () => state.totalUsage,
    })
    const write = (part: ModelCallStreamPart): Promise<void> => {
      feed.push({ part, live: convert(part) })
      return Promise.resolve()
    }
    const operations = this.inMemory(deadline.signal, 'once', write)
    const call = this.prepared(options, operations)
    state = new LoopState(call.messages)
    const run = async (): Promise<WorkflowAgentGenerateResult> => {
      const writer = { write, end: () => Promise.resolve(feed.close()) }
      try {
        await write({ type: 'start', messageId: this.system.shortId() })
        deadline.arm('total', call.totalMs)
        const end = await runLoop(call, state)
        await this.finished(end, { call, state, writer, abortSignal, sendFinish: true })
        const result = generateResult(state, end, call.output)
        call.observed.end(endAttributes(result))
        return result
      } catch (error) {
        call.observed.fail(error)
        await reportError(call.callbacks, error)
        if (abortSignal?.aborted !== true) await writeFailure(writer, error, true)
        throw error
      } finally {
        deadline.dispose()
        feed.close()
      }
    }
    const output = call.output ?? Output.text()
    return liveResult({ feed, ended: run(), output, errorText: this.errorText })
  }

  private async streamInMemory(
    options: StreamToWritableOptions,
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
      const operations = this.inMemory(deadline.signal, 'again', (part) => writer.write(part))
      call = this.prepared(options, operations)
      state = new LoopState(call.messages)
      deadline.arm('total', call.totalMs)
      const end = await runLoop(call, state)
      const result = await this.finished(end, { call, state, writer, abortSignal, sendFinish })
      call.observed.end(endAttributes(result))
      return result
    } catch (error) {
      call?.observed.fail(error)
      const callbacks = call?.callbacks ?? this.callbacks(options)
      await reportError(callbacks, error)
      await writeFailure(writer, error, sendFinish)
      if (!isModelFailure(error)) throw error
      return streamResult(state, { kind: 'failed', error: shownFailure(error) }, call?.output)
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
      return streamResult(state, end, call.output)
    }
    if (abortSignal?.aborted !== true) throw end.reason
    const reason = abortText(end.reason)
    await call.callbacks.notify('onAbort', { steps: state.steps, ...reason })
    await writer.write({ type: 'abort', ...reason })
    return streamResult(state, end, call.output)
  }

  private async streamDurably(
    options: GenerateOptions,
    context: DurableContext,
  ): Promise<WorkflowAgentStreamResult> {
    const call = this.prepared(options, this.durably(context, true))
    const state = new LoopState(call.messages)
    try {
      return streamResult(state, await runLoop(call, state), call.output)
    } catch (error) {
      if (!hasErrorCode(error, ErrorCode.cancelled)) throw error
      await this.told(error, call, state, undefined, context)
      return streamResult(state, { kind: 'aborted', reason: error }, call.output)
    }
  }

  /** Tells `onError`, or `onAbort` when it was no failure. */
  private async told(
    error: unknown,
    call: LoopCall,
    state: LoopState,
    abortSignal: AbortSignal | undefined,
    context: DurableContext | undefined,
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
    const settings: MergedSettings = mergedSettings(this.options, sharedOf(rest))
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
      instructions: settings.instructions,
      output: settings.output,
      concurrency: this.concurrency,
      authority: approvalAuthority(this.options.approvals, this.system),
      errorText: this.errorText,
      observed: this.observed(settings, operations),
      log: this.log,
      system: this.system,
    }
  }

  /** A durable run is not observed here: each replay would begin its span anew. */
  private observed(settings: MergedSettings, operations: Operations): Observed {
    const { system } = this
    const telemetry = operations.runId === undefined ? settings.telemetry : undefined
    const name = telemetry?.functionId ?? this.id ?? 'agent'
    const attributes = { 'gen_ai.conversation.id': operations.callId, 'gen_ai.agent.name': name }
    return observe(telemetry, 'invoke_agent', { name, attributes, now: () => system.now() })
  }

  private callbacks(options: SharedSettings): Callbacks {
    return joinCallbacks([withNewerNames(this.options), withNewerNames(options)], this.log)
  }

  /** `reader`: whether parts are read, and whether its reader knows how to take parts back. */
  private inMemory(
    signal: AbortSignal,
    reader: 'none' | 'once' | 'again',
    emit: PartWriter['write'],
  ): Operations {
    const { system } = this
    const callId = system.uuid()
    const streaming = reader !== 'none'
    return memoryOperations({
      callId,
      streaming,
      takesBack: reader !== 'once',
      signal,
      system,
      emit,
    })
  }

  private durably(context: DurableContext, streaming: boolean): Operations {
    return durableOperations({ context, streaming, chunks: { errorText: this.errorText } })
  }
}

function endAttributes(result: {
  readonly finishReason: string
  readonly totalUsage: Usage
}): JsonObject {
  const { inputTokens, outputTokens } = result.totalUsage
  return {
    'gen_ai.response.finish_reasons': [result.finishReason],
    ...(inputTokens === undefined ? {} : { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(outputTokens === undefined ? {} : { 'gen_ai.usage.output_tokens': outputTokens }),
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
    (error.code === ErrorCode.modelFailed ||
      error.code === ErrorCode.timeout ||
      error.code === ErrorCode.outputInvalid)
  )
}

/** What a result says of a failure: what the model threw, or how its output does not fit. */
function shownFailure(error: HoldfastError): unknown {
  return error.code === ErrorCode.outputInvalid ? error : (error.cause ?? error)
}

function isSystem(value: WorkflowAgentOptions['system']): value is System {
  return typeof value === 'object' && 'now' in value
}

function isToWritable(options: StreamOptions): options is StreamToWritableOptions {
  return options.writable !== undefined
}

function isDurable(options: StreamOptions): options is StreamDurablyOptions {
  return options.durable !== undefined
}

async function writeFailure(
  writer: PartWriter,
  error: unknown,
  sendFinish: boolean,
): Promise<void> {
  try {
    const shown = isModelFailure(error) ? shownFailure(error) : error
    await writer.write({ type: 'error', error: shown })
    if (sendFinish) await writer.write({ type: 'finish', finishReason: 'error' })
  } catch {
    // Nobody reads any more; the error itself is what the caller gets.
  }
}

function abortText(reason: unknown): { reason?: string } {
  return typeof reason === 'string' ? { reason } : {}
}
