import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { canonicalJson, checkJsonValue, decodeJson, encodeJson } from '../src/index.ts'
import { codeOf, failureOf } from './failure.ts'

class Point {
  readonly x = 1
}
class List extends Array<number> {}

const nested = (depth: number) => {
  let value: unknown = 1
  for (let level = 0; level < depth; level += 1) value = [value]
  return value
}

describe('checkJsonValue', () => {
  test.each([
    ['undefined', undefined, 'undefined'],
    ['a function', () => 1, 'function'],
    ['a symbol', Symbol('s'), 'symbol'],
    ['a bigint', 1n, 'bigint'],
    ['NaN', Number.NaN, 'a number that is not finite'],
    ['infinity', Number.NEGATIVE_INFINITY, 'a number that is not finite'],
    ['a date', new Date(0), 'a class instance'],
    ['a map', new Map(), 'a class instance'],
    ['a set', new Set(), 'a class instance'],
    ['an error', new Error('no'), 'a class instance'],
    ['bytes', new Uint8Array(1), 'a class instance'],
    ['a regular expression', /x/, 'a class instance'],
    ['a boxed number', Object(1), 'a class instance'],
    ['a promise', Promise.resolve(1), 'a class instance'],
    ['an instance', new Point(), 'a class instance'],
    ['a kind of array', new List(), 'a class instance'],
    ['an object that inherits', Object.create({ inherited: 1 }), 'a class instance'],
    ['a symbol key', { [Symbol('key')]: 1 }, 'a symbol key'],
    ['something with toJSON', { toJSON: () => 1 }, 'function'],
  ])('refuses %s, at the root and below', (_, value, found) => {
    expect(codeOf(() => checkJsonValue(value))).toBe('json_unsupported_value')
    expect(failureOf(() => checkJsonValue({ 'a/b~c': [0, { d: value }] }))).toMatchObject({
      code: 'json_unsupported_value',
      details: { found },
    })
    const { path } = failureOf(() => checkJsonValue({ 'a/b~c': [0, { d: value }] })).details
    expect(path).toMatch(/^\/a~1b~0c\/1\/d/)
    expect(codeOf(() => encodeJson([value]))).toBe('json_unsupported_value')
    expect(codeOf(() => canonicalJson([value]))).toBe('json_unsupported_value')
  })

  test('refuses holes in arrays', () => {
    const holes = [1]
    holes[2] = 3
    expect(failureOf(() => checkJsonValue(holes)).details).toEqual({
      path: '/1',
      found: 'undefined',
    })
  })

  test.each([['\ud800'], [{ '\ud800': 1 }], [['a', 'b\udc00']]])(
    'refuses lone surrogates in %j',
    (value) => {
      expect(codeOf(() => checkJsonValue(value))).toBe('json_unicode_invalid')
    },
  )

  test('finds a cycle and says where it closes', () => {
    const parent: Record<string, unknown> = { name: 'parent' }
    parent['children'] = [{ parent }]
    expect(failureOf(() => checkJsonValue({ parent }))).toMatchObject({
      code: 'json_unsupported_value',
      details: { path: '/parent/children/0/parent', found: 'a cycle' },
    })
    const self: unknown[] = []
    self.push(self, self)
    expect(failureOf(() => checkJsonValue(self)).details['found']).toBe('a cycle')
  })

  test('copies a part that occurs twice, twice', () => {
    const part = { a: 1 }
    const copy = checkJsonValue([part, part])
    expect(copy).toEqual([{ a: 1 }, { a: 1 }])
    expect(new Set(Object.values(copy ?? {})).size).toBe(2)
  })

  test('ends on a small value that unfolds into a huge one', () => {
    let value: unknown = 1
    for (let level = 0; level < 100; level += 1) value = [value, value]
    expect(codeOf(() => checkJsonValue(value))).toBe('json_too_large')
  })

  test('bounds the depth without exhausting the stack', () => {
    expect(codeOf(() => checkJsonValue(nested(512)))).toBeUndefined()
    expect(codeOf(() => checkJsonValue(nested(513)))).toBe('json_too_deep')
    expect(codeOf(() => checkJsonValue(nested(100_000)))).toBe('json_too_deep')
    expect(codeOf(() => encodeJson(nested(512)))).toBeUndefined()
    expect(codeOf(() => canonicalJson(nested(512)))).toBeUndefined()
  })

  test('bounds properties where asked', () => {
    const limits = { maxProperties: 2 }
    expect(codeOf(() => checkJsonValue([{ a: 1 }, { b: 1 }], limits))).toBeUndefined()
    expect(codeOf(() => checkJsonValue([{ a: 1 }, { b: { c: 1 } }], limits))).toBe(
      'json_too_many_properties',
    )
  })

  test('the copy is fresh, and later changes do not reach it', () => {
    const value = { list: [1], object: { a: 1 } }
    const copy = checkJsonValue(value)
    value.list.push(2)
    value.object.a = 2
    expect(copy).toEqual({ list: [1], object: { a: 1 } })
  })

  test('a getter is read once', () => {
    let reads = 0
    const value = {
      get a() {
        reads += 1
        return reads
      },
    }
    expect(encodeJson(value)).toBe('{"a":1}')
  })

  test('takes objects of another realm and objects without a prototype', () => {
    const foreign: unknown = runInNewContext('({ a: [1, { b: null }] })')
    expect(checkJsonValue(foreign)).toEqual({ a: [1, { b: null }] })
    const bare: unknown = Object.assign(Object.create(null), { a: 1 })
    expect(checkJsonValue(bare)).toStrictEqual({ a: 1 })
    expect(codeOf(() => checkJsonValue(runInNewContext('new Date(0)')))).toBe(
      'json_unsupported_value',
    )
  })

  test('leaves out what is not enumerable, as hidden marks of a schema', () => {
    const value = Object.defineProperty({ type: 'object' }, '~kind', { value: () => 1 })
    expect(checkJsonValue(value)).toStrictEqual({ type: 'object' })
  })

  test('-0 becomes 0, as in text', () => {
    expect(Object.is(checkJsonValue(-0), 0)).toBe(true)
    expect(checkJsonValue([-0])).toStrictEqual([0])
  })

  test('__proto__ stays a property', () => {
    const value = decodeJson('{"__proto__":{"a":1}}')
    expect(encodeJson(value)).toBe('{"__proto__":{"a":1}}')
    expect(canonicalJson(value)).toBe('{"__proto__":{"a":1}}')
  })

  test('a path in an error is bounded', () => {
    const error = failureOf(() => checkJsonValue({ ['k'.repeat(10_000)]: undefined }))
    expect(error.details['path']).toHaveLength(256)
    expect(error.message.length).toBeLessThan(400)
  })
})

describe('encodeJson', () => {
  test('keeps the order of members', () => {
    expect(encodeJson({ z: 2, a: [true, null, 'x'] })).toBe('{"z":2,"a":[true,null,"x"]}')
  })

  test('writes what decodeJson reads, large numbers too', () => {
    const value = [2 ** 63, 1e21, -1e-7, Number.MAX_VALUE, 1e20 / 3]
    expect(decodeJson(encodeJson(value))).toEqual(value)
  })
})
