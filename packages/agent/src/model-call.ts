// One model call with its retries: asks, streams, checks tool calls, and says what is to be recorded.
//
// M1. `start-step` is emitted once, before anything else of the call. What an earlier run of this body left with the reader
//     is taken back by one `reset-step` in its place; so is what a failed attempt emitted.
// M2. When the caller's signal fires, the call resolves with what had come, marked aborted; open blocks are ended.
// M3. Nothing is tried again once the signal has fired.
// M4. Every timer and listener is gone when the call settles.
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import type { ModelMessage, ToolSet } from '@ai-sdk/provider-utils'
import { ErrorCode, HoldfastError, isHoldfastError } from '@holdfast/core'
import type { JsonObject, JsonValue, System } from '@holdfast/core'
import { ContentCollector, metadataOf } from './content-collector.ts'
import type { ErrorText } from './error-text.ts'
import { partsOfGenerated } from './generated-parts.ts'
import type { CallableModel } from './language-model.ts'
import { modelCallRecordVersion } from './model-call-record.ts'
import type { ModelCallStreamPart } from './model-call-part.ts'
import type { ModelCallRecord, RecordedToolCall } from './model-call-record.ts'
import type { StepScope } from './operations.ts'
import type { IncludeOptions } from './include.ts'
import { transformedParts } from './part-transform.ts'
import type { PartTransform, TransformedParts } from './part-transform.ts'
import { plainJson, plainObject } from './plain-json.ts'
import { isPassingFailure, pause, retryDelayMs } from './retry.ts'
import { createDeadline, untilAborted } from './timeouts.ts'
import type { ToolDescription } from './tool-description.ts'
import type { Deadline, Timeouts } from './timeouts.ts'
import { usageFromModel } from './usage.ts'

/** What a model call needs. */
export interface ModelCall {
  readonly model: CallableModel
  readonly options: LanguageModelV4CallOptions
  /** Whether to stream, or to take the answer whole. */
  readonly streaming: boolean
  /** Whether output that was emitted can be taken back for a new try. */
  readonly takesBack: boolean
  readonly transforms: readonly PartTransform[]
  /** Those that the model sees. */
  readonly tools: ToolSet
  readonly include: IncludeOptions
  readonly messages: readonly ModelMessage[]
  readonly maxRetries: number
  readonly timeouts: Timeouts
  /** Milliseconds that are left of the whole call's time. */
  readonly remainingMs: number | undefined
  /** Ids of blocks in earlier steps, and what is put behind one that comes again. */
  readonly blockIds: { readonly taken: ReadonlySet<string>; readonly suffix: string }
  /** Checks a tool call and decides what is to become of it. */
  readonly judge: (call: JudgedCall) => Promise<RecordedToolCall>
  /** What pages are told of a tool from the first part of its call on. */
  readonly describeTool: (toolName: string) => ToolDescription
  readonly errorText: ErrorText
  readonly system: System
}

/** A tool call as the model's stream has it. */
export type JudgedCall = Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>

/**
 * Calls the model.
 *
 * @throws `model_failed` after the last try, its cause being what the model threw; `timeout`
 */
export async function callModel(call: ModelCall, given: StepScope): Promise<ModelCallRecord> {
  const { scope, lost } = watchedScope(given)
  const deadline = createDeadline(call.system, [scope.signal])
  deadline.arm('step', call.timeouts.stepMs)
  deadline.arm('total', call.remainingMs)
  try {
    await scope.emit({ type: scope.hasEarlierParts ? 'reset-step' : 'start-step' })
    for (let failures = 0; ;) {
      const attempt = new Attempt(call, scope, deadline.signal)
      try {
        return await attempt.run()
      } catch (error) {
        if (scope.signal.aborted) return await attempt.cutOff()
        // The reader is gone, and not the model: nothing is left to try.
        if (lost() !== undefined) throw lost()
        failures += 1
        if (deadline.signal.aborted) throw deadline.signal.reason
        const isFinal = attempt.hasEmitted && !call.takesBack
        if (isFinal || failures > call.maxRetries || !isPassingFailure(error)) {
          throw failed(error, call)
        }
        if (attempt.hasEmitted) await scope.emit({ type: 'reset-step' })
        await pause(retryDelayMs(error, failures, call.system), call.system, deadline.signal)
      }
    }
  } catch (error) {
    if (!scope.signal.aborted) throw error
    // Cut between two tries: nothing of the failed one counts.
    return new Attempt(call, scope, deadline.signal).cutOff()
  } finally {
    deadline.dispose()
  }
}

/** The scope, and what its reader failed with, so that it is not taken for the model's failure. */
function watchedScope(scope: StepScope): {
  readonly scope: StepScope
  readonly lost: () => unknown
} {
  let lost: unknown
  return {
    lost: () => lost,
    scope: {
      ...scope,
      async emit(part) {
        try {
          await scope.emit(part)
        } catch (error) {
          lost = error ?? new Error('The reader is gone.')
          throw error
        }
      },
    },
  }
}

function failed(error: unknown, call: ModelCall): HoldfastError {
  if (isHoldfastError(error)) return error
  return new HoldfastError(ErrorCode.modelFailed, {
    message: call.errorText(error, 'model'),
    details: { provider: call.model.provider, model_id: call.model.modelId },
    cause: error,
    retryable: isPassingFailure(error),
  })
}

/** One try of a call. */
class Attempt {
  hasEmitted = false
  private isStopped = false
  private readonly transformed: TransformedParts | undefined
  private readonly emit: (part: ModelCallStreamPart) => Promise<void>
  private request: ModelCallRecord['request']
  private body: JsonValue | undefined
  private readonly call: ModelCall
  private readonly scope: StepScope
  private readonly deadline: Deadline
  private readonly collector: ContentCollector
  private warnings: readonly object[] = []
  private responseId: string | undefined
  private responseModelId: string | undefined
  private timestamp: number
  private readonly startedAt: number
  private firstOutputAt: number | undefined
  private headers: Readonly<Record<string, string>> | undefined
  private finish: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined

  constructor(call: ModelCall, scope: StepScope, signal: AbortSignal) {
    this.call = call
    this.scope = scope
    this.deadline = createDeadline(call.system, [signal])
    this.startedAt = call.system.now()
    this.timestamp = this.startedAt
    const { transforms, tools } = call
    const show = (part: ModelCallStreamPart): Promise<void> => scope.emit(part)
    const stopStream = (): void => {
      this.isStopped = true
    }
    const transformed =
      transforms.length === 0 || !call.streaming
        ? undefined
        : transformedParts(transforms, show, { tools, stopStream })
    this.transformed = transformed
    const write = transformed === undefined ? show : transformed.write
    const emit = (part: ModelCallStreamPart): Promise<void> => {
      this.hasEmitted = true
      return write(part)
    }
    this.emit = emit
    this.collector = new ContentCollector(emit, call.blockIds, call.describeTool)
  }

  async run(): Promise<ModelCallRecord> {
    try {
      this.deadline.arm('firstChunk', this.call.timeouts.firstChunkMs)
      if (this.call.streaming) await this.stream()
      else await this.generate()
      if (this.deadline.signal.aborted) throw this.deadline.signal.reason
      await this.collector.endOpenBlocks()
      if (this.finish === undefined && this.collector.isEmpty) throw noOutput()
      await this.transformed?.end()
      return await this.ended()
    } catch (error) {
      if (!this.scope.signal.aborted) this.transformed?.drop(error)
      throw error
    } finally {
      this.deadline.dispose()
    }
  }

  /** What had come when the signal fired. */
  async cutOff(): Promise<ModelCallRecord> {
    await this.collector.endOpenBlocks()
    await this.transformed?.end()
    return { ...this.record(), aborted: true }
  }

  private async generate(): Promise<void> {
    const { model, options } = this.call
    const { signal } = this.deadline
    const answer = model.generate({ ...options, abortSignal: signal })
    const result = await untilAborted(answer, signal)
    this.headers = result.response?.headers
    this.keep(result.request?.body, result.response?.body)
    for (const part of partsOfGenerated(result)) await this.accept(part)
  }

  private async stream(): Promise<void> {
    const { model, options } = this.call
    const { signal } = this.deadline
    const opening = model.stream({ ...options, abortSignal: signal })
    const { stream, response, request } = await untilAborted(opening, signal)
    this.keep(request?.body, undefined)
    this.headers = response?.headers
    const reader = stream.getReader()
    const cancel = (): void => void reader.cancel(signal.reason).catch(() => undefined)
    signal.addEventListener('abort', cancel, { once: true })
    try {
      if (signal.aborted) cancel()
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        await this.accept(next.value)
        if (signal.aborted) return
        if (this.isStopped) return cancel()
      }
    } catch (error) {
      cancel()
      throw error
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

  private async accept(part: LanguageModelV4StreamPart): Promise<void> {
    switch (part.type) {
      case 'stream-start':
        this.warnings = part.warnings
        return this.scope.emit({ type: 'model-call-start', warnings: part.warnings })
      case 'response-metadata': {
        const { id, modelId, timestamp } = part
        this.responseId = id ?? this.responseId
        this.responseModelId = modelId ?? this.responseModelId
        this.timestamp = timestamp?.getTime() ?? this.timestamp
        return this.scope.emit({
          type: 'model-call-response-metadata',
          ...(id === undefined ? {} : { id }),
          ...(modelId === undefined ? {} : { modelId }),
          ...(timestamp === undefined ? {} : { timestamp }),
        })
      }
      case 'ping':
        return
      case 'raw':
        return this.emit(part)
      case 'error':
        throw part.error
      case 'finish':
        this.finish = part
        return
      case 'tool-call':
        this.sawOutput()
        return this.addToolCall(part)
      case 'tool-approval-request': {
        const { type, approvalId, toolCallId } = part
        const metadata = metadataOf(part.providerMetadata)
        this.collector.add({ type, approvalId, toolCallId, ...metadata })
        return
      }
      case 'text-start':
      case 'text-delta':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
      case 'tool-result':
      case 'file':
      case 'reasoning-file':
      case 'source':
      case 'custom':
        this.sawOutput()
        return this.collector.accept(part)
    }
  }

  private keep(requestBody: unknown, responseBody: unknown): void {
    const { include, messages } = this.call
    const body = include.requestBody === true ? plainJson(requestBody) : undefined
    const kept = include.requestMessages === true ? plainJson(messages) : undefined
    if (body !== undefined || kept !== undefined) {
      this.request = {
        ...(body === undefined ? {} : { body }),
        ...(Array.isArray(kept) ? { messages: [...kept] } : {}),
      }
    }
    this.body = include.responseBody === true ? plainJson(responseBody) : undefined
  }

  private sawOutput(): void {
    if (this.firstOutputAt === undefined) {
      this.firstOutputAt = this.call.system.now()
      this.deadline.disarm('firstChunk')
    }
    const { chunkMs } = this.call.timeouts
    if (chunkMs !== undefined) this.deadline.arm('chunk', chunkMs)
  }

  private async addToolCall(part: JudgedCall): Promise<void> {
    // Checking may take its time (a repair asks a model): no output is due meanwhile.
    this.deadline.disarm('chunk')
    const call = await this.call.judge(part)
    this.deadline.arm('chunk', this.call.timeouts.chunkMs)
    this.collector.add(call)
    this.hasEmitted = true
    const { toolCallId, toolName, dynamic, title, toolMetadata, error } = call
    await this.emit({
      type: 'tool-call',
      toolCallId,
      toolName,
      input: plainObject({ input: call.input })['input'] ?? {},
      ...(call.decision === 'invalid' ? { invalid: true } : {}),
      ...(error === undefined ? {} : { error }),
      ...(call.decision === 'provider' ? { providerExecuted: true } : {}),
      ...(dynamic === undefined ? {} : { dynamic }),
      ...(title === undefined ? {} : { title }),
      ...(toolMetadata === undefined ? {} : { toolMetadata: toolMetadata as JsonObject }),
      ...metadataOf(part.providerMetadata),
    })
  }

  private async ended(): Promise<ModelCallRecord> {
    const record = this.record()
    await this.scope.emit({
      type: 'model-call-end',
      finishReason: record.finishReason,
      ...(record.rawFinishReason === undefined ? {} : { rawFinishReason: record.rawFinishReason }),
      usage: usageFromModel(record.usage),
      ...metadataOf(this.finish?.providerMetadata),
    })
    return record
  }

  private record(): ModelCallRecord {
    const { finishReason, usage, providerMetadata } = this.finish ?? {}
    const { provider, modelId } = this.call.model
    return {
      version: modelCallRecordVersion,
      model: { provider, modelId },
      content: this.collector.content,
      finishReason: finishReason?.unified ?? 'other',
      ...(finishReason?.raw === undefined ? {} : { rawFinishReason: finishReason.raw }),
      usage: recordedUsage(usage),
      ...metadataOf(providerMetadata),
      response: {
        timestamp: this.timestamp,
        ...(this.responseId === undefined ? {} : { id: this.responseId }),
        ...(this.responseModelId === undefined ? {} : { modelId: this.responseModelId }),
        ...(this.headers === undefined ? {} : { headers: { ...this.headers } }),
        ...(this.body === undefined ? {} : { body: this.body }),
      },
      ...(this.request === undefined ? {} : { request: this.request }),
      warnings: this.warnings.map((warning) => plainObject(warning)),
      timing: {
        responseMs: Math.max(0, this.call.system.now() - this.startedAt),
        ...(this.firstOutputAt === undefined
          ? {}
          : { firstOutputMs: Math.max(0, this.firstOutputAt - this.startedAt) }),
      },
    }
  }
}

function recordedUsage(usage: LanguageModelV4Usage | undefined): ModelCallRecord['usage'] {
  if (usage === undefined) return { inputTokens: {}, outputTokens: {} }
  return {
    inputTokens: plainObject(usage.inputTokens),
    outputTokens: plainObject(usage.outputTokens),
    ...(usage.raw === undefined ? {} : { raw: plainObject(usage.raw) }),
  }
}

function noOutput(): HoldfastError {
  return new HoldfastError(ErrorCode.modelFailed, {
    message: 'No output generated. The model stream ended without a finish chunk.',
    retryable: true,
  })
}
