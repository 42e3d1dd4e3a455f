import { describe, expect, test } from 'vitest'
import { renderMessage, type UiChunk } from '../src/index.ts'

describe('renderMessage', () => {
  test('joins text and reasoning by id, however they interleave', () => {
    const message = renderMessage([
      { type: 'start', messageId: 'm' },
      { type: 'reasoning-start', id: '1' },
      { type: 'text-start', id: '1' },
      { type: 'reasoning-delta', id: '1', delta: 'th' },
      { type: 'text-delta', id: '1', delta: 'a' },
      { type: 'reasoning-delta', id: '1', delta: 'ink' },
      { type: 'reasoning-end', id: '1' },
      { type: 'text-delta', id: '1', delta: 'b' },
    ])
    expect(message).toEqual({
      messageId: 'm',
      status: 'streaming',
      parts: [
        { type: 'reasoning', text: 'think', state: 'done' },
        { type: 'text', text: 'ab', state: 'streaming' },
      ],
      orphans: 0,
    })
  })

  test('C3: reset-step takes back what the failed attempt wrote, and no more', () => {
    const attempt = (text: string): UiChunk[] => [
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: text },
      { type: 'text-end', id: '1' },
    ]
    const before: UiChunk[] = [{ type: 'start-step' }, ...attempt('kept'), { type: 'finish-step' }]
    const step: UiChunk = { type: 'start-step' }
    expect(
      renderMessage([
        ...before,
        step,
        ...attempt('lost'),
        { type: 'reset-step' },
        ...attempt('new'),
      ]),
    ).toEqual(renderMessage([...before, step, ...attempt('new')]))
  })

  test('follows a tool call to its end', () => {
    const toolCallId = 'c'
    const message = renderMessage([
      { type: 'tool-input-start', toolCallId, toolName: 'dig' },
      { type: 'tool-input-delta', toolCallId, inputTextDelta: '{"d' },
      { type: 'tool-input-available', toolCallId, toolName: 'dig', input: { deep: 1 } },
      { type: 'tool-approval-request', toolCallId, approvalId: 'a' },
      { type: 'tool-approval-response', approvalId: 'a', approved: true, reason: 'ok' },
      { type: 'tool-output-available', toolCallId, output: 'half', preliminary: true },
      { type: 'tool-output-available', toolCallId, output: 'whole' },
    ])
    expect(message.parts).toEqual([
      {
        type: 'tool',
        toolCallId,
        toolName: 'dig',
        state: 'output-available',
        input: { deep: 1 },
        output: 'whole',
        preliminary: false,
        approval: { id: 'a', approved: true, reason: 'ok' },
      },
    ])
  })

  test('an output goes to the latest call of that id', () => {
    const call = { type: 'tool-input-available', toolCallId: 'c', toolName: 'dig' } as const
    const message = renderMessage([
      { type: 'start-step' },
      { ...call, input: 1 },
      { type: 'tool-output-available', toolCallId: 'c', output: 1 },
      { type: 'start-step' },
      { ...call, input: 2 },
      { type: 'tool-output-error', toolCallId: 'c', errorText: 'x' },
    ])
    expect(message.parts.map((part) => part.type === 'tool' && part.state)).toEqual([
      false,
      'output-available',
      false,
      'output-error',
    ])
  })

  test('data with an id is replaced where it stands; transient data is nowhere', () => {
    const message = renderMessage([
      { type: 'data-note', id: 'n', data: 1 },
      { type: 'data-other', id: 'n', data: 2 },
      { type: 'data-note', id: 'n', data: 3 },
      { type: 'data-note', data: 4, transient: true },
    ])
    expect(message.parts).toEqual([
      { type: 'data-note', id: 'n', data: 3 },
      { type: 'data-other', id: 'n', data: 2 },
    ])
  })

  test('counts what belongs to nothing', () => {
    const message = renderMessage([
      { type: 'text-delta', id: '1', delta: 'a' },
      { type: 'tool-output-denied', toolCallId: 'c' },
      { type: 'tool-approval-response', approvalId: 'a', approved: false },
    ])
    expect(message).toMatchObject({ parts: [], orphans: 3 })
  })

  test.each([
    [
      { type: 'finish', finishReason: 'stop' },
      { status: 'finished', finishReason: 'stop' },
    ],
    [{ type: 'abort' }, { status: 'aborted' }],
    [
      { type: 'error', errorText: 'x' },
      { status: 'failed', errorText: 'x' },
    ],
  ] satisfies [UiChunk, object][])('%j ends it', (chunk, end) => {
    expect(renderMessage([chunk])).toMatchObject(end)
  })
})
