// AI SDK's own providers over real HTTP, against servers in this process that speak their formats.
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterEach, describe, expect, test } from 'vitest'
import { tool } from 'ai'
import { z } from 'zod'
import { WorkflowAgent } from '@holdfast/agent'
import { collector } from './support/collect.ts'

type Answer = (response: ServerResponse) => void

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** Gives these answers, one a request, and keeps the bodies that it was sent. */
async function serving(...answers: readonly Answer[]) {
  const bodies: unknown[] = []
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bodies.push(JSON.parse(Buffer.concat(chunks).toString()))
      const answer = answers[bodies.length - 1]
      if (answer === undefined) response.writeHead(500).end('no answer')
      else answer(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const baseURL = `http://127.0.0.1:${port}/v1`
  const openai = createOpenAICompatible({ name: 'local', baseURL, apiKey: 'k' })('m')
  const anthropic = createAnthropic({ baseURL, apiKey: 'k' })('claude-sonnet-4-5')
  return { bodies, openai, anthropic }
}

function events(list: readonly object[], end: 'done' | 'cut' = 'done'): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const text = list.map((event) => {
      const named = 'type' in event ? `event: ${String(event.type)}\n` : ''
      return `${named}data: ${JSON.stringify(event)}\n\n`
    })
    response.write(text.join(''), () => {
      if (end === 'cut') response.destroy()
      else response.end('data: [DONE]\n\n')
    })
  }
}

const delta = (value: object, finish: string | null = null) => ({
  id: 'c',
  created: 0,
  model: 'm',
  choices: [{ index: 0, delta: value, finish_reason: finish }],
})
const call = (index: number, id: string, word: string) =>
  delta({
    tool_calls: [{ index, id, function: { name: 'echo', arguments: JSON.stringify({ word }) } }],
  })
const says = (content: string) => events([delta({ content }), delta({}, 'stop')])
const tooMany: Answer = (response) =>
  void response.writeHead(429, { 'retry-after-ms': '1' }).end('{"error":{"message":"slow"}}')

const tools = {
  echo: tool({ inputSchema: z.object({ word: z.string() }), execute: ({ word }) => word }),
}

describe('over HTTP', () => {
  test('openai-compatible: parallel tools, then text; 429 is waited for as it says', async () => {
    const { openai, bodies } = await serving(
      tooMany,
      events([call(0, 'a', 'one'), call(1, 'b', 'two'), delta({}, 'tool_calls')]),
      says('Done.'),
    )
    const out = collector()
    const agent = new WorkflowAgent({ model: openai, tools })
    const result = await agent.stream({ prompt: 'go', writable: out.writable })
    expect(result.text).toBe('Done.')
    expect(result.steps[0]?.toolResults.map(({ output }) => output)).toEqual(['one', 'two'])
    expect(bodies).toHaveLength(3)
    expect(bodies[2]).toMatchObject({
      messages: [{}, { role: 'assistant' }, { role: 'tool' }, { role: 'tool' }],
    })
  })

  test('a cut connection is tried again, and what had been shown is taken back', async () => {
    const { openai } = await serving(events([delta({ content: 'Ha' })], 'cut'), says('Whole.'))
    const out = collector()
    const agent = new WorkflowAgent({
      model: openai,
      maxRetries: 1,
    })
    const result = await agent.stream({ prompt: 'go', writable: out.writable })
    expect(result.text).toBe('Whole.')
    expect(out.types()).toContain('reset-step')
    expect(out.isClosed()).toBe(true)
  })

  test('an error in mid-stream is an error part, and the stream closes', async () => {
    const { openai } = await serving(
      events([delta({ content: 'Ha' }), { error: { message: 'overloaded' } }]),
    )
    const out = collector()
    const agent = new WorkflowAgent({ model: openai, maxRetries: 0 })
    const result = await agent.stream({ prompt: 'go', writable: out.writable })
    expect(result).toMatchObject({ finishReason: 'error' })
    expect(out.types().slice(-2)).toEqual(['error', 'finish'])
    expect(out.isClosed()).toBe(true)
  })

  test('anthropic: reasoning goes back with its signature (A5)', async () => {
    const start = {
      type: 'message_start',
      message: {
        id: 'm',
        model: 'c',
        role: 'assistant',
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    }
    const block = (index: number, content_block: object, ...deltas: readonly object[]) => [
      { type: 'content_block_start', index, content_block },
      ...deltas.map((value) => ({ type: 'content_block_delta', index, delta: value })),
      { type: 'content_block_stop', index },
    ]
    const stop = (stop_reason: string) => [
      { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ]
    const { anthropic, bodies } = await serving(
      events([
        start,
        ...block(
          0,
          { type: 'thinking', thinking: '' },
          { type: 'thinking_delta', thinking: 'Hm.' },
          { type: 'signature_delta', signature: 'signed' },
        ),
        ...block(
          1,
          { type: 'tool_use', id: 't1', name: 'echo', input: {} },
          { type: 'input_json_delta', partial_json: '{"word":"x"}' },
        ),
        ...stop('tool_use'),
      ]),
      events([
        start,
        ...block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'Done.' }),
        ...stop('end_turn'),
      ]),
    )
    const result = await new WorkflowAgent({ model: anthropic, tools }).stream({
      prompt: 'go',
      writable: new WritableStream(),
    })
    expect(result.text).toBe('Done.')
    expect(JSON.stringify(bodies[1])).toContain('"thinking":"Hm.","signature":"signed"')
  })
})
