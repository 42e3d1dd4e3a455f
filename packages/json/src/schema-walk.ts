import type { JsonObject, JsonValue } from '@holdfast/core'
import { isJsonObject } from './is-json-object.ts'

const singleKeywords = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]
// `items` once more: in older drafts it could be a list.
const listKeywords = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']
// `dependencies` of older drafts: its values are schemas or lists of names.
const mapKeywords = [
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
]
const objectKeywords = [
  'additionalProperties',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'maxProperties',
  'minProperties',
  'patternProperties',
  'properties',
  'required',
  'unevaluatedProperties',
]

/** A part of a schema and the keys that lead to it from the root. */
export interface SchemaPlace {
  readonly schema: JsonValue
  readonly keys: readonly (string | number)[]
}

/** The schemas directly inside a schema. Data (`const`, `enum`, `default`, `examples`) is not looked into. */
export function subschemasOf(schema: JsonObject, keys: SchemaPlace['keys']): SchemaPlace[] {
  return [
    ...singleKeywords.flatMap((keyword) => placeOf(schema[keyword], [...keys, keyword])),
    ...listKeywords.flatMap((keyword) => placesOfList(schema[keyword], [...keys, keyword])),
    ...mapKeywords.flatMap((keyword) => placesOfMap(schema[keyword], [...keys, keyword])),
  ]
}

/** Whether a schema speaks of objects: by its type, or by a keyword that applies to objects only. */
export function isObjectSchema(schema: JsonObject): boolean {
  const type = schema['type']
  if (type === 'object' || (Array.isArray(type) && type.includes('object'))) return true
  return objectKeywords.some((keyword) => Object.hasOwn(schema, keyword))
}

function placeOf(value: JsonValue | undefined, keys: SchemaPlace['keys']): SchemaPlace[] {
  return value !== undefined && isJsonObject(value) ? [{ schema: value, keys }] : []
}

function placesOfList(value: JsonValue | undefined, keys: SchemaPlace['keys']): SchemaPlace[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item: JsonValue, index) => placeOf(item, [...keys, index]))
}

function placesOfMap(value: JsonValue | undefined, keys: SchemaPlace['keys']): SchemaPlace[] {
  if (value === undefined || !isJsonObject(value)) return []
  return Object.entries(value).flatMap(([key, item]) => placeOf(item, [...keys, key]))
}
