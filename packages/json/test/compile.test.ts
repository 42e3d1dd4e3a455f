import type { JsonValue } from '@holdfast/core'
import Type from 'typebox'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { compileSchema, decodeJson, parseStrictJson, type Validation } from '../src/index.ts'
import { codeOf, failureOf } from './failure.ts'

const Order = Type.Object(
  {
    id: Type.String({ minLength: 1 }),
    count: Type.Optional(Type.Integer({ minimum: 1 })),
    note: Type.Optional(Type.String({ maxLength: 5 })),
  },
  { additionalProperties: false },
)

function issuesOf(result: Validation<unknown>) {
  return result.ok ? [] : result.issues
}

describe('validate', () => {
  test('gives what fits as a fresh, typed value', () => {
    const given = { id: 'a', count: 1 }
    const result = compileSchema(Order).validate(given)
    expect(result).toEqual({ ok: true, value: given })
    if (!result.ok) return
    expect(result.value).not.toBe(given)
    expectTypeOf(result.value).toEqualTypeOf<{ id: string; count?: number; note?: string }>()
  })

  test('a schema without a type of its own gives JSON values', () => {
    const schema: object = { type: 'string' }
    expectTypeOf(compileSchema(schema).validate(1)).toEqualTypeOf<Validation<JsonValue>>()
  })

  test('names every issue with its place', () => {
    const result = compileSchema(Order).validate({ count: 0, note: 'abcdef', 'x/y': 1 })
    expect(issuesOf(result)).toEqual(
      expect.arrayContaining([
        { path: '/id', message: 'is required' },
        { path: '/x~1y', message: 'unknown field' },
        { path: '/count', message: 'must be >= 1' },
        { path: '/note', message: 'must NOT have more than 5 characters' },
      ]),
    )
    expect(issuesOf(result)).toHaveLength(4)
  })

  test('case 22: an extra field is refused', () => {
    expect(issuesOf(compileSchema(Order).validate({ id: 'a', unexpected: true }))).toEqual([
      { path: '/unexpected', message: 'unknown field' },
    ])
  })

  test('never repeats a value', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { const: 1 },
        b: { enum: [1] },
        c: { pattern: '^x$' },
        d: { type: 'number' },
        e: { format: 'date' },
        f: { propertyNames: { maxLength: 1 } },
        g: { uniqueItems: true },
      },
    }
    const secret = 'secret'
    const value = {
      a: secret,
      b: secret,
      c: secret,
      d: secret,
      e: secret,
      f: {},
      g: [secret, secret],
    }
    const issues = issuesOf(compileSchema(schema).validate(value))
    expect(issues).toHaveLength(6)
    expect(JSON.stringify(issues)).not.toContain(secret)
  })

  test('issues are few and short, whatever the value', () => {
    const schema = { type: 'array', items: { type: 'object', additionalProperties: false } }
    const many = Array.from({ length: 100 }, () => 1)
    expect(issuesOf(compileSchema(schema).validate(many))).toHaveLength(20)
    const huge = Array.from({ length: 100_000 }, () => 1)
    expect(issuesOf(compileSchema(schema).validate(huge))).toHaveLength(1)
    const [issue] = issuesOf(compileSchema(schema).validate([{ ['k'.repeat(9_000)]: 1 }]))
    expect(issue?.path).toHaveLength(256)
  })

  test('what JSON cannot hold is an issue, not a crash', () => {
    const cyclic: unknown[] = []
    cyclic.push(cyclic)
    for (const value of [undefined, new Date(0), 1n, { a: undefined }, cyclic]) {
      expect(compileSchema({}).validate(value).ok).toBe(false)
    }
    expect(issuesOf(compileSchema({}).validate({ a: new Map() }))).toEqual([
      { path: '/a', message: 'JSON cannot hold what is at /a: a class instance' },
    ])
  })

  test('what an object inherits satisfies nothing', () => {
    const schema = { type: 'object', required: ['toString'] }
    expect(compileSchema(schema).validate({}).ok).toBe(false)
    expect(compileSchema(schema).validate({ toString: 1 }).ok).toBe(true)
  })

  test('__proto__ is an unknown field', () => {
    expect(
      issuesOf(compileSchema(Order).validate(parseStrictJson('{"id":"a","__proto__":{}}'))),
    ).toEqual([{ path: '/__proto__', message: 'unknown field' }])
  })

  test('formats are checked', () => {
    const schema = { type: 'string', format: 'date-time' }
    expect(compileSchema(schema).validate('2026-01-02T03:04:05Z').ok).toBe(true)
    expect(compileSchema(schema).validate('yesterday').ok).toBe(false)
  })

  test('lengths are code points, as the standard says', () => {
    const schema = { type: 'string', maxLength: 1 }
    expect(compileSchema(schema).validate('😀').ok).toBe(true)
  })

  test('the deepest value does not exhaust the stack of a schema that repeats itself', () => {
    const validator = compileSchema({ type: 'array', items: { $ref: '#' } })
    const brackets = '['.repeat(512) + ']'.repeat(512)
    expect(validator.validate(decodeJson(brackets)).ok).toBe(true)
    expect(validator.validate(decodeJson(brackets.replace('[]', '[1]'))).ok).toBe(false)
  })

  test('one validator can be used from within another use', () => {
    const validator = compileSchema(Order)
    const first = validator.validate({})
    validator.validate({ id: 1 })
    expect(issuesOf(first)).toEqual([{ path: '/id', message: 'is required' }])
  })
})

describe('applyDefaults', () => {
  const schema = {
    type: 'object',
    additionalProperties: false,
    properties: { limit: { type: 'integer', default: 50 }, tags: { default: [] } },
  }

  test('fills what is absent, in the copy', () => {
    const given = {}
    const result = compileSchema(schema, { applyDefaults: true }).validate(given)
    expect(result).toEqual({ ok: true, value: { limit: 50, tags: [] } })
    expect(given).toEqual({})
  })

  test('is off by default, also for a schema that was compiled with it', () => {
    compileSchema(schema, { applyDefaults: true })
    expect(compileSchema(schema).validate({})).toEqual({ ok: true, value: {} })
  })

  test('a default is a fresh value every time', () => {
    const validator = compileSchema(schema, { applyDefaults: true })
    const [first, second] = [validator.validate({}), validator.validate({})]
    expect(first).toEqual(second)
    if (!first.ok || !second.ok) throw new Error('Both fit.')
    expect(first.value.tags).not.toBe(second.value.tags)
  })
})

describe('compileSchema', () => {
  test('case 17: compiles equal schemas once, and later changes have no effect', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const validator = compileSchema(schema)
    expect(compileSchema({ properties: { a: { type: 'string' } }, type: 'object' })).toBe(validator)
    schema.properties.a.type = 'number'
    expect(validator.validate({ a: 'x' }).ok).toBe(true)
    expect(compileSchema(schema)).not.toBe(validator)
    expect(compileSchema(schema).validate({ a: 'x' }).ok).toBe(false)
  })

  test('keeps working over many schemas', () => {
    for (let maximum = 0; maximum < 1_200; maximum += 1) {
      const validator = compileSchema({ type: 'integer', maximum })
      expect(validator.validate(maximum).ok).toBe(true)
      expect(validator.validate(maximum + 1).ok).toBe(false)
    }
  })

  test.each<[string, object]>([
    ['an unknown keyword', { type: 'string', maxLenght: 1 }],
    ['an unknown format', { type: 'string', format: 'postcode' }],
    ['an unknown type', { type: 'text' }],
    ['a reference to nowhere', { $ref: '#/$defs/none' }],
    ['a remote reference', { $ref: 'https://example.com/schema' }],
    ['another draft', { $schema: 'http://json-schema.org/draft-07/schema#' }],
    ['a pattern that is none', { type: 'string', pattern: '(' }],
    ['a validation that would end later', { $async: true, type: 'string' }],
    ['the same below', { properties: { a: { $async: true, type: 'string' } } }],
    ['keywords of the validator alone', { type: 'string', discriminator: { propertyName: 'a' } }],
    ['a list', []],
    ['what JSON cannot hold', { default: undefined }],
  ])('refuses %s', (_, schema) => {
    expect(codeOf(() => compileSchema(schema))).toBe('schema_invalid')
    expect(codeOf(() => compileSchema(schema))).toBe('schema_invalid')
  })

  test('accepts what the standard allows: unions of types, implied types, partial requirements', () => {
    const schema = {
      type: ['object', 'null'],
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
      unevaluatedProperties: { minimum: 1 },
    }
    expect(compileSchema(schema).validate({ a: 1 }).ok).toBe(true)
    expect(compileSchema(schema).validate({ c: 1 }).ok).toBe(false)
  })

  test('a schema with an identifier can be compiled again and again', () => {
    const schema = (minimum: number) => ({
      $id: 'https://example.com/one',
      type: 'integer',
      minimum,
    })
    expect(compileSchema(schema(1)).validate(0).ok).toBe(false)
    expect(compileSchema(schema(0)).validate(0).ok).toBe(true)
  })

  test('no schema sees another one', () => {
    compileSchema({ $id: 'https://example.com/seen', $defs: { a: { $anchor: 'seen' } } })
    compileSchema({ $defs: { a: { $anchor: 'seen' } } })
    for (const $ref of ['https://example.com/seen', '#seen', '#/$defs/a']) {
      expect(codeOf(() => compileSchema({ properties: { x: { $ref } } }))).toBe('schema_invalid')
    }
  })

  test('a schema may refer to itself, whichever was compiled last', () => {
    const list = (type: string) => ({
      properties: { next: { $ref: '#' }, value: { type } },
      required: ['value'],
    })
    const [texts, numbers] = [compileSchema(list('string')), compileSchema(list('number'))]
    expect(texts.validate({ value: 'a', next: { value: 'b' } }).ok).toBe(true)
    expect(texts.validate({ value: 'a', next: { value: 1 } }).ok).toBe(false)
    expect(numbers.validate({ value: 1, next: { value: 1 } }).ok).toBe(true)
  })

  test('says what is wrong, briefly', () => {
    const error = failureOf(() => compileSchema({ type: 'string', ['k'.repeat(9_000)]: 1 }))
    expect(error.message.length).toBeLessThan(600)
  })
})
