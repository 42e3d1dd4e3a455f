import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { MockLanguageModelV4 } from 'ai/test'

/** Parts of one answer, or a function of the call that gives them (or throws). */
export type Answer =
  | readonly LanguageModelV4StreamPart[]
  | ((options: LanguageModelV4CallOptions) => Promise<ReadableStream<LanguageModelV4StreamPart>>)

export const usage: LanguageModelV4Usage = {
  inputTokens: { total: 10, noCache: 7, cacheRead: 2, cacheWrite: 1 },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
}

/** A model that gives these answers, one a call. Asking for more is an error. */
export function scriptedModel(...answers: readonly Answer[]): MockLanguageModelV4 {
  let asked = 0
  const model: MockLanguageModelV4 = new MockLanguageModelV4({
    doStream: async (options) => {
      const answer = answers[asked]
      asked += 1
      if (answer === undefined) throw new Error(`The script has no answer ${asked}.`)
      return { stream: typeof answer === 'function' ? await answer(options) : streamOf(answer) }
    },
  })
  return model
}

/** A model whose answer follows from the prompt: what a repeat after a crash needs. */
export function promptedModel(
  answer: (options: LanguageModelV4CallOptions) => readonly LanguageModelV4StreamPart[],
): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    supportedUrls: { '*/*': [/^https:/] },
    doStream: async (options) => ({ stream: streamOf(answer(options)) }),
  })
}

export function streamOf(
  parts: readonly LanguageModelV4StreamPart[],
): ReadableStream<LanguageModelV4StreamPart> {
  let index = 0
  return new ReadableStream({
    pull(controller) {
      const part = parts[index]
      index += 1
      if (part === undefined) controller.close()
      else controller.enqueue(part)
    },
  })
}

/** Gives its parts, then waits for ever: until it is cancelled. */
export function hangingStreamOf(
  parts: readonly LanguageModelV4StreamPart[],
): ReadableStream<LanguageModelV4StreamPart> {
  let index = 0
  return new ReadableStream({
    pull(controller) {
      const part = parts[index]
      index += 1
      if (part === undefined) return new Promise<void>(() => undefined)
      controller.enqueue(part)
      return undefined
    },
  })
}

export function text(words: string, id = 'text-1'): LanguageModelV4StreamPart[] {
  return [
    { type: 'text-start', id },
    ...words.split(/(?<= )/).map((delta) => ({ type: 'text-delta' as const, id, delta })),
    { type: 'text-end', id },
  ]
}

export function toolCall(
  toolName: string,
  input: unknown,
  toolCallId = `call-${toolName}`,
): LanguageModelV4StreamPart {
  const json = typeof input === 'string' ? input : JSON.stringify(input)
  return { type: 'tool-call', toolCallId, toolName, input: json }
}

export function finish(
  unified: LanguageModelV4FinishReason['unified'] = 'stop',
): LanguageModelV4StreamPart {
  return { type: 'finish', usage, finishReason: { unified, raw: unified } }
}
