// An agent with no engine and no store: a scripted model, in memory.
import assert from 'node:assert/strict'
import type { LanguageModelV4, LanguageModelV4GenerateResult } from '@ai-sdk/provider'
import { orderDesk } from '#readme/agent'

const answers: LanguageModelV4GenerateResult['content'][] = [
  [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'look_up', input: '{"id":1001}' }],
  [{ type: 'text', text: 'It was shipped.' }],
]
const prompts: string[] = []
const model: LanguageModelV4 = {
  specificationVersion: 'v4',
  provider: 'script',
  modelId: 'script',
  supportedUrls: {},
  async doGenerate({ prompt }) {
    const content = answers[prompts.length] ?? []
    prompts.push(JSON.stringify(prompt))
    const unified = prompts.length === 1 ? 'tool-calls' : 'stop'
    return {
      content,
      finishReason: { unified, raw: unified },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
      warnings: [],
    }
  },
  doStream: () => Promise.reject(new Error('This script does not stream.')),
}

const result = await orderDesk(model).generate({ prompt: 'Where is order 1001?' })
assert.equal(result.text, 'It was shipped.')
assert.equal(result.steps.length, 2)
assert.ok(prompts[1]?.includes('shipped'), 'the tool ran, and the model saw its result')
