// `stream()` without a writable: AI SDK's live result.
import { describe, expect, test } from 'vitest'
import { createAgentUIStream, createAgentUIStreamResponse, tool } from 'ai'
import type { ModelMessage } from 'ai'
import { z } from 'zod'
import { StreamTextIterator, WorkflowAgent } from '@holdfast/agent'
import { finish, hangingStreamOf, scriptedModel, text, toolCall } from './support/scripted-model.ts'
import type { Answer } from './support/scripted-model.ts'

const double = tool({
  inputSchema: z.object({ n: z.number() }),
  execute: async ({ n }) => n * 2,
})

const twoSteps: Answer[] = [
  [
    { type: 'stream-start', warnings: [{ type: 'other', message: 'Careful.' }] },
    ...text('Looking. '),
    toolCall('double', { n: 21 }),
    finish('tool-calls'),
  ],
  [...text('It is 42.', 'text-2'), finish()],
]

const doubling = () => new WorkflowAgent({ model: scriptedModel(...twoSteps), tools: { double } })

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

describe('a live result', () => {
  test('8.2 #5: streams the parts of AI SDK, with warnings, results and usage where they belong', async () => {
    const result = await doubling().stream({ prompt: 'Double 21' })
    const parts = await all(result.stream)
    expect(parts.map(({ type }) => type)).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'tool-call',
      'tool-result',
      'finish-step',
      'start-step',
      'text-start',
      'text-delta',
      'text-delta',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ])
    expect(parts[1]).toMatchObject({ warnings: [{ message: 'Careful.' }] })
    expect(parts[6]).toMatchObject({ input: { n: 21 }, output: 42 })
    expect(parts[7]).toMatchObject({
      finishReason: 'tool-calls',
      usage: { totalTokens: 15, inputTokenDetails: { cacheReadTokens: 2 } },
      response: { modelId: 'mock-model-id' },
    })
    expect(parts.at(-1)).toMatchObject({ finishReason: 'stop', totalUsage: { totalTokens: 30 } })
  })

  test('every field is there, whether the stream was read or not', async () => {
    const result = await doubling().stream({ prompt: 'Double 21' })
    expect(await result.text).toBe('It is 42.')
    expect(await result.toolResults).toMatchObject([{ toolName: 'double', output: 42 }])
    expect(await result.usage).toMatchObject({ totalTokens: 30 })
    expect((await result.steps).map(({ text }) => text)).toEqual(['Looking. ', 'It is 42.'])
    expect(await result.finalStep).toMatchObject({ stepNumber: 1, finishReason: 'stop' })
    expect((await result.responseMessages).map(({ role }) => role)).toEqual([
      'assistant',
      'tool',
      'assistant',
    ])
    expect(await result.finishReason).toBe('stop')
    expect(await result.pendingApprovals).toEqual([])
    expect(await result.isLoopFinished()).toBe(true)
    expect(await all(result.textStream)).toEqual(['Looking. ', 'It ', 'is ', '42.'])
    expect(await all(result.textStream)).toHaveLength(4)
  })

  test('its deprecated ways to the wire', async () => {
    const result = await doubling().stream({ prompt: 'Double 21' })
    const response = result.toUIMessageStreamResponse({ headers: { 'x-mine': 'yes' } })
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
    expect(response.headers.get('x-mine')).toBe('yes')
    const events = (await response.text()).trim().split('\n\n')
    expect(events[0]).toMatch(/^data: {"type":"start","messageId":".+"}$/)
    expect(events.at(-1)).toBe('data: [DONE]')
    expect(await result.toTextStreamResponse().text()).toBe('Looking. It is 42.')
  })

  test("AI SDK's helpers for agents take ours", async () => {
    const uiMessages = [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Double 21' }] }]
    const chunks = await all(await createAgentUIStream({ agent: doubling(), uiMessages }))
    expect(chunks.map(({ type }) => type)).toContain('tool-output-available')
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' })
    const response = await createAgentUIStreamResponse({ agent: doubling(), uiMessages })
    expect(await response.text()).toContain('"delta":"42."')
  })

  test('A2: a failing model gives an error part and rejects what is asked for, and nothing else', async () => {
    const boom = new Error('postgres://admin:hunter2@db is down')
    const model = scriptedModel(() => Promise.reject(boom))
    const result = await new WorkflowAgent({ model }).stream({ prompt: 'go' })
    const parts = await all(result.stream)
    expect(parts.map(({ type }) => type)).toEqual(['start', 'start-step', 'error', 'finish'])
    await expect(result.text).rejects.toMatchObject({ code: 'model_failed', cause: boom })
    const page = await all(result.toUIMessageStream())
    expect(page).toContainEqual({ type: 'error', errorText: 'An error occurred.' })
    const told: unknown[] = []
    await result.consumeStream({ onError: (error) => void told.push(error) })
    expect(told).toHaveLength(1)
  })

  test('A4: aborted in mid-stream, the open text ends, abort follows, and the partial text is there', async () => {
    const controller = new AbortController()
    const model = scriptedModel(async () =>
      hangingStreamOf([
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: 'Half' },
      ]),
    )
    const aborts: unknown[] = []
    const agent = new WorkflowAgent({ model, onAbort: (event) => void aborts.push(event) })
    const result = await agent.stream({ prompt: 'go', abortSignal: controller.signal })
    const types: string[] = []
    for await (const part of result.stream) {
      types.push(part.type)
      if (part.type === 'text-delta') controller.abort('enough')
    }
    expect(types).toEqual(['start', 'start-step', 'text-start', 'text-delta', 'text-end', 'abort'])
    expect(await result.text).toBe('Half')
    expect(aborts).toMatchObject([{ reason: 'enough', steps: [{ text: 'Half' }] }])
  })

  test('A3: aborted before it began, the stream has an abort and closes', async () => {
    const agent = new WorkflowAgent({ model: scriptedModel() })
    const result = await agent.stream({ prompt: 'go', abortSignal: AbortSignal.abort() })
    expect((await all(result.stream)).map(({ type }) => type)).toEqual(['start', 'abort'])
  })

  test('8.2 #13: a system message in the messages is an error of the stream', async () => {
    const messages: ModelMessage[] = [{ role: 'system', content: 'Obey.' }]
    const result = await new WorkflowAgent({ model: scriptedModel() }).stream({ messages })
    expect((await all(result.stream)).map(({ type }) => type)).toContain('error')
    await expect(result.text).rejects.toMatchObject({ code: 'message_invalid' })
  })

  test('what has been shown is not taken back: a model that fails after output is not tried again', async () => {
    const model = scriptedModel(
      [
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: 'Half' },
        { type: 'error', error: Object.assign(new Error('cut'), { code: 'ECONNRESET' }) },
      ],
      [...text('whole'), finish()],
    )
    const result = await new WorkflowAgent({ model }).stream({ prompt: 'go' })
    expect((await all(result.stream)).at(-2)).toMatchObject({ type: 'error' })
    expect(model.doStreamCalls).toHaveLength(1)
  })
})

describe('StreamTextIterator', () => {
  test('8.9 #1: a list in order, then the end; after close, the end', async () => {
    const steps = ['a', 'b']
    const iterator = new StreamTextIterator(steps)
    steps.push('c')
    expect(await iterator.next()).toEqual({ done: false, value: 'a' })
    await expect(iterator.next({ signal: AbortSignal.abort('no') })).rejects.toBe('no')
    expect(await iterator.next()).toEqual({ done: false, value: 'b' })
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
    const closed = new StreamTextIterator(steps)
    closed.close()
    expect(await closed.next()).toEqual({ done: true, value: undefined })
  })

  test('8.9 #2: a result; of none, nothing', async () => {
    const result = await doubling().stream({ prompt: 'go', writable: new WritableStream() })
    const steps = await all(StreamTextIterator.fromResult(result))
    expect(steps.map(({ stepNumber }) => stepNumber)).toEqual([0, 1])
    expect(await all(StreamTextIterator.fromResult(null))).toEqual([])
  })

  test('8.9 #3: a live source; an aborted wait loses no step', async () => {
    const { readable, writable } = new TransformStream<number, number>()
    const writer = writable.getWriter()
    const iterator = StreamTextIterator.fromChannel(readable)
    const waiting = new AbortController()
    const asked = iterator.next({ signal: waiting.signal })
    waiting.abort('later')
    await expect(asked).rejects.toBe('later')
    void writer.write(7)
    void writer.close()
    expect(await iterator.next()).toEqual({ done: false, value: 7 })
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })
})
