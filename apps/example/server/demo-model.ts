import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { decideReply } from './demo-rules.ts'
import type { Reply } from './demo-rules.ts'

/** Options of the offline demo model. */
export interface DemoModelOptions {
  /** Between two words, in milliseconds. */
  readonly wordDelayMs: number
}

const modelId = 'offline-demo'

/**
 * A small rule-based model that needs no network: it understands a few plain requests, calls tools
 * for them and streams word by word. It is no language model and says so.
 */
export function demoModel({ wordDelayMs }: DemoModelOptions): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'holdfast-demo',
    modelId,
    supportedUrls: {},
    async doGenerate(options): Promise<LanguageModelV4GenerateResult> {
      const reply = decideReply(options.prompt)
      return {
        content: [
          ...(reply.text === '' ? [] : [{ type: 'text' as const, text: reply.text }]),
          ...reply.calls.map((call) => ({
            type: 'tool-call' as const,
            toolCallId: call.id,
            toolName: call.name,
            input: JSON.stringify(call.input),
          })),
        ],
        finishReason: finishReasonOf(reply),
        usage: usageOf(options, reply),
        warnings: [],
      }
    },
    async doStream(options) {
      const reply = decideReply(options.prompt)
      return { stream: streamOf(reply, options, wordDelayMs) }
    },
  }
}

function streamOf(
  reply: Reply,
  options: LanguageModelV4CallOptions,
  wordDelayMs: number,
): ReadableStream<LanguageModelV4StreamPart> {
  const parts = partsOf(reply, options)
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = parts.next()
      if (done) return controller.close()
      if (value.type === 'text-delta') await pause(wordDelayMs, options.abortSignal)
      if (options.abortSignal?.aborted) return controller.error(options.abortSignal.reason)
      controller.enqueue(value)
    },
  })
}

function* partsOf(
  reply: Reply,
  options: LanguageModelV4CallOptions,
): Generator<LanguageModelV4StreamPart, undefined> {
  yield { type: 'stream-start', warnings: [] }
  yield { type: 'response-metadata', modelId }
  if (reply.text !== '') {
    yield { type: 'text-start', id: 'text' }
    for (const word of reply.text.split(/(?<=\s)/)) {
      yield { type: 'text-delta', id: 'text', delta: word }
    }
    yield { type: 'text-end', id: 'text' }
  }
  for (const call of reply.calls) {
    const input = JSON.stringify(call.input)
    yield { type: 'tool-input-start', id: call.id, toolName: call.name }
    yield { type: 'tool-input-delta', id: call.id, delta: input }
    yield { type: 'tool-input-end', id: call.id }
    yield { type: 'tool-call', toolCallId: call.id, toolName: call.name, input }
  }
  yield { type: 'finish', finishReason: finishReasonOf(reply), usage: usageOf(options, reply) }
}

function finishReasonOf(reply: Reply): LanguageModelV4FinishReason {
  return reply.calls.length === 0
    ? { unified: 'stop', raw: undefined }
    : { unified: 'tool-calls', raw: undefined }
}

/** Words for tokens: the demo counts what it can. */
function usageOf(options: LanguageModelV4CallOptions, reply: Reply): LanguageModelV4Usage {
  const input = JSON.stringify(options.prompt).split(' ').length
  const output = reply.text.split(' ').length
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  }
}

/** Waits, or ends early when the signal fires. */
function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  if (delayMs <= 0) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, delayMs)
    signal?.addEventListener('abort', end, { once: true })
  })
}
