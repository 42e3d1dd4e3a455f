import { isHoldfastError } from '@holdfast/core'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson, decodeJson, encodeJson, parseStrictJson } from '../src/index.ts'
import { codeOf } from './failure.ts'

const large = { maxBytes: 1e9, maxDepth: 512, maxProperties: 1e9 }
const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/)

/** Texts near to JSON: what a fuzzer of characters alone would rarely hit. */
const almostJson = fc
  .array(
    fc.constantFrom(
      ...'{ } [ ] , : " "a" "\\u d83d \\ud83d \\ true nul null - 0 1 . e + 1e999'.split(' '),
      ...'9007199254740993 "__proto__" é 😀 \u0000 \ud800'.split(' '),
      ' ',
    ),
  )
  .map((parts) => parts.join(''))

/** What `JSON.parse` gives, where minus zero is zero. */
function platformValue(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) => (value === 0 ? 0 : value))
}

describe('parseStrictJson', () => {
  test('agrees with JSON.parse on every text that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(parseStrictJson(text, large)).toStrictEqual(platformValue(text))
        expect(parseStrictJson(new TextEncoder().encode(text), large)).toStrictEqual(
          platformValue(text),
        )
      }),
      { numRuns: 1_000 },
    )
  })

  test('agrees with JSON.parse on escapes and white space of any form', () => {
    const escaped = fc
      .string({ unit: 'binary' })
      .map(
        (text) =>
          `"${Array.from(
            { length: text.length },
            (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`,
          ).join('')}"`,
      )
    fc.assert(
      fc.property(escaped, space, space, (text, before, after) => {
        const spaced = `${before}[${after}${text}${before},{${text}:${after}1}]${after}`
        expect(parseStrictJson(spaced)).toStrictEqual(JSON.parse(spaced))
      }),
    )
  })

  test('reads every double that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(parseStrictJson(JSON.stringify(value))).toBe(value === 0 ? 0 : value)
      }),
      { numRuns: 5_000 },
    )
  })

  test('reads an integer if and only if a double holds it, or it is the shortest text of one', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (integer) => {
        const double = Number(integer)
        const kept = BigInt(double) === integer || String(double) === String(integer)
        const code = codeOf(() => parseStrictJson(String(integer)))
        expect(code).toBe(kept ? undefined : 'json_number_unsafe')
      }),
      { numRuns: 2_000 },
    )
  })

  test('judges a number by what it is, however it is written', () => {
    const exponent = fc.integer({ min: -40, max: 40 })
    const digits = fc.bigInt({ min: 1n, max: 2n ** 70n })
    fc.assert(
      fc.property(digits, exponent, fc.nat(3), (integer, power, zeros) => {
        const plain = `${integer}e${power}`
        const padded = `-${integer}${'0'.repeat(zeros)}.0${'0'.repeat(zeros)}E${power - zeros}`
        const codes = [plain, padded].map((text) => codeOf(() => parseStrictJson(text)))
        expect(codes[1]).toBe(codes[0])
        const read = codes[0] === undefined
        expect(read ? parseStrictJson(plain) : Number(plain)).toBe(Number(plain))
        expect(read || Number(plain) > Number.MAX_SAFE_INTEGER).toBe(true)
      }),
      { numRuns: 3_000 },
    )
  })

  test('answers any text with a value or a typed error, and accepts nothing JSON.parse refuses', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json(), almostJson), (text) => {
        const result = attempt(text)
        if (isHoldfastError(result)) return
        expect(result).toStrictEqual(platformValue(text))
      }),
      { numRuns: 5_000 },
    )
  })

  test('refuses nothing that JSON.parse accepts but for a named reason', () => {
    fc.assert(
      fc.property(almostJson, (text) => {
        const code = codeOf(() => parseStrictJson(text))
        if (code !== 'json_invalid' && code !== 'json_trailing_data') return
        expect(() => JSON.parse(text)).toThrow(SyntaxError)
      }),
      { numRuns: 5_000 },
    )
  })

  test('answers any bytes with a value or a typed error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(() => attempt(bytes)).not.toThrow()
      }),
      { numRuns: 2_000 },
    )
  })

  test('counts bytes exactly', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        const maxBytes = new TextEncoder().encode(text).byteLength
        expect(codeOf(() => parseStrictJson(text, { maxBytes }))).toBeUndefined()
        if (maxBytes === 1) return
        const below = codeOf(() => parseStrictJson(text, { maxBytes: maxBytes - 1 }))
        expect(below).toBe('json_too_large')
      }),
    )
  })

  test('finds a duplicate key at any depth', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), fc.nat(28), (value, key, depth) => {
        const member = `${JSON.stringify(key)}:${JSON.stringify(value)}`
        const text = `${'[{"a":'.repeat(depth)}{${member},${member}}${'}]'.repeat(depth)}`
        const code = codeOf(() => parseStrictJson(text, large))
        expect(code).toBe('json_duplicate_key')
      }),
    )
  })
})

describe('round trips', () => {
  test('what encodeJson writes, decodeJson reads unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = encodeJson(value)
        expect(encodeJson(decodeJson(text))).toBe(text)
      }),
      { numRuns: 1_000 },
    )
  })

  test('the canonical form is canonical', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value)
        expect(canonicalJson(parseStrictJson(text, large))).toBe(text)
      }),
      { numRuns: 1_000 },
    )
  })

  test('the canonical form does not depend on the order of members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).toReversed())
        expect(canonicalJson(reversed)).toBe(canonicalJson(value))
      }),
    )
  })
})

function attempt(source: string | Uint8Array): unknown {
  try {
    return parseStrictJson(source)
  } catch (error) {
    if (isHoldfastError(error)) return error
    throw error
  }
}
