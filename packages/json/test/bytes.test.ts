import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromBase64Url, toBase64Url, truncateUtf8, utf8Length } from '../src/index.ts'

const encoder = new TextEncoder()
/** Any units, lone surrogates among them. */
const anyText = fc
  .array(fc.oneof(fc.constantFrom(0x41, 0xe9, 0x20ac, 0xd83d, 0xde00), fc.nat(0xffff)))
  .map((units) => String.fromCharCode(...units))

describe('utf8Length', () => {
  test('is what an encoder writes', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(utf8Length(text)).toBe(encoder.encode(text).byteLength)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('truncateUtf8', () => {
  test('keeps as many whole code points as fit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, maxBytes) => {
        let expected = ''
        for (const point of text) {
          if (encoder.encode(expected + point).byteLength > maxBytes) break
          expected += point
        }
        expect(truncateUtf8(text, maxBytes)).toBe(expected)
      }),
      { numRuns: 2_000 },
    )
  })

  test('never makes a lone surrogate', () => {
    for (let maxBytes = 0; maxBytes <= 8; maxBytes += 1) {
      expect(truncateUtf8('😀😀', maxBytes)).toBe('😀'.repeat(Math.floor(maxBytes / 4)))
    }
  })

  test('keeps a text at its limit and cuts one byte below it', () => {
    expect(truncateUtf8('aé€😀', 10)).toBe('aé€😀')
    expect(truncateUtf8('aé€😀', 9)).toBe('aé€')
    expect(truncateUtf8('x'.repeat(5_000), 1_024)).toHaveLength(1_024)
  })
})

describe('base64url', () => {
  test('round trips, as the platform writes it', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = toBase64Url(bytes)
        expect(text).toBe(Buffer.from(bytes).toString('base64url'))
        expect(fromBase64Url(text)).toEqual(bytes)
      }),
    )
  })

  test('any text is read or refused, and one value has one text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[A-Za-z0-9_-]{0,9}$/)), (text) => {
        const bytes = fromBase64Url(text)
        expect(bytes === undefined ? text : toBase64Url(bytes)).toBe(text)
      }),
      { numRuns: 2_000 },
    )
  })

  test.each(['A', 'AA==', 'A+', 'A/', 'AB', 'A A', 'AA\n', 'é'])('%j is refused', (text) => {
    expect(fromBase64Url(text)).toBeUndefined()
  })
})
