import { describe, expect, test } from 'vitest'
import type { ModelMessage } from '@ai-sdk/provider-utils'
import { modelPrompt } from '../src/prompt.ts'

const call = (toolCallId: string): ModelMessage => ({
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId, toolName: 'look', input: {} }],
})
const result = (toolCallId: string): ModelMessage => ({
  role: 'tool',
  content: [
    { type: 'tool-result', toolCallId, toolName: 'look', output: { type: 'text', value: 'seen' } },
  ],
})

describe('the prompt', () => {
  test('an open call is answered where it stands, also when its id is used again later', () => {
    const prompt = modelPrompt(undefined, [
      call('c1'),
      { role: 'user', content: 'again' },
      call('c1'),
      result('c1'),
    ])
    expect(prompt.map(({ role }) => role)).toEqual([
      'assistant',
      'tool',
      'user',
      'assistant',
      'tool',
    ])
    expect(prompt[1]).toMatchObject({ content: [{ output: { type: 'error-text' } }] })
    expect(prompt[4]).toMatchObject({ content: [{ output: { value: 'seen' } }] })
  })

  test('tool messages that follow each other are one; empty texts and messages go', () => {
    const prompt = modelPrompt('', [
      { role: 'user', content: '' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: '', providerOptions: { a: { id: 1 } } },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: {} },
          { type: 'tool-call', toolCallId: 'c2', toolName: 'look', input: {} },
        ],
      },
      result('c1'),
      result('c2'),
      { role: 'assistant', content: '' },
    ])
    expect(prompt.map(({ role }) => role)).toEqual(['assistant', 'tool'])
    expect(prompt[0]?.content).toHaveLength(3)
    expect(prompt[1]?.content).toHaveLength(2)
  })

  test('instructions come first, with their options, in every form', () => {
    const cached = { anthropic: { cacheControl: { type: 'ephemeral' } } }
    expect(modelPrompt('Be kind.', [])).toEqual([{ role: 'system', content: 'Be kind.' }])
    expect(
      modelPrompt(
        [
          { role: 'system', content: 'One.', providerOptions: cached },
          { role: 'system', content: 'Two.' },
        ],
        [],
      ),
    ).toEqual([
      { role: 'system', content: 'One.', providerOptions: cached },
      { role: 'system', content: 'Two.' },
    ])
    const wrong: unknown = [42]
    expect(() => modelPrompt(wrong as string, [])).toThrow(
      expect.objectContaining({ code: 'configuration_invalid' }),
    )
  })

  test('files of every form are tagged; those of a tool result too', () => {
    const bytes = new Uint8Array([1, 2, 3])
    const url = new URL('https://example.com/a.png')
    const [message] = modelPrompt(undefined, [
      {
        role: 'user',
        content: [
          { type: 'file', mediaType: 'image/png', data: bytes },
          { type: 'file', mediaType: 'image/png', data: bytes.buffer },
          { type: 'file', mediaType: 'image/png', data: 'AQID' },
          { type: 'file', mediaType: 'image/png', data: url },
          { type: 'file', mediaType: 'image/png', data: 'data:image/png;base64,AQID' },
          { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: 'hi' } },
          { type: 'file', mediaType: 'image/png', data: { openai: 'file-1' } },
          { type: 'image', image: 'https://example.com/a.png' },
        ],
      },
    ])
    const data =
      message?.role === 'user'
        ? message.content.map((part) => ('data' in part ? part.data : part))
        : []
    expect(data).toEqual([
      { type: 'data', data: bytes },
      { type: 'data', data: bytes },
      { type: 'data', data: 'AQID' },
      { type: 'url', url },
      { type: 'data', data: 'AQID' },
      { type: 'text', text: 'hi' },
      { type: 'reference', reference: { openai: 'file-1' } },
      { type: 'url', url },
    ])
    const [, tool] = modelPrompt(undefined, [
      call('c1'),
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'look',
            output: {
              type: 'content',
              value: [
                { type: 'text', text: 'a' },
                { type: 'image-data', data: 'AQID', mediaType: 'image/png' },
                { type: 'file-url', url: url.href, mediaType: 'image/png' },
              ],
            },
          },
        ],
      },
    ])
    expect(tool).toMatchObject({
      content: [
        {
          output: {
            value: [
              { type: 'text', text: 'a' },
              { type: 'file', data: { type: 'data', data: 'AQID' } },
              { type: 'file', data: { type: 'url', url } },
            ],
          },
        },
      ],
    })
  })
})
