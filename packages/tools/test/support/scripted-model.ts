import { simulateReadableStream } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'

/** One call that the model makes. The arguments are JSON text, as a model writes it. */
export interface ScriptedCall {
  readonly toolName: string
  readonly input: string
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** A model that makes one step's calls after another, and then says `done`. */
export function scriptedModel(...steps: readonly (readonly ScriptedCall[])[]): MockLanguageModelV4 {
  let step = 0
  const next = () => {
    const calls = steps[step] ?? []
    step += 1
    return calls.map((call, index) => ({
      type: 'tool-call' as const,
      toolCallId: `call-${step}-${index}`,
      ...call,
    }))
  }
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const calls = next()
      return {
        content: calls.length > 0 ? calls : [{ type: 'text', text: 'done' }],
        finishReason: { unified: calls.length > 0 ? 'tool-calls' : 'stop', raw: undefined },
        usage,
        warnings: [],
      }
    },
    doStream: async () => {
      const calls = next()
      return {
        stream: simulateReadableStream({
          initialDelayInMs: null,
          chunkDelayInMs: null,
          chunks: [
            ...calls,
            {
              type: 'finish' as const,
              finishReason: {
                unified: calls.length > 0 ? ('tool-calls' as const) : ('stop' as const),
                raw: undefined,
              },
              usage,
            },
          ],
        }),
      }
    },
  })
}
