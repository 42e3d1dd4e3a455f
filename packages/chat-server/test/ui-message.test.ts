import type { UiChunk } from '@holdfast/chat-protocol'
import { readUIMessageStream, type UIMessageChunk } from 'ai'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { uiMessageFromChunks } from '../src/ui-message.ts'

/** What AI SDK itself makes of the chunks. */
async function pageMessage(chunks: readonly UiChunk[]): Promise<unknown> {
  let last: unknown
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk as UIMessageChunk)
      controller.close()
    },
  })
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) {
    last = message
  }
  // A stored message is JSON: absent and undefined are the same.
  return JSON.parse(JSON.stringify(last ?? { id: '', role: 'assistant', parts: [] }))
}

function ours(chunks: readonly UiChunk[]): unknown {
  return JSON.parse(JSON.stringify(uiMessageFromChunks('run', chunks)))
}

const start: UiChunk = { type: 'start', messageId: 'run' }
const meta = { provider: { note: 1 } }

const parts: readonly (readonly [string, readonly UiChunk[]])[] = [
  [
    'text',
    [
      { type: 'text-start', id: 'a' },
      { type: 'text-delta', id: 'a', delta: 'x' },
      { type: 'text-end', id: 'a' },
    ],
  ],
  [
    'text that has not ended',
    [
      { type: 'text-start', id: 'a' },
      { type: 'text-delta', id: 'a', delta: 'x' },
    ],
  ],
  [
    'text with metadata and citations',
    [
      { type: 'text-start', id: 'a', providerMetadata: meta },
      { type: 'text-delta', id: 'a', delta: 'x', providerMetadata: { provider: { note: 2 } } },
      { type: 'text-end', id: 'a', citations: [{ url: 'u' }] },
    ],
  ],
  [
    'reasoning',
    [
      { type: 'reasoning-start', id: 'r', providerMetadata: meta },
      { type: 'reasoning-delta', id: 'r', delta: 'hm' },
      { type: 'reasoning-end', id: 'r', providerMetadata: { provider: { signature: 's' } } },
    ],
  ],
  [
    'parts that overlap',
    [
      { type: 'text-start', id: 'a' },
      { type: 'text-start', id: 'b' },
      { type: 'text-delta', id: 'a', delta: '1' },
      { type: 'text-delta', id: 'b', delta: '2' },
      { type: 'text-end', id: 'a' },
      { type: 'text-delta', id: 'b', delta: '3' },
      { type: 'text-end', id: 'b' },
    ],
  ],
  [
    'a tool',
    [
      { type: 'tool-input-start', toolCallId: 't', toolName: 'look', title: 'Look' },
      { type: 'tool-input-delta', toolCallId: 't', inputTextDelta: '{"n":1}' },
      {
        type: 'tool-input-available',
        toolCallId: 't',
        toolName: 'look',
        input: { n: 1 },
        providerMetadata: meta,
      },
      { type: 'tool-output-available', toolCallId: 't', output: 1, preliminary: true },
      { type: 'tool-output-available', toolCallId: 't', output: 2, providerMetadata: meta },
    ],
  ],
  [
    'a dynamic tool that fails',
    [
      { type: 'tool-input-available', toolCallId: 't', toolName: 'look', input: {}, dynamic: true },
      { type: 'tool-output-error', toolCallId: 't', errorText: 'no', dynamic: true },
    ],
  ],
  [
    'a tool of the provider',
    [
      { type: 'tool-input-start', toolCallId: 't', toolName: 'look', providerExecuted: true },
      {
        type: 'tool-input-available',
        toolCallId: 't',
        toolName: 'look',
        input: {},
        providerExecuted: true,
      },
      { type: 'tool-output-available', toolCallId: 't', output: {}, providerExecuted: true },
    ],
  ],
  [
    'a tool with wrong input',
    [
      { type: 'tool-input-start', toolCallId: 't', toolName: 'look' },
      { type: 'tool-input-error', toolCallId: 't', toolName: 'look', input: 'x', errorText: 'bad' },
    ],
  ],
  [
    'an approval that was asked for',
    [
      { type: 'tool-input-available', toolCallId: 't', toolName: 'pay', input: {} },
      {
        type: 'tool-approval-request',
        approvalId: 'p',
        toolCallId: 't',
        reason: 'why',
        signature: 's',
      },
    ],
  ],
  [
    'an approval that was given',
    [
      { type: 'tool-input-available', toolCallId: 't', toolName: 'pay', input: {} },
      { type: 'tool-approval-request', approvalId: 'p', toolCallId: 't' },
      { type: 'tool-approval-response', approvalId: 'p', approved: true, reason: 'ok' },
      { type: 'tool-output-available', toolCallId: 't', output: 'paid' },
    ],
  ],
  [
    'an approval that was denied',
    [
      { type: 'tool-input-available', toolCallId: 't', toolName: 'pay', input: {} },
      { type: 'tool-approval-request', approvalId: 'p', toolCallId: 't' },
      { type: 'tool-approval-response', approvalId: 'p', approved: false },
      { type: 'tool-output-denied', toolCallId: 't' },
    ],
  ],
  [
    'sources and files',
    [
      { type: 'source-url', sourceId: '1', url: 'u', title: 't' },
      {
        type: 'source-document',
        sourceId: '2',
        mediaType: 'text/plain',
        title: 't',
        filename: 'f',
      },
      { type: 'file', url: 'data:,x', mediaType: 'text/plain', providerMetadata: meta },
      { type: 'reasoning-file', url: 'data:,x', mediaType: 'text/plain' },
      { type: 'custom', kind: 'provider.thing', providerMetadata: meta },
    ],
  ],
  [
    'data that is replaced',
    [
      { type: 'data-a', id: '1', data: 1 },
      { type: 'data-b', id: '1', data: 2 },
      { type: 'data-a', id: '1', data: { x: 3 } },
      { type: 'data-a', data: 4 },
      { type: 'data-a', id: '2', data: 5, transient: true },
    ],
  ],
  [
    'a steering message',
    [{ type: 'steering-message', id: 'm2', parts: [{ type: 'text', text: 'x' }] }],
  ],
  [
    'metadata that is merged',
    [
      { type: 'message-metadata', messageMetadata: { a: { b: 1 }, list: [1] } },
      { type: 'message-metadata', messageMetadata: { a: { c: 2 }, list: [2] } },
    ],
  ],
]

function withOwnCalls(chunks: readonly UiChunk[], number: number): readonly UiChunk[] {
  return chunks.map((chunk) => ({
    ...chunk,
    ...('toolCallId' in chunk ? { toolCallId: `${chunk.toolCallId}${number}` } : {}),
    ...('approvalId' in chunk ? { approvalId: `${chunk.approvalId}${number}` } : {}),
  }))
}

describe('the message that a page would have', () => {
  for (const [what, chunks] of parts) {
    test(`has ${what} as AI SDK has it`, async () => {
      const all = [
        start,
        { type: 'start-step' } as const,
        ...chunks,
        { type: 'finish-step' } as const,
      ]
      expect(ours(all)).toEqual(await pageMessage(all))
    })
  }

  test('is AI SDK’s for any sequence of steps, tried again or not', async () => {
    const step = fc.array(fc.constantFrom(...parts.map(([, chunks]) => chunks)), { maxLength: 4 })
    const steps = fc.array(
      fc.record({ chunks: step, again: fc.option(step, { nil: undefined }) }),
      { maxLength: 4 },
    )
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        let calls = 0
        // A call's id is its own: two parts never share one.
        const flat = (some: readonly (readonly UiChunk[])[]): readonly UiChunk[] =>
          some.flatMap((group) => {
            calls += 1
            return withOwnCalls(group, calls)
          })
        const chunks: UiChunk[] = [start]
        for (const { chunks: some, again } of all) {
          chunks.push({ type: 'start-step' }, ...flat(some))
          if (again !== undefined) chunks.push({ type: 'reset-step' }, ...flat(again))
          chunks.push({ type: 'finish-step' })
        }
        chunks.push({ type: 'finish', finishReason: 'stop', messageMetadata: { end: true } })
        expect(ours(chunks)).toEqual(await pageMessage(chunks))
      }),
      { numRuns: 60, seed: 11 },
    )
  })

  test('leaves out what belongs to no part that began', () => {
    const chunks: readonly UiChunk[] = [
      { type: 'text-delta', id: 'x', delta: 'lost' },
      { type: 'tool-output-available', toolCallId: 'x', output: 1 },
      { type: 'tool-approval-response', approvalId: 'x', approved: true },
      { type: 'tool-output-denied', toolCallId: 'x' },
    ]
    expect(ours(chunks)).toEqual({ id: 'run', role: 'assistant', parts: [] })
  })
})
