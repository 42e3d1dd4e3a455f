// Spans and metrics of an agent, by OpenTelemetry's conventions for generative AI.
//
// T1. Nothing is computed where no port is given, and nothing of what was said is told unless asked for.
// T2. Every span that was begun is ended, once.
// T3. In a durable run spans are begun inside of operations only: a replay, which does not run them again, begins none.
//     So such a run has spans of its model calls and tools; of the whole, the engine tells.
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { JsonObject, Span, Telemetry } from '@holdfast/core'
import { isHoldfastError } from '@holdfast/core'
import type { ModelCallRecord } from './model-call-record.ts'
import { plainJson } from './plain-json.ts'

/** Where an agent's spans and metrics go, and how much they say. */
export interface AgentTelemetry {
  /** The host's port. Without it, or with `isEnabled: false`, nothing is told. */
  readonly port?: Telemetry | undefined
  readonly isEnabled?: boolean | undefined
  /** Names the agent in spans: `gen_ai.agent.name`. Default: the agent's id. */
  readonly functionId?: string | undefined
  /** Whether spans hold prompts and inputs of tools. Default false. */
  readonly recordInputs?: boolean | undefined
  /** Whether spans hold the model's texts and results of tools. Default false. */
  readonly recordOutputs?: boolean | undefined
}

/** One piece of an agent's work under observation. */
export interface Observed {
  readonly span: Span | undefined
  end(attributes?: JsonObject): void
  fail(error: unknown): void
}

const unobserved: Observed = { span: undefined, end: () => undefined, fail: () => undefined }

/** What one kind of work is called. */
export type Operation = 'invoke_agent' | 'chat' | 'execute_tool'

/** Begins to observe a piece of work; its duration is a metric too. */
export function observe(
  telemetry: AgentTelemetry | undefined,
  operation: Operation,
  about: {
    readonly name: string
    readonly attributes: JsonObject
    readonly parent?: Span | undefined
    readonly now: () => number
  },
): Observed {
  const port = telemetry?.isEnabled === false ? undefined : telemetry?.port
  if (port === undefined) return unobserved
  const functionId = telemetry?.functionId
  const named: JsonObject = functionId === undefined ? {} : { 'gen_ai.agent.name': functionId }
  const attributes: JsonObject = {
    'gen_ai.operation.name': operation,
    ...named,
    ...about.attributes,
  }
  const span = port.startSpan(`${operation} ${about.name}`, attributes, about.parent)
  const startedAt = about.now()
  let isOver = false
  const over = (extra: JsonObject, error?: unknown): void => {
    if (isOver) return
    isOver = true
    span.setAttributes(extra)
    const seconds = Math.max(0, about.now() - startedAt) / 1_000
    const kind: JsonObject = error === undefined ? {} : { 'error.type': errorType(error) }
    port.record('gen_ai.client.operation.duration', seconds, { ...attributes, ...kind })
    if (error === undefined) span.end()
    else span.end(error)
  }
  return {
    span,
    end: (extra = {}) => over(extra),
    // An error's text may hold what must not be told: a span gets its kind.
    fail: (error) => over({ 'error.type': errorType(error) }, safeError(error)),
  }
}

/** What a model call's span says of what was asked. */
export function askedAttributes(
  telemetry: AgentTelemetry | undefined,
  options: LanguageModelV4CallOptions,
): JsonObject {
  if (telemetry?.port === undefined) return {}
  const { maxOutputTokens, temperature, topP, topK, seed, prompt } = options
  const said = telemetry.recordInputs === true ? plainJson(prompt) : undefined
  return {
    ...numbered('gen_ai.request.max_tokens', maxOutputTokens),
    ...numbered('gen_ai.request.temperature', temperature),
    ...numbered('gen_ai.request.top_p', topP),
    ...numbered('gen_ai.request.top_k', topK),
    ...numbered('gen_ai.request.seed', seed),
    ...(said === undefined ? {} : { 'gen_ai.input.messages': JSON.stringify(said) }),
  }
}

/** What a model call's span says at its end; the tokens are metrics too. */
export function modelCallAttributes(
  telemetry: AgentTelemetry | undefined,
  record: ModelCallRecord,
): JsonObject {
  const { usage, model, response, finishReason } = record
  const port = telemetry?.isEnabled === false ? undefined : telemetry?.port
  const about = { 'gen_ai.provider.name': model.provider, 'gen_ai.request.model': model.modelId }
  for (const [kind, tokens] of [
    ['input', usage.inputTokens.total],
    ['output', usage.outputTokens.total],
  ] as const) {
    if (tokens === undefined) continue
    port?.record('gen_ai.client.token.usage', tokens, { ...about, 'gen_ai.token.type': kind })
  }
  const said = telemetry?.recordOutputs === true ? plainJson(record.content) : undefined
  return {
    ...(response.id === undefined ? {} : { 'gen_ai.response.id': response.id }),
    'gen_ai.response.model': response.modelId ?? model.modelId,
    'gen_ai.response.finish_reasons': [finishReason],
    ...numbered('gen_ai.usage.input_tokens', usage.inputTokens.total),
    ...numbered('gen_ai.usage.output_tokens', usage.outputTokens.total),
    ...numbered('gen_ai.usage.cache_read.input_tokens', usage.inputTokens.cacheRead),
    ...numbered('gen_ai.usage.cache_creation.input_tokens', usage.inputTokens.cacheWrite),
    ...(said === undefined ? {} : { 'gen_ai.output.messages': JSON.stringify(said) }),
  }
}

function numbered(name: string, value: number | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value }
}

function errorType(error: unknown): string {
  if (isHoldfastError(error)) return error.code
  return error instanceof Error ? error.name : '_OTHER'
}

function safeError(error: unknown): unknown {
  return isHoldfastError(error) ? error : new Error(errorType(error))
}
