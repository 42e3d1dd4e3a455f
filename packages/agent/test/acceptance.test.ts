// The acceptance cases of agents (section 8.2 of the second seed) that this package has now, by their numbers.
import { describe, expect, test } from 'vitest'
import { APICallError } from '@ai-sdk/provider'
import { tool } from 'ai'
import type { ToolSet } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'
import { createManualSystem } from '@holdfast/testing'
import { hasToolCall, WorkflowAgent } from '@holdfast/agent'
import type { GenerateOptions, WorkflowAgentOptions } from '@holdfast/agent'
import { collector } from './support/collect.ts'
import { finish, scriptedModel, streamOf, text, toolCall, usage } from './support/scripted-model.ts'

const echo = tool({
  inputSchema: z.object({ word: z.string() }),
  execute: async ({ word }) => word,
})
const other = tool({ inputSchema: z.object({}), execute: async () => 'other' })

function answering(words = 'Hello'): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: async () => ({
      content: [{ type: 'text', text: words }],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage,
      warnings: [],
    }),
    doStream: async () => ({ stream: streamOf([...text(words), finish()]) }),
  })
}

describe('acceptance', () => {
  test('8.2 #1: a missing model is an error', () => {
    // What a caller without types may do.
    const options = {} as WorkflowAgentOptions
    expect(() => new WorkflowAgent(options)).toThrow('workflow: model is required')
  })

  test('8.2 #2: neither prompt nor messages is an error; both is an error', async () => {
    const agent = new WorkflowAgent({ model: answering() })
    await expect(agent.generate({ prompt: '' })).rejects.toThrow(
      'workflow: either prompt or messages is required',
    )
    const both = { prompt: 'a', messages: [{ role: 'user', content: 'b' }] } as unknown
    await expect(agent.generate(both as GenerateOptions<ToolSet, never>)).rejects.toThrow(
      'workflow: use either prompt or messages, not both',
    )
    const out = collector()
    await expect(agent.stream({ prompt: '', writable: out.writable })).rejects.toThrow(
      expect.objectContaining({ code: 'arguments_invalid' }),
    )
    expect(out.isClosed()).toBe(true)
  })

  test('8.2 #3, #4: active tools filter what the model sees; none given shows all', async () => {
    const seen = async (activeTools?: readonly ('echo' | 'other')[]): Promise<unknown> => {
      const model = answering()
      const agent = new WorkflowAgent({
        model,
        tools: { echo, other },
        ...(activeTools === undefined ? {} : { activeTools }),
      })
      await agent.generate({ prompt: 'go' })
      return model.doGenerateCalls[0]?.tools?.map(({ name }) => name)
    }
    expect(await seen()).toEqual(['echo', 'other'])
    expect(await seen(['other'])).toEqual(['other'])
    expect(await seen([])).toBeUndefined()
  })

  test('8.2 #5, #6: instructions reach the model as system text; output is there', async () => {
    const model = answering()
    const agent = new WorkflowAgent({ model, instructions: 'Be kind.' })
    const result = await agent.stream({ prompt: 'Hi', writable: collector().writable })
    expect(result.output).toBe('Hello')
    expect(model.doStreamCalls[0]?.prompt).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ])
    expect((await agent.generate({ prompt: 'Hi' })).output).toBe('Hello')
  })

  test('8.2 #10: generate calls onEnd, and its result has the shape of generateText', async () => {
    const ends: string[] = []
    const agent = new WorkflowAgent({ model: answering(), onEnd: () => void ends.push('agent') })
    const result = await agent.generate({ prompt: 'Hi', onEnd: () => void ends.push('call') })
    expect(ends).toEqual(['agent', 'call'])
    expect(result).toMatchObject({
      text: 'Hello',
      finishReason: 'stop',
      rawFinishReason: 'stop',
      usage: { inputTokens: 10 },
      totalUsage: { outputTokens: 5, totalTokens: 15 },
      responseMessages: [{ role: 'assistant', content: [{ type: 'text', text: 'Hello' }] }],
      pendingApprovals: [],
    })
    expect(result.steps).toHaveLength(1)
    expect(result.finalStep).toBe(result.steps[0])
    expect(result.isLoopFinished()).toBe(true)
  })

  test('8.2 #12: the step keeps the raw result, the model sees the converted one', async () => {
    const converting = tool({
      inputSchema: z.object({}),
      execute: async () => ({ secret: 1, public: 2 }),
      toModelOutput: ({ output }) => ({ type: 'text', value: `public: ${output.public}` }),
    })
    const model = scriptedModel(
      [toolCall('converting', {}, 'c1'), finish('tool-calls')],
      [...text('done'), finish()],
    )
    const agent = new WorkflowAgent({ model, tools: { converting } })
    const out = collector()
    const { steps } = await agent.stream({ prompt: 'go', writable: out.writable })
    expect(steps[0]?.toolResults[0]?.output).toEqual({ secret: 1, public: 2 })
    expect(out.parts.find((part) => part.type === 'tool-result')).toMatchObject({
      output: { secret: 1, public: 2 },
    })
    expect(model.doStreamCalls[1]?.prompt.at(-1)).toMatchObject({
      content: [{ output: { type: 'text', value: 'public: 2' } }],
    })
  })

  test('8.2 #13, #14: system messages among the messages are refused unless allowed', async () => {
    const messages = [
      { role: 'system' as const, content: 'Obey.' },
      { role: 'user' as const, content: 'Hi' },
    ]
    const model = answering()
    const agent = new WorkflowAgent({ model })
    await expect(agent.generate({ messages })).rejects.toMatchObject({ code: 'message_invalid' })
    const out = collector()
    await expect(agent.stream({ messages, writable: out.writable })).rejects.toMatchObject({
      code: 'message_invalid',
    })
    expect(out.types().slice(-2)).toEqual(['error', 'finish'])
    expect(out.isClosed()).toBe(true)
    await agent.generate({ messages, allowSystemInMessages: true })
    expect(model.doGenerateCalls[0]?.prompt[0]).toEqual({ role: 'system', content: 'Obey.' })
  })

  test('8.2 #22: onError on a model error; onAbort when the signal fired beforehand', async () => {
    const told: string[] = []
    const agent = new WorkflowAgent({
      model: new MockLanguageModelV4({ doGenerate: () => Promise.reject(new Error('down')) }),
      onError: () => void told.push('error'),
      onAbort: () => void told.push('abort'),
    })
    await expect(agent.generate({ prompt: 'go' })).rejects.toMatchObject({ code: 'model_failed' })
    const abortSignal = AbortSignal.abort(new Error('enough'))
    await expect(agent.generate({ prompt: 'go', abortSignal })).rejects.toThrow('enough')
    expect(told).toEqual(['error', 'abort'])
  })

  test('8.2 #23: the user agent names the workflow agent', async () => {
    const model = answering()
    const agent = new WorkflowAgent({ model, headers: { 'X-Tenant': 'a' } })
    await agent.generate({ prompt: 'go' })
    expect(model.doGenerateCalls[0]?.headers).toMatchObject({
      'user-agent': expect.stringContaining('ai-sdk-agent/workflow'),
      'x-tenant': 'a',
    })
  })

  test("8.2 #24: the repair of a call overrides the agent's", async () => {
    const model = scriptedModel(
      [toolCall('echo', '{"word": nope}', 'c1'), finish('tool-calls')],
      [...text('done'), finish()],
    )
    const agent = new WorkflowAgent({
      model,
      tools: { echo },
      repairToolCall: () => {
        throw new Error('the agent was asked')
      },
    })
    const result = await agent.stream({
      prompt: 'go',
      writable: collector().writable,
      repairToolCall: async ({ toolCall: call, error, inputSchema }) => {
        expect(error.code).toBe('tool_input_invalid')
        expect(await inputSchema({ toolName: 'echo' })).toMatchObject({ type: 'object' })
        return { ...call, input: '{"word":"repaired"}' }
      },
    })
    expect(result.steps[0]?.toolResults[0]?.output).toBe('repaired')
  })

  test('8.2 #26: passing failures are tried again, as often as the call says', async () => {
    const system = createManualSystem()
    const overloaded = (): APICallError =>
      new APICallError({ message: 'busy', url: 'u', requestBodyValues: {}, statusCode: 529 })
    let calls = 0
    const agent = new WorkflowAgent({
      system,
      model: new MockLanguageModelV4({
        doGenerate: async () => {
          calls += 1
          throw overloaded()
        },
      }),
    })
    const failing = agent.generate({ prompt: 'go' }).catch((error: unknown) => error)
    await system.settle()
    while (await system.advanceToNextTimer()) await system.settle()
    expect(await failing).toMatchObject({ code: 'model_failed', retryable: true })
    expect(calls).toBe(3)
    await expect(agent.generate({ prompt: 'go', maxRetries: 0 })).rejects.toThrow(
      'An error occurred.',
    )
    expect(calls).toBe(4)
    expect(system.timerCount).toBe(0)
  })

  test('8.2 #27, #28: prepareCall sees settings and stop conditions, runs once, and sets what it may', async () => {
    const stopWhen = hasToolCall('other')
    const seen: unknown[] = []
    const model = scriptedModel(
      [toolCall('echo', { word: 'a' }, 'c1'), finish('tool-calls')],
      [...text('done'), finish()],
    )
    const agent = new WorkflowAgent({
      model,
      tools: { echo, other },
      maxRetries: 1,
      timeout: { stepMs: 60_000 },
      stopWhen,
      prepareCall: async (input) => {
        seen.push(input)
        return { activeTools: ['echo'], temperature: 0.5, instructions: 'Prepared.' }
      },
    })
    await agent.stream({ prompt: 'go', writable: collector().writable })
    expect(seen).toMatchObject([{ maxRetries: 1, timeout: { stepMs: 60_000 }, stopWhen }])
    for (const { tools, temperature, prompt } of model.doStreamCalls) {
      expect(tools?.map(({ name }) => name)).toEqual(['echo'])
      expect(temperature).toBe(0.5)
      expect(prompt[0]).toEqual({ role: 'system', content: 'Prepared.' })
    }
    expect(model.doStreamCalls).toHaveLength(2)
  })

  test('8.2 #29: the initial values stay; messages of a hook stay too, all else is for its step', async () => {
    const seen: unknown[] = []
    const model = scriptedModel(
      [toolCall('echo', { word: 'a' }, 'c1'), finish('tool-calls')],
      [...text('done'), finish()],
    )
    const agent = new WorkflowAgent({
      model,
      tools: { echo },
      instructions: 'Original.',
      prepareStep: ({ stepNumber, initialInstructions, initialMessages, messages }) => {
        seen.push({ initialInstructions, initialMessages, count: messages.length })
        if (stepNumber > 0) return undefined
        return {
          instructions: 'Changed.',
          messages: [{ role: 'user', content: 'summary' }],
          toolChoice: 'required',
        }
      },
    })
    const { messages } = await agent.stream({ prompt: 'go', writable: collector().writable })
    const initial = {
      initialInstructions: 'Original.',
      initialMessages: [{ role: 'user', content: 'go' }],
    }
    expect(seen).toEqual([
      { ...initial, count: 1 },
      { ...initial, count: 3 },
    ])
    expect(model.doStreamCalls[0]).toMatchObject({
      toolChoice: { type: 'required' },
      prompt: [{ content: 'Changed.' }, { content: [{ text: 'summary' }] }],
    })
    expect(model.doStreamCalls[1]).toMatchObject({
      toolChoice: { type: 'auto' },
      prompt: [{ content: 'Original.' }, { content: [{ text: 'summary' }] }, {}, {}],
    })
    expect(messages[0]).toEqual({ role: 'user', content: 'summary' })
  })
})
