import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertClosedSchema, compileSchema } from '../src/index.ts'
import { codeOf } from './failure.ts'

const words = (
  'type object properties items $ref # #/$defs/a $defs a anyOf additionalProperties required ' +
  '$anchor const not __proto__ constructor'
).split(' ')
const anySchema = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.constantFrom<unknown>(true, false, null, 1, ...words),
    fc.array(tie('schema'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...words), tie('schema'), { maxKeys: 4 }),
  ),
})).schema

describe('any JSON value', () => {
  test('is a closed schema or refused as one, and compiles or is refused', () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        expect([undefined, 'schema_invalid']).toContain(codeOf(() => assertClosedSchema(schema)))
        expect([undefined, 'schema_invalid']).toContain(codeOf(() => compileSchema(Object(schema))))
      }),
      { numRuns: 500 },
    )
  })
})

/** A type below a root that is closed, with or without its own closing. */
const type = fc.letrec<{ type: object }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<object>({ type: 'string' }, { type: 'integer' }, { const: { type: 'object' } }),
    fc.record({ type: fc.constant('array'), items: tie('type') }),
    fc.record({ anyOf: fc.array(tie('type'), { minLength: 1, maxLength: 2 }) }),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('type')),
        additionalProperties: fc.constantFrom(false, false, false, true),
      },
      { requiredKeys: ['type', 'properties'] },
    ),
  ),
})).type

/** Whether every part that says it is an object says that it is closed; data apart. */
function isClosed(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return true
  const open =
    'type' in schema &&
    schema.type === 'object' &&
    !('additionalProperties' in schema && schema.additionalProperties === false)
  if (open) return false
  return Object.entries(schema).every(([key, part]) => key === 'const' || isClosed(part))
}

test('a schema is accepted exactly when every object in it is closed', () => {
  fc.assert(
    fc.property(type, (part) => {
      const root = { type: 'object', properties: { part }, additionalProperties: false }
      expect(codeOf(() => assertClosedSchema(root)) === undefined).toBe(isClosed(root))
    }),
    { numRuns: 1_000 },
  )
})
