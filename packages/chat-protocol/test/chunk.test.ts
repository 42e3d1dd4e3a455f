import { describe, expect, test } from 'vitest'
import { isChatProtocolError, isTerminalChunk, parseUiChunk } from '../src/index.ts'

describe('parseUiChunk', () => {
  test('keeps fields that it does not know', () => {
    expect(parseUiChunk('{"type":"text-delta","id":"1","delta":"a","later":[1]}')).toEqual({
      type: 'text-delta',
      id: '1',
      delta: 'a',
      later: [1],
    })
  })

  test('keeps a type that it does not know', () => {
    expect(parseUiChunk('{"type":"hologram","id":"1"}')).toEqual({ type: 'hologram', id: '1' })
  })

  test.each(['', 'x', '[DONE]', 'null', '[]', '"text"', '{}', '{"type":1}', '{"type":"a"'])(
    'refuses %j',
    (text) => {
      expect(() => parseUiChunk(text)).toThrowError(
        expect.objectContaining({ code: 'chunk_malformed' }),
      )
    },
  )

  test('never shows the data that it refused', () => {
    try {
      parseUiChunk('{"secret":"tide"}')
      expect.unreachable()
    } catch (error) {
      expect(isChatProtocolError(error)).toBe(true)
      expect(JSON.stringify([String(error), error])).not.toContain('tide')
    }
  })

  test('refuses a chunk above the limit, at the limit takes it', () => {
    const text = '{"type":"start-step"}'
    expect(parseUiChunk(text, { maxLength: text.length })).toEqual({ type: 'start-step' })
    expect(() => parseUiChunk(text, { maxLength: text.length - 1 })).toThrowError(
      expect.objectContaining({
        code: 'chunk_too_large',
        details: { length: text.length, limit: text.length - 1 },
      }),
    )
  })
})

describe('isTerminalChunk', () => {
  test('C9: finish, abort and error end a stream', () => {
    expect(isTerminalChunk({ type: 'finish' })).toBe(true)
    expect(isTerminalChunk({ type: 'abort' })).toBe(true)
    expect(isTerminalChunk({ type: 'error', errorText: 'An error occurred.' })).toBe(true)
  })

  test('a finished or reset step, a failed tool and unknown types do not', () => {
    expect(isTerminalChunk({ type: 'finish-step' })).toBe(false)
    expect(isTerminalChunk({ type: 'reset-step' })).toBe(false)
    expect(isTerminalChunk({ type: 'tool-output-error', toolCallId: 'c', errorText: 'x' })).toBe(
      false,
    )
    expect(isTerminalChunk(parseUiChunk('{"type":"finished"}'))).toBe(false)
  })
})
