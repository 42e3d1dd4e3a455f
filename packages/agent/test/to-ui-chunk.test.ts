import { describe, expect, test } from 'vitest'
import { uiMessageChunkSchema } from 'ai'
import { asSchema } from '@ai-sdk/provider-utils'
import { Limits } from '@holdfast/core'
import { utf8Length } from '@holdfast/json'
import { createModelCallToUIChunkTransform, toUIMessageChunk } from '@holdfast/agent'
import type { ModelCallStreamPart, ModelCallToUIChunkOptions } from '@holdfast/agent'
import { boundedChunks } from '../src/bounded-chunk.ts'
import { noUsage } from '../src/usage.ts'

const metadata = { providerMetadata: { openai: { itemId: 'i' } } }
const parts: readonly ModelCallStreamPart[] = [
  { type: 'start', messageId: 'm' },
  { type: 'start-step' },
  { type: 'model-call-start', warnings: [] },
  { type: 'reasoning-start', id: 'r', ...metadata },
  { type: 'reasoning-delta', id: 'r', text: 'hm', ...metadata },
  { type: 'reasoning-end', id: 'r', ...metadata },
  { type: 'text-start', id: 't', ...metadata },
  { type: 'text-delta', id: 't', text: 'hi', ...metadata },
  { type: 'text-end', id: 't', ...metadata },
  { type: 'tool-input-start', id: 'c', toolName: 'look', dynamic: true, title: 'Look' },
  { type: 'tool-input-delta', id: 'c', delta: '{}' },
  { type: 'tool-input-end', id: 'c' },
  { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: {}, ...metadata },
  { type: 'tool-call', toolCallId: 'd', toolName: 'no', input: 'x', invalid: true, error: 'No.' },
  { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c', reason: 'why' },
  { type: 'tool-approval-response', approvalId: 'a', approved: true, reason: 'ok' },
  { type: 'tool-result', toolCallId: 'c', toolName: 'look', output: 1, preliminary: true },
  { type: 'tool-result', toolCallId: 'c', toolName: 'look', output: { a: 1 } },
  { type: 'tool-error', toolCallId: 'e', toolName: 'look', errorText: 'It failed.' },
  { type: 'tool-output-denied', toolCallId: 'f', toolName: 'look' },
  { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com', title: 'E' },
  { type: 'source', sourceType: 'document', id: 's2', mediaType: 'text/plain', title: 'D' },
  { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([1]) } },
  {
    type: 'reasoning-file',
    mediaType: 'image/png',
    data: { type: 'url', url: new URL('https://example.com/a.png') },
  },
  { type: 'custom', kind: 'a.b', ...metadata },
  { type: 'steering-message', id: 'm-2', parts: [{ type: 'text', text: 'go' }] },
  { type: 'budget-request', id: 'q', steps: 20 },
  { type: 'raw', rawValue: 1 },
  { type: 'model-call-end', finishReason: 'stop', usage: noUsage },
  { type: 'reset-step' },
  { type: 'finish-step' },
  { type: 'error', error: new Error('hunter2') },
  { type: 'finish', finishReason: 'error' },
]

async function transformed(
  given: readonly ModelCallStreamPart[],
  options?: ModelCallToUIChunkOptions,
): Promise<unknown[]> {
  const source = new ReadableStream<ModelCallStreamPart>({
    start(controller) {
      for (const part of given) controller.enqueue(part)
      controller.close()
    },
  })
  const chunks: unknown[] = []
  for await (const chunk of source.pipeThrough(createModelCallToUIChunkTransform(options))) {
    chunks.push(chunk)
  }
  return chunks
}

describe('UI chunks', () => {
  test('every part is a chunk that AI SDK reads, or none', async () => {
    const { validate } = asSchema(uiMessageChunkSchema)
    for (const part of parts) {
      const chunk = toUIMessageChunk(part)
      if (chunk === undefined) continue
      const checked = await validate?.(JSON.parse(JSON.stringify(chunk)))
      expect(checked, `a ${part.type}`).toMatchObject({ success: true })
    }
    const shown = parts.filter((part) => toUIMessageChunk(part) !== undefined)
    const hidden = parts.filter((part) => toUIMessageChunk(part) === undefined)
    expect(hidden.map(({ type }) => type)).toEqual([
      'model-call-start',
      'tool-input-end',
      'raw',
      'model-call-end',
    ])
    expect(shown).toHaveLength(parts.length - 4)
  })

  test('an error is redacted unless a hook says otherwise; reasoning and sources can be left out', () => {
    expect(toUIMessageChunk({ type: 'error', error: new Error('hunter2') })).toEqual({
      type: 'error',
      errorText: 'An error occurred.',
    })
    const errorText = (error: unknown): string => String(error)
    expect(toUIMessageChunk({ type: 'error', error: new Error('told') }, { errorText })).toEqual({
      type: 'error',
      errorText: 'Error: told',
    })
    const quiet = { sendReasoning: false, sendSources: false }
    const left = parts.flatMap((part) => toUIMessageChunk(part, quiet)?.type ?? [])
    expect(left.filter((type) => /^reasoning-(start|delta|end)|^source/.test(type))).toEqual([])
  })

  test('C1: for every k, what comes from uiStartIndex k on is the rest of the whole', async () => {
    const whole = await transformed(parts)
    for (let uiStartIndex = 0; uiStartIndex <= whole.length; uiStartIndex += 1) {
      expect(await transformed(parts, { uiStartIndex })).toEqual(whole.slice(uiStartIndex))
    }
    for (const uiStartIndex of [-1, 0.5, Number.NaN]) {
      expect(() => createModelCallToUIChunkTransform({ uiStartIndex })).toThrow(RangeError)
    }
  })

  test('a stream without ends of its own gets them', async () => {
    expect(await transformed([{ type: 'start-step' }])).toEqual([
      { type: 'start' },
      { type: 'start-step' },
      { type: 'finish-step' },
      { type: 'finish' },
    ])
    expect(await transformed([])).toEqual([{ type: 'start' }, { type: 'finish' }])
  })

  test('a chunk over the limit of stores is divided, or shown without its content', () => {
    const delta = '\u{1f33f}'.repeat(800_000)
    const pieces = boundedChunks({ type: 'text-delta', id: 't', delta })
    expect(pieces.map((piece) => JSON.stringify(piece['delta']).slice(1, -1)).join('')).toBe(delta)
    const others = [
      { type: 'tool-output-available', toolCallId: 'c', output: 'x'.repeat(2_000_000) },
      {
        type: 'tool-input-available',
        toolCallId: 'c',
        toolName: 'a',
        input: 'x'.repeat(2_000_000),
      },
      { type: 'file', mediaType: 'image/png', url: `data:${'x'.repeat(2_000_000)}` },
      { type: 'data-big', data: 'x'.repeat(2_000_000) },
    ]
    const bounded = [...pieces, ...others.flatMap((chunk) => boundedChunks(chunk))]
    for (const chunk of bounded) {
      expect(utf8Length(JSON.stringify(chunk))).toBeLessThanOrEqual(Limits.chunkBytes)
    }
    expect(bounded.at(-4)).toMatchObject({ toolCallId: 'c', output: { omitted: true } })
    expect(boundedChunks({ type: 'finish' })).toEqual([{ type: 'finish' }])
  })
})
