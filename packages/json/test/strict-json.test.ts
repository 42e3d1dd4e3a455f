import { Limits } from '@holdfast/core'
import { describe, expect, test } from 'vitest'
import { decodeJson, parseStrictJson } from '../src/index.ts'
import { codeOf, failureOf } from './failure.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const members = (count: number) =>
  `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(',')}}`

describe('what is read', () => {
  test.each([
    ['null', null],
    [' \t\r\n true \n', true],
    ['"a\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"', 'a"\\/\b\f\n\r\té'],
    ['"\\ud83d\\ude00"', '😀'],
    ['"😀"', '😀'],
    ['{"a":[1,{"b":[]}],"c":{}}', { a: [1, { b: [] }], c: {} }],
    ['""', ''],
    ['{"":1}', { '': 1 }],
  ])('%s', (text, value) => {
    expect(parseStrictJson(text)).toStrictEqual(value)
    expect(parseStrictJson(bytes(text))).toStrictEqual(value)
  })

  test('__proto__ is an own property and changes nothing else', () => {
    const value = parseStrictJson('{"__proto__":{"admin":true},"constructor":1}')
    expect(Object.keys(value ?? {})).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(value).not.toHaveProperty('admin')
    expect(JSON.stringify(value)).toBe('{"__proto__":{"admin":true},"constructor":1}')
    expect(codeOf(() => parseStrictJson('{"__proto__":1,"__proto__":2}'))).toBe(
      'json_duplicate_key',
    )
  })

  test('a name that every object inherits is no duplicate', () => {
    expect(parseStrictJson('{"toString":1,"hasOwnProperty":2}')).toEqual({
      toString: 1,
      hasOwnProperty: 2,
    })
  })
})

describe('numbers', () => {
  test.each([
    ['0', 0],
    ['-0', 0],
    ['-0.0e9', 0],
    ['0e999999999', 0],
    ['1.0', 1],
    ['1e0', 1],
    ['1E+2', 100],
    ['0.1', 0.1],
    ['-12.5e-1', -1.25],
    ['9007199254740991', 9007199254740991],
    ['-9007199254740992', -9007199254740992],
    ['9007199254740994', 9007199254740994],
    ['9007199254740992.0', 9007199254740992],
    ['9223372036854775808', 2 ** 63],
    ['9223372036854776000', 2 ** 63],
    ['1e21', 1e21],
    ['1e23', 1e23],
    ['1000e20', 1e23],
    ['1.7976931348623157e+308', Number.MAX_VALUE],
    ['5e-324', Number.MIN_VALUE],
    ['0.99999999999999999999', 1],
  ])('%s is read', (text, value) => {
    expect(Object.is(parseStrictJson(text), value)).toBe(true)
  })

  test.each([
    '9007199254740993',
    '-9007199254740993',
    '9007199254740993.0',
    '9.007199254740993e15',
    '90071992547409930e-1',
    '9007199254740992.5',
    '9223372036854775807',
    '18446744073709551615',
    '123456789012345678901234567890',
    '1e400',
    '-1e400',
    '1e999999999999',
    '1e-400',
    '-1e-400',
  ])('%s is refused as unsafe', (text) => {
    expect(codeOf(() => parseStrictJson(text))).toBe('json_number_unsafe')
    expect(codeOf(() => parseStrictJson(`{"a":[1,${text}]}`))).toBe('json_number_unsafe')
  })

  test('long numbers are judged without delay', () => {
    const nines = '9'.repeat(200_000)
    expect(codeOf(() => parseStrictJson(nines))).toBe('json_number_unsafe')
    expect(codeOf(() => parseStrictJson(`${nines}e-199980`))).toBe('json_number_unsafe')
    expect(parseStrictJson(`${nines}e-199990`)).toBe(1e10)
    expect(parseStrictJson(`1${'0'.repeat(200_000)}e-200000`)).toBe(1)
    expect(parseStrictJson(`1${'0'.repeat(200_000)}e-199980`)).toBe(1e20)
  })

  test.each(['01', '-', '+1', '.5', '1.', '1e', '1e+', '0x1', 'NaN', 'Infinity', '--1', '1_0'])(
    '%s is no number',
    (text) => {
      expect(codeOf(() => parseStrictJson(`[${text}]`))).toBe('json_invalid')
    },
  )
})

describe('what is refused', () => {
  test.each(['', ' ', '\n'])('an empty document (%j)', (text) => {
    expect(failureOf(() => parseStrictJson(text))).toMatchObject({
      code: 'json_invalid',
      message: 'empty JSON document',
    })
  })

  test.each([
    '}',
    '{"count":[1}',
    '{',
    '[',
    '[1,]',
    '{"a":1,}',
    '{a:1}',
    "{'a':1}",
    '{"a"}',
    '{"a":}',
    '{,}',
    '[,]',
    '"',
    '"a',
    '"\\',
    '"\\x"',
    '"\\u12"',
    '"\\u12G4"',
    '"\t"',
    '"\u0000"',
    'tru',
    'nul',
    '\u00a0true',
    '\ufefftrue',
    '// x\n1',
    ']',
    ',',
  ])('case 20: malformed %j, without a crash', (text) => {
    expect(codeOf(() => parseStrictJson(text))).toBe('json_invalid')
    expect(codeOf(() => parseStrictJson(bytes(text)))).toBe('json_invalid')
  })

  test.each(['{} {}', '{}x', '1 2', 'null,', 'truefalse', '{}\u0000', '01'])(
    'case 18: trailing data (%j)',
    (text) => {
      expect(codeOf(() => parseStrictJson(text))).toBe('json_trailing_data')
    },
  )

  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '[[{"x":{"y":0,"z":1,"y":2}}]]',
    '{"a":{"a":1},"a":1}',
    '{"":1,"":2}',
    '{"1":0,"1":0}',
  ])('a duplicate key (%s)', (text) => {
    expect(codeOf(() => parseStrictJson(text))).toBe('json_duplicate_key')
  })

  test.each([
    '"\ud800"',
    '"\udc00"',
    '"\udc00\ud800"',
    '{"\ud800":1}',
    '"\\ud800"',
    '"\\udc00"',
    '"\\ud800\\ud800"',
    '"\\ud800x"',
    '"\\ud800\\n"',
    '"\\ud83d\ude00"',
    '"\ud83d\\ude00"',
    '{"\\udfff":1}',
  ])('a lone surrogate (%j)', (text) => {
    expect(codeOf(() => parseStrictJson(text))).toBe('json_unicode_invalid')
  })

  test.each([
    ['a stray continuation', [0x22, 0x80, 0x22], 1],
    ['an overlong form', [0x22, 0xc0, 0xaf, 0x22], 1],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22], 1],
    ['beyond the last code point', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], 1],
    ['a cut sequence', [0x22, 0xe2, 0x82], 1],
    ['after a replacement character of its own', [0x22, 0xef, 0xbf, 0xbd, 0xff, 0x22], 4],
    ['after other characters', [0x22, 0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x80, 0xfe], 7],
  ])('bytes that are not UTF-8: %s', (_, octets, offset) => {
    expect(failureOf(() => parseStrictJson(Uint8Array.from(octets)))).toMatchObject({
      code: 'json_unicode_invalid',
      details: { offset },
    })
  })

  test('a replacement character that was sent is kept', () => {
    expect(parseStrictJson(bytes('"\ufffd"'))).toBe('\ufffd')
  })
})

describe('limits', () => {
  test('case 18: bytes are counted exactly, white space included', () => {
    const full = `{}${' '.repeat(Limits.inputBytes - 2)}`
    expect(parseStrictJson(full)).toEqual({})
    expect(parseStrictJson(bytes(full))).toEqual({})
    expect(failureOf(() => parseStrictJson(`${full} `))).toMatchObject({
      code: 'json_too_large',
      message: 'JSON document exceeds 262144 bytes',
    })
    expect(codeOf(() => parseStrictJson(bytes(`${full} `)))).toBe('json_too_large')
  })

  test.each(['é', '€', '😀'])('the size of a text is that of its UTF-8 bytes (%s)', (character) => {
    const text = `"${character.repeat(10)}"`
    const maxBytes = bytes(text).byteLength
    expect(parseStrictJson(text, { maxBytes })).toBe(character.repeat(10))
    expect(codeOf(() => parseStrictJson(text, { maxBytes: maxBytes - 1 }))).toBe('json_too_large')
  })

  test('case 18: depth 32 is read, depth 33 refused, objects and arrays alike', () => {
    expect(codeOf(() => parseStrictJson(nested(32)))).toBeUndefined()
    expect(failureOf(() => parseStrictJson(nested(33)))).toMatchObject({
      code: 'json_too_deep',
      message: 'JSON depth exceeds 32',
      details: { limit: 32, offset: 32 },
    })
    const mixed = (pairs: number) => `${'{"a":['.repeat(pairs)}${']}'.repeat(pairs)}`
    expect(codeOf(() => parseStrictJson(mixed(16)))).toBeUndefined()
    expect(codeOf(() => parseStrictJson(`[${mixed(16)}]`))).toBe('json_too_deep')
    expect(codeOf(() => parseStrictJson('[]', { maxDepth: 0 }))).toBe('json_too_deep')
    expect(parseStrictJson('1', { maxDepth: 0 })).toBe(1)
  })

  test('4,096 properties are read, one more refused, counted over all levels', () => {
    expect(codeOf(() => parseStrictJson(members(4096)))).toBeUndefined()
    expect(failureOf(() => parseStrictJson(members(4097)))).toMatchObject({
      code: 'json_too_many_properties',
      message: 'JSON properties exceed 4096',
    })
    expect(codeOf(() => parseStrictJson(`[${members(2048)},${members(2048)}]`))).toBeUndefined()
    expect(codeOf(() => parseStrictJson(`[${members(2048)},${members(2049)}]`))).toBe(
      'json_too_many_properties',
    )
  })

  test.each(['[', '{"a":', '{', ']', '"', '-'])('256 KiB of %s end at once', (part) => {
    const text = part.repeat(Limits.inputBytes / part.length)
    expect(codeOf(() => parseStrictJson(text))).toMatch(/^json_/)
    expect(codeOf(() => decodeJson(text))).toMatch(/^json_/)
  })

  test('the deepest text allowed at all does not exhaust the stack', () => {
    expect(codeOf(() => decodeJson(nested(512)))).toBeUndefined()
    expect(codeOf(() => decodeJson(nested(513)))).toBe('json_too_deep')
  })

  test.each([
    { maxDepth: 513 },
    { maxDepth: Number.NaN },
    { maxBytes: 0 },
    { maxBytes: Number.POSITIVE_INFINITY },
    { maxProperties: -1 },
    { maxProperties: 1.5 },
  ])('a limit that would not limit is refused: %o', (limits) => {
    expect(codeOf(() => parseStrictJson('1', limits))).toBe('configuration_invalid')
  })
})

describe('errors', () => {
  test.each([
    ['{"é":tru}', 6],
    ['[1 2]', 3],
    ['{"a":1,"a":2}', 7],
    ['{}x', 2],
    ['["😀",9007199254740993]', 8],
    ['["€\\ud800"]', 5],
  ])('say where in UTF-8 bytes: %s', (text, offset) => {
    expect(failureOf(() => parseStrictJson(text)).details['offset']).toBe(offset)
    expect(failureOf(() => parseStrictJson(bytes(text))).details['offset']).toBe(offset)
  })

  test.each([
    '{"secret":secret}',
    '{"secret":1,"secret":2}',
    '"secret" secret',
    '["secret\\ud800"]',
  ])('never say what: %s', (text) => {
    const error = failureOf(() => parseStrictJson(text))
    expect(`${error.message} ${JSON.stringify(error.details)}`).not.toContain('secret')
    expect(error.cause).toBeUndefined()
  })
})
