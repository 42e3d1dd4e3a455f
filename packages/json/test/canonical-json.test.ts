import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  canonicalBytes,
  canonicalJson,
  digestJson,
  parseStrictJson,
  sha256Hex,
} from '../src/index.ts'

/** RFC 8785, appendix B: the bits of a double and its text. */
const numbers: readonly (readonly [string, string])[] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
]

function doubleFromHex(hex: string): number {
  return Buffer.from(hex, 'hex').readDoubleBE()
}

describe('canonicalJson', () => {
  test('the vector of the input contract', () => {
    const value = parseStrictJson('{"z":2,"a":1}')
    expect(canonicalJson(value)).toBe('{"a":1,"z":2}')
    expect(digestJson(value)).toBe(
      '99168216144c7fed5d4c54916cf98d9c66096280c04a499822a99b6658bd177a',
    )
  })

  test.each(numbers)('RFC 8785 appendix B: %s is %s', (hex, text) => {
    expect(canonicalJson(doubleFromHex(hex))).toBe(text)
  })

  test('RFC 8785 section 3.2.2: literals and escapes', () => {
    const text = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`
    expect(canonicalJson(parseStrictJson(text))).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    )
  })

  test('RFC 8785 section 3.2.3: members are sorted by UTF-16 units', () => {
    const text = String.raw`{
      "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis"
    }`
    const canonical = canonicalJson(parseStrictJson(text))
    const keys = ['\\r', '1', '\u0080', 'ö', '€', '😀', '\ufb33']
    const places = keys.map((key) => canonical.indexOf(`"${key}":`))
    expect(places).toEqual(places.toSorted((one, other) => one - other))
    expect(places[0]).toBe(1)
  })

  test('one number has one text', () => {
    expect(canonicalJson(parseStrictJson('[1,1.0,1e0,10e-1,-0]'))).toBe('[1,1,1,1,0]')
  })

  test('bytes are UTF-8', () => {
    expect([...canonicalBytes('é')]).toEqual([0x22, 0xc3, 0xa9, 0x22])
  })
})

describe('sha256Hex', () => {
  test('agrees with the platform on any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(sha256Hex(bytes)).toBe(createHash('sha256').update(bytes).digest('hex'))
      }),
    )
  })
})
