import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parsePartialJson } from '../src/partial-json.ts'

describe('partial JSON', () => {
  test.each([
    ['{"a":1', { a: 1 }],
    ['{"a":1,', { a: 1 }],
    ['{"a":1,"b', { a: 1 }],
    ['{"a":1,"b"', { a: 1 }],
    ['{"a":1,"b":', { a: 1 }],
    ['{"a":"wo', { a: 'wo' }],
    ['{"a":"wo\\', { a: 'wo' }],
    ['{"a":"wo\\u00', { a: 'wo' }],
    ['{"a":"wo\\\\', { a: 'wo\\' }],
    ['{"a":[1,[2,', { a: [1, [2]] }],
    ['{"a":tr', { a: true }],
    ['{"a":nul', { a: null }],
    ['{"a":-', {}],
    ['{"a":1.', { a: 1 }],
    ['{"a":1e', { a: 1 }],
    ['[{"x":1},{"x":2', [{ x: 1 }, { x: 2 }]],
    ['  [ ', []],
    ['"text', 'text'],
  ])('%s', (text, value) => {
    expect(parsePartialJson(text)).toEqual({ value, whole: false })
  })

  test.each(['', '   ', 'x', 'words', '-'])('nothing can be read of %j', (text) => {
    expect(parsePartialJson(text)).toBeUndefined()
  })

  test('every cut of every value is read without a throw, and the whole is itself', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        expect(parsePartialJson(text)).toEqual({ value: JSON.parse(text), whole: true })
        const isContainer = text.startsWith('{') || text.startsWith('[')
        for (let end = 1; end < text.length; end += 1) {
          const read = parsePartialJson(text.slice(0, end))
          if (isContainer) expect(typeof read?.value).toBe('object')
        }
      }),
      { numRuns: 200 },
    )
  })
})
