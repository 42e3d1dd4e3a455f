import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '@holdfast/core'
import { modelCallCodec, modelCallRecordVersion } from '../src/model-call-record.ts'
import { stepEndCodec, toolCallCodec, toolCallRecordVersion } from '../src/tool-call-record.ts'
import { assistantMessage } from '../src/response-messages.ts'

function golden(name: string): JsonValue {
  return JSON.parse(
    readFileSync(new URL(`golden/${name}.json`, import.meta.url), 'utf8'),
  ) as JsonValue
}

describe('stored records', () => {
  test('A9: records of version 1 are read for ever, and written the same', () => {
    const modelCall = golden('model-call-v1')
    expect(modelCallCodec.decode(modelCall)).toEqual(modelCall)
    expect(modelCallCodec.encode(modelCallCodec.decode(modelCall))).toEqual(modelCall)
    const toolCalls = golden('tool-call-v1') as readonly JsonValue[]
    for (const toolCall of toolCalls) {
      expect(toolCallCodec.encode(toolCallCodec.decode(toolCall))).toEqual(toolCall)
    }
    const stepEnd = golden('step-end-v1')
    expect(stepEndCodec.decode(stepEnd)).toEqual(stepEnd)
  })

  test('A9: what a record of version 1 says to the next model call does not change', () => {
    expect(assistantMessage(modelCallCodec.decode(golden('model-call-v1')))).toEqual([
      {
        role: 'assistant',
        content: [
          {
            type: 'reasoning',
            text: 'Let me see.',
            providerOptions: { anthropic: { signature: 'sig' } },
          },
          { type: 'text', text: 'Looking.', providerOptions: { openai: { itemId: 'msg_1' } } },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } },
          {
            type: 'reasoning-file',
            mediaType: 'image/png',
            data: { type: 'url', url: new URL('https://example.com/a.png') },
          },
          {
            type: 'custom',
            kind: 'openai.compaction',
            providerOptions: { openai: { id: 'c' } },
          },
          {
            type: 'tool-call',
            toolCallId: 'c1',
            toolName: 'lookup',
            input: { id: 1001 },
            providerOptions: { openai: { itemId: 'fc_1' } },
          },
          // Providers refuse an input that is no object.
          { type: 'tool-call', toolCallId: 'c2', toolName: 'nothing', input: {} },
          {
            type: 'tool-call',
            toolCallId: 'c3',
            toolName: 'search',
            input: { q: 'kelp' },
            providerExecuted: true,
          },
          {
            type: 'tool-result',
            toolCallId: 'c3',
            toolName: 'search',
            output: { type: 'error-json', value: { hits: 3 } },
          },
        ],
      },
    ])
  })

  test('a record of a newer version, and a damaged one, are refused by their codes', () => {
    const record = golden('model-call-v1') as JsonObject
    expect(() => modelCallCodec.decode({ ...record, version: modelCallRecordVersion + 1 })).toThrow(
      expect.objectContaining({ code: 'record_from_newer_version' }),
    )
    expect(() => modelCallCodec.decode({ ...record, extra: 1 })).toThrow(
      expect.objectContaining({ code: 'record_corrupt' }),
    )
    expect(() =>
      toolCallCodec.decode({ version: toolCallRecordVersion + 1, kind: 'result' }),
    ).toThrow(expect.objectContaining({ code: 'record_from_newer_version' }))
    expect(() => stepEndCodec.decode(null)).toThrow(
      expect.objectContaining({ code: 'record_corrupt' }),
    )
  })
})
