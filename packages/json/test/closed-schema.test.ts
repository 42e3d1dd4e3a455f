import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { assertClosedSchema, compileSchema } from '../src/index.ts'
import { codeOf, failureOf } from './failure.ts'

const closed = (parts: object = {}) => ({ type: 'object', additionalProperties: false, ...parts })
const open = { type: 'object', properties: { a: { type: 'string' } } }

function refusal(schema: unknown) {
  const error = failureOf(() => assertClosedSchema(schema))
  expect(error.code).toBe('schema_invalid')
  return error.details
}

/** A closed schema with so many levels of objects and arrays. */
function levels(count: number): object {
  let schema: object = {}
  for (let level = 1; level < count - 1; level += 1) schema = { not: schema }
  return closed({ properties: schema })
}

describe('case 11: an open object schema is refused wherever it is reached', () => {
  test.each<[string, object, string]>([
    ['in a property', { properties: { x: open } }, '/properties/x'],
    ['in items', { properties: { x: { type: 'array', items: open } } }, '/properties/x/items'],
    ['in $defs', { $defs: { x: open } }, '/$defs/x'],
    ['in definitions', { definitions: { x: open } }, '/definitions/x'],
    [
      'in prefixItems',
      { properties: { x: { prefixItems: [{}, open] } } },
      '/properties/x/prefixItems/1',
    ],
    ['in items of old', { properties: { x: { items: [open] } } }, '/properties/x/items/0'],
    [
      'in additionalItems',
      { properties: { x: { additionalItems: open } } },
      '/properties/x/additionalItems',
    ],
    ['in contains', { properties: { x: { contains: open } } }, '/properties/x/contains'],
    [
      'in contentSchema',
      { properties: { x: { contentSchema: open } } },
      '/properties/x/contentSchema',
    ],
    [
      'in unevaluatedItems',
      { properties: { x: { unevaluatedItems: open } } },
      '/properties/x/unevaluatedItems',
    ],
    ['in allOf', { allOf: [open] }, '/allOf/0'],
    ['in anyOf', { anyOf: [{}, open] }, '/anyOf/1'],
    ['in oneOf', { oneOf: [open] }, '/oneOf/0'],
    ['in not', { not: open }, '/not'],
    ['in if', { if: open }, '/if'],
    ['in then', { then: open }, '/then'],
    ['in else', { else: open }, '/else'],
    ['in propertyNames', { propertyNames: open }, '/propertyNames'],
    ['in patternProperties', { patternProperties: { '^a': open } }, '/patternProperties/^a'],
    ['in dependentSchemas', { dependentSchemas: { a: open } }, '/dependentSchemas/a'],
    ['in dependencies', { dependencies: { a: open } }, '/dependencies/a'],
    ['in unevaluatedProperties', { unevaluatedProperties: open }, '/unevaluatedProperties'],
    ['among types', { properties: { x: { type: ['null', 'object'] } } }, '/properties/x'],
    [
      'in additionalProperties',
      { properties: { x: { additionalProperties: open } } },
      '/properties/x',
    ],
    ['in a key to escape', { properties: { 'a/b~': open } }, '/properties/a~1b~0'],
  ])('%s', (_, parts, path) => {
    expect(refusal(closed(parts))).toEqual({ reason: 'additionalProperties must be false', path })
  })

  test.each([
    { properties: {} },
    { patternProperties: {} },
    { additionalProperties: true },
    { required: ['a'] },
    { dependentRequired: {} },
    { dependentSchemas: {} },
    { dependencies: {} },
    { minProperties: 1 },
    { maxProperties: 1 },
    { unevaluatedProperties: false },
  ])('implicit: %j', (implicit) => {
    expect(refusal(closed({ properties: { x: implicit } }))['path']).toBe('/properties/x')
    const alsoClosed = { ...implicit, additionalProperties: false }
    expect(
      codeOf(() => assertClosedSchema(closed({ properties: { x: alsoClosed } }))),
    ).toBeUndefined()
  })

  test.each([
    ['a pointer into data', { properties: { x: { const: open, $ref: '#/properties/x/const' } } }],
    ['a pointer into an unknown keyword', { $defs: {}, 'x-hidden': open, $ref: '#/x-hidden' }],
    [
      'an anchor in data',
      { examples: [{ ...open, $anchor: 'sly' }], properties: { x: { $ref: '#sly' } } },
    ],
    ['an escaped pointer', { 'x y': open, $ref: '#/x%20y' }],
    ['a dynamic anchor', { const: { ...open, $dynamicAnchor: 'd' }, $dynamicRef: '#d' }],
  ])('through a reference: %s', (_, parts) => {
    expect(refusal(closed(parts))['reason']).toBe('additionalProperties must be false')
  })
})

test('case 12: closed all the way down, with local references, is accepted', () => {
  const schema = closed({
    properties: { tree: { $ref: '#/$defs/node' }, self: { $ref: '#' }, named: { $ref: '#leaf' } },
    $defs: {
      node: closed({
        properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } },
      }),
      leaf: closed({ $anchor: 'leaf' }),
    },
  })
  expect(assertClosedSchema(schema)).toEqual(schema)
  expect(
    compileSchema(schema).validate({ tree: { children: [{ children: [] }] }, named: {} }).ok,
  ).toBe(true)
})

test('case 13: data that looks like an open schema is data', () => {
  const data = { const: open, enum: [open], default: open, examples: [open] }
  expect(codeOf(() => assertClosedSchema(closed({ properties: { x: data } })))).toBeUndefined()
})

describe('case 15: the root and its bounds', () => {
  test.each<[string, unknown, string]>([
    ['true', true, 'must be an object'],
    ['null', null, 'must be an object'],
    ['a list', [], 'must be an object'],
    ['no type', { additionalProperties: false }, 'type must be "object"'],
    ['a list of types', { type: ['object'], additionalProperties: false }, 'type must be "object"'],
    ['another type', { type: 'array', additionalProperties: false }, 'type must be "object"'],
    ['open', { type: 'object' }, 'additionalProperties must be false'],
    [
      'explicitly open',
      closed({ additionalProperties: true }),
      'additionalProperties must be false',
    ],
    [
      'closed by a schema',
      closed({ additionalProperties: { not: {} } }),
      'additionalProperties must be false',
    ],
  ])('%s is refused', (_, schema, reason) => {
    expect(refusal(schema)).toEqual({ reason, path: '' })
  })

  test('depth 32 is accepted, 33 refused', () => {
    expect(codeOf(() => assertClosedSchema(levels(32)))).toBeUndefined()
    expect(refusal(levels(33))['reason']).toBe('JSON depth exceeds 32')
  })

  test('1,024 properties at all levels are accepted, one more refused', () => {
    const many = (count: number) =>
      closed({
        properties: Object.fromEntries(
          Array.from({ length: count - 3 }, (_, index) => [`p${index}`, true]),
        ),
      })
    expect(codeOf(() => assertClosedSchema(many(1024)))).toBeUndefined()
    expect(refusal(many(1025))['reason']).toBe('JSON properties exceed 1024')
  })

  test('65,536 bytes are accepted, one more refused', () => {
    const sized = (bytes: number) => {
      const rest = JSON.stringify(closed({ description: '' })).length
      return closed({ description: 'x'.repeat(bytes - rest) })
    }
    expect(codeOf(() => assertClosedSchema(sized(65_536)))).toBeUndefined()
    expect(refusal(sized(65_537))['reason']).toBe('JSON document exceeds 65536 bytes')
  })

  test.each([
    [{ properties: { x: { type: 'thing' } } }, '/properties/x/type'],
    [{ required: 'a' }, '/required'],
    [{ properties: [] }, '/properties'],
    [{ properties: { x: { items: [{}] } } }, '/properties/x/items'],
    [{ minProperties: -1 }, '/minProperties'],
  ])('what is no 2020-12 schema is refused: %j', (parts, path) => {
    expect(refusal(closed(parts))['path']).toBe(path)
  })

  test.each([undefined, () => 1, new Date(0), 1n, Number.NaN])(
    'so is what JSON cannot hold',
    (value) => {
      expect(refusal(closed({ default: value }))['path']).toBe('/default')
    },
  )
})

describe('references and identifiers', () => {
  test.each([
    closed({ $id: 'x' }),
    closed({ properties: { x: { $id: 'x' } } }),
    closed({ properties: { $id: { type: 'string' } } }),
    closed({ const: [{ $id: 1 }] }),
  ])('$id is refused anywhere, in data and property names too: %j', (schema) => {
    expect(refusal(schema)['reason']).toBe('$id is not permitted')
  })

  test.each(['$ref', '$dynamicRef', '$recursiveRef'])(
    'a remote %s is refused anywhere',
    (keyword) => {
      for (const target of ['https://example.com/s', 'other.json#/a', 'file:///etc/passwd', '']) {
        const reference = { [keyword]: target }
        const reason = `remote reference "${target}" is not permitted`
        expect(refusal(closed(reference))).toEqual({ reason, path: '' })
        expect(refusal(closed({ examples: [reference] }))).toEqual({ reason, path: '/examples/0' })
      }
      expect(refusal(closed({ [keyword]: {} }))['reason']).toBe(`${keyword} must be a string`)
    },
  )

  test.each(['#/$defs/none', '#none', '#/%', '#/properties/toString', '#/a~2'])(
    'a reference that leads nowhere is refused: %s',
    (target) => {
      expect(refusal(closed({ properties: { x: { $ref: target } } }))).toEqual({
        reason: '$ref leads nowhere',
        path: '/properties/x',
      })
    },
  )

  test('case 19: an ordinary property called id is allowed', () => {
    expect(
      codeOf(() => assertClosedSchema(closed({ properties: { id: { type: 'string' } } }))),
    ).toBeUndefined()
  })

  test('$schema is 2020-12 or absent, at every level', () => {
    const draft = 'https://json-schema.org/draft/2020-12/schema'
    expect(codeOf(() => assertClosedSchema(closed({ $schema: draft })))).toBeUndefined()
    for (const other of ['http://json-schema.org/draft-07/schema#', 'file:///etc/passwd', 1]) {
      expect(refusal(closed({ $schema: other }))['path']).toBe('')
      expect(refusal(closed({ not: { $schema: other } }))['path']).toBe('/not')
    }
  })
})

describe('the result', () => {
  test('case 17: later changes to the given schema have no effect', () => {
    const schema = closed({ properties: { a: { type: 'string' } } })
    const kept = assertClosedSchema(schema)
    schema.additionalProperties = true
    expect(kept['additionalProperties']).toBe(false)
  })

  test('is frozen at every level', () => {
    const kept = assertClosedSchema(closed({ required: ['a'] }))
    expect(Object.isFrozen(kept)).toBe(true)
    expect(Object.isFrozen(kept['required'])).toBe(true)
  })

  test('a TypeBox schema is a schema like any other', () => {
    const schema = Type.Object(
      { a: Type.Optional(Type.String()), b: Type.Union([Type.Literal(1), Type.Null()]) },
      { additionalProperties: false },
    )
    expect(assertClosedSchema(schema)).toEqual(JSON.parse(JSON.stringify(schema)))
    expect(codeOf(() => assertClosedSchema(Type.Object({})))).toBe('schema_invalid')
  })

  test('__proto__ as a property name is a property name', () => {
    const text =
      '{"type":"object","additionalProperties":false,"properties":{"__proto__":{"type":"object"}}}'
    expect(refusal(JSON.parse(text))['path']).toBe('/properties/__proto__')
  })
})
