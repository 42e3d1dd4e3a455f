import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  indexFromHeader,
  parseStartIndex,
  resolveStartIndex,
  startIndexAfter,
  tailIndexOf,
} from '../src/index.ts'

const invalid = expect.objectContaining({ code: 'start_index_invalid' })

describe('parseStartIndex', () => {
  test('absent is the whole stream', () => {
    expect(parseStartIndex(null)).toBe(0)
    expect(parseStartIndex(undefined)).toBe(0)
  })

  test('reads every safe integer', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (index) => {
        expect(parseStartIndex(String(index))).toBe(index)
      }),
    )
  })

  test('minus nought is nought', () => {
    expect(Object.is(parseStartIndex('-0'), 0)).toBe(true)
  })

  test.each(['', ' ', '1 ', '+1', '1.0', '1e3', '0x1', '--1', 'NaN', '9007199254740993', '１'])(
    'refuses %j',
    (text) => {
      expect(() => parseStartIndex(text)).toThrowError(invalid)
    },
  )
})

describe('resolveStartIndex', () => {
  test.each([
    [0, 10, 0],
    [4, 10, 4],
    [12, 10, 12],
    [-1, 10, 9],
    [-6, 10, 4],
    [-10, 10, 0],
    [-11, 10, 0],
    [-3, 0, 0],
  ])('%i of %i chunks is %i', (startIndex, length, cursor) => {
    expect(resolveStartIndex(startIndex, length)).toBe(cursor)
  })

  test('agrees with what a client works out from the tail index', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.integer({ min: -1000, max: -1 }), (length, startIndex) => {
        expect(Math.max(0, tailIndexOf(length) + 1 + startIndex)).toBe(
          resolveStartIndex(startIndex, length),
        )
      }),
    )
  })
})

describe('startIndexAfter', () => {
  test('is the chunk after the one that the reader has', () => {
    expect(startIndexAfter('0')).toBe(1)
    expect(startIndexAfter('41')).toBe(42)
  })

  test.each(['', '-1', 'a', '1.5', '9007199254740991'])('refuses %j', (text) => {
    expect(() => startIndexAfter(text)).toThrowError(invalid)
  })
})

describe('indexFromHeader', () => {
  test('is undefined for what is absent or no index', () => {
    expect(indexFromHeader(null)).toBeUndefined()
    expect(indexFromHeader('nine')).toBeUndefined()
    expect(indexFromHeader('')).toBeUndefined()
    expect(indexFromHeader(' 9 ')).toBe(9)
    expect(indexFromHeader('-1')).toBe(-1)
  })
})
