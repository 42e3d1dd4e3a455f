import { describe, expect, test } from 'vitest'
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { tool } from 'ai'
import { z } from 'zod'
import type { ConversationReader, ConversationTurn, JsonObject, JsonValue } from '@holdfast/core'
import { defineWorkflow } from '@holdfast/workflow'
import { agentStreamFraming, WorkflowAgent } from '@holdfast/agent'
import { FakeRun } from './support/fake-run.ts'
import { orderAgent, orderWorkflow } from './support/order-agent.ts'
import { chunkTypes } from './support/rendered.ts'
import { finish, promptedModel, scriptedModel, text, toolCall } from './support/scripted-model.ts'

const runId = '01890000-0000-7000-8000-000000000002'

function userMessage(id: string, ...parts: readonly JsonObject[]): JsonObject {
  return { id, role: 'user', parts }
}

function turn(
  messageId: string,
  words: string,
  rest: Partial<ConversationTurn> = {},
): ConversationTurn {
  const message = userMessage(messageId, { type: 'text', text: words })
  return { messageId, message, runId, status: 'completed', ...rest }
}

/** Runs the last turn of a conversation, and gives the prompt that the model got. */
async function promptOf(turns: readonly ConversationTurn[]): Promise<unknown> {
  const asked: unknown[] = []
  const prompts: LanguageModelV4CallOptions['prompt'][] = []
  const conversation: ConversationReader = {
    turns: async (...given) => {
      asked.push(given)
      return turns
    },
  }
  const model = promptedModel(({ prompt }) => {
    prompts.push(prompt)
    return [...text('ok'), finish()]
  })
  const definition = orderWorkflow(() => new WorkflowAgent({ model }), { conversation })
  const run = new FakeRun()
  const outcome = await run.execute(definition, { chatId: 'chat-1', messageId: 'm-last' })
  expect(outcome.kind).toBe('completed')
  expect(asked).toEqual([
    ['01890000-0000-7000-8000-00000000000a', { chatId: 'chat-1', messageId: 'm-last' }],
  ])
  return prompts[0]
}

describe('agentWorkflow', () => {
  test('reads the chat once, and builds the prompt from messages and earlier outputs', async () => {
    const output = {
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Hello', providerOptions: { openai: { itemId: 'msg_1' } } },
          ],
        },
      ],
      text: 'Hello',
    }
    const files = userMessage(
      'm-2',
      { type: 'text', text: 'What is this?' },
      {
        type: 'file',
        mediaType: 'image/png',
        url: 'data:image/png;base64,AQID',
        filename: 'a.png',
      },
      { type: 'file', mediaType: 'image/png', url: 'https://example.com/b.png' },
      { type: 'data-hint', data: { no: 'text' } },
    )
    const prompt = await promptOf([
      turn('m-1', 'Hi', { output }),
      { ...turn('m-2', ''), message: files, output: { messages: [] } },
      turn('m-last', 'And now?'),
    ])
    expect(prompt).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Hello', providerOptions: { openai: { itemId: 'msg_1' } } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          {
            type: 'file',
            mediaType: 'image/png',
            filename: 'a.png',
            data: { type: 'data', data: 'AQID' },
          },
          {
            type: 'file',
            mediaType: 'image/png',
            data: { type: 'url', url: new URL('https://example.com/b.png') },
          },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
    ])
  })

  test('keeps what a stopped turn left, and answers its open tool calls', async () => {
    const output = {
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look ' },
            { type: 'tool-call', toolCallId: 'c1', toolName: 'lookup', input: { id: 1 } },
            { type: 'tool-call', toolCallId: 'c2', toolName: 'lookup', input: { id: 2 } },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'c2',
              toolName: 'lookup',
              output: { type: 'text', value: 'two' },
            },
          ],
        },
      ],
    }
    const prompt = await promptOf([
      turn('m-1', 'Look', { output, status: 'cancelled' }),
      turn('m-2', 'Still there?', { status: 'failed' }),
      turn('m-last', 'Go on'),
    ])
    expect(prompt).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [{ text: 'I look ' }, { toolCallId: 'c1' }, { toolCallId: 'c2' }],
      },
      {
        role: 'tool',
        content: [
          { toolCallId: 'c1', output: { type: 'error-text' } },
          { toolCallId: 'c2', output: { type: 'text', value: 'two' } },
        ],
      },
      { role: 'user', content: [{ text: 'Still there?' }] },
      { role: 'user', content: [{ text: 'Go on' }] },
    ])
  })

  test('what a turn leaves can be read back as the history of the next', async () => {
    const definition = orderWorkflow(() => orderAgent())
    const run = new FakeRun({ answer: async () => ({ approved: false, reason: 'no' }) })
    const outcome = await run.execute(definition, { prompt: 'Cancel' })
    if (outcome.kind !== 'completed') throw new Error(outcome.kind)
    const prompt = await promptOf([
      turn('m-1', 'Cancel', { output: outcome.output }),
      turn('m-last', 'Thanks'),
    ])
    expect(prompt).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool' },
      { role: 'assistant' },
      {
        role: 'tool',
        content: [{ output: { type: 'execution-denied', reason: 'no' } }, {}],
      },
      { role: 'assistant' },
      { role: 'user' },
    ])
  })

  test('a run without chat and prompt, or without a reader, fails and says why', async () => {
    const definition = orderWorkflow(() => orderAgent())
    const nothing = await new FakeRun().execute(definition, {})
    expect(nothing).toMatchObject({ kind: 'failed', error: { code: 'input_invalid' } })
    const unreadable = await new FakeRun().execute(definition, { chatId: 'c', messageId: 'm' })
    expect(unreadable).toMatchObject({ kind: 'failed', error: { code: 'configuration_invalid' } })
  })

  test('the model is never called for what the journal holds, nor a hook', async () => {
    const calls: string[] = []
    const answer = (options: LanguageModelV4CallOptions): LanguageModelV4StreamPart[] => {
      calls.push('model')
      return options.prompt.some(({ role }) => role === 'tool')
        ? [...text('done'), finish()]
        : [toolCall('look', {}, 'c1'), finish('tool-calls')]
    }
    const look = tool({
      inputSchema: z.object({}),
      execute: async () => {
        calls.push('tool')
        return 'seen'
      },
    })
    const definition = orderWorkflow(
      () =>
        new WorkflowAgent({
          model: promptedModel(answer),
          tools: { look },
          onStart: () => void calls.push('onStart'),
          onStepEnd: ({ stepNumber }) => void calls.push(`onStepEnd ${stepNumber}`),
          onEnd: () => void calls.push('onEnd'),
          prepareStep: ({ stepNumber }) => {
            calls.push(`prepareStep ${stepNumber}`)
            return undefined
          },
        }),
    )
    const run = new FakeRun()
    const first = await run.execute(definition, { prompt: 'go' })
    const whole = [...calls]
    expect(whole).toEqual([
      'onStart',
      'prepareStep 0',
      'model',
      'tool',
      'onStepEnd 0',
      'prepareStep 1',
      'model',
      'onStepEnd 1',
      'onEnd',
    ])
    // The journal is whole: another process only reads it.
    const again = await run.execute(definition, { prompt: 'go' })
    expect(again).toEqual(first)
    expect(calls).toEqual(whole)
  })

  test('messages that a hook gave are the same after a crash', async () => {
    const prompts: number[] = []
    const model = promptedModel(({ prompt }) => {
      prompts.push(prompt.length)
      return prompt.some(({ role }) => role === 'tool')
        ? [...text('done'), finish()]
        : [toolCall('look', {}, 'c1'), finish('tool-calls')]
    })
    const look = tool({ inputSchema: z.object({}), execute: async () => 'seen' })
    let hooks = 0
    const definition = orderWorkflow(
      () =>
        new WorkflowAgent({
          model,
          tools: { look },
          prepareStep: ({ stepNumber }) => {
            hooks += 1
            if (stepNumber > 0) return undefined
            return { messages: [{ role: 'user', content: `summary ${hooks}` }] }
          },
        }),
    )
    const run = new FakeRun()
    let outcome = await run.execute(definition, { prompt: 'a long story' }, 3)
    expect(outcome.kind).toBe('crashed')
    outcome = await run.execute(definition, { prompt: 'a long story' })
    expect(outcome.kind).toBe('completed')
    expect(hooks).toBe(2)
    expect(prompts).toEqual([1, 3])
  })

  test('an agent inside another workflow streams to its run, with framing of its own', async () => {
    const agent = orderAgent()
    const definition = defineWorkflow({
      name: 'two_agents',
      version: 'v1',
      description: 'Asks twice.',
      input: { type: 'object', additionalProperties: false, properties: {} },
      stream: agentStreamFraming(),
      async run(context): Promise<JsonValue> {
        const one = await agent.stream({ durable: context, prompt: 'first' })
        const quiet = new WorkflowAgent({ model: quietModel() })
        const two = await quiet.generate({ durable: context, prompt: one.text })
        return { texts: [one.text, two.text], finishReason: two.finishReason }
      },
    })
    const run = new FakeRun({ answer: async () => ({ approved: true }) })
    const outcome = await run.execute(definition, {})
    expect(outcome).toMatchObject({
      output: { texts: ['All is done as you asked.', 'In short.'] },
    })
    const types = chunkTypes(run.stream(definition, outcome))
    // What `generate` does is not shown.
    expect(types.filter((type) => type === 'start-step')).toHaveLength(3)
    expect(types.at(-1)).toBe('finish')
  })

  test('the framing of each way to end', () => {
    const framing = agentStreamFraming()
    const moment = { runId, number: 2, opened: true }
    expect(framing.opening?.(moment)).toEqual([{ type: 'start', messageId: runId }])
    expect(
      framing.closing?.({ ...moment, end: 'completed', output: { finishReason: 'length' } }),
    ).toEqual([{ type: 'finish', finishReason: 'length' }])
    expect(framing.closing?.({ ...moment, end: 'interrupted' })).toEqual([
      { type: 'finish', finishReason: 'tool-calls' },
    ])
    expect(framing.closing?.({ ...moment, end: 'cancelled' })).toEqual([{ type: 'abort' }])
    const error = { code: 'model_failed', message: 'Safe words.', retryable: true }
    expect(framing.closing?.({ ...moment, end: 'failed', error })).toEqual([
      { type: 'error', errorText: 'Safe words.' },
    ])
  })
})

function quietModel(): ReturnType<typeof scriptedModel> {
  const model = scriptedModel()
  model.doGenerate = async () => ({
    content: [{ type: 'text', text: 'In short.' }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
    warnings: [],
  })
  return model
}
