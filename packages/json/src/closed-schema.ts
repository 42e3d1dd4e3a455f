import { isHoldfastError, type JsonObject, type JsonValue } from '@holdfast/core'
import { metaSchemaIssue } from './ajv.ts'
import { exceedsUtf8 } from './bytes.ts'
import { checkJsonValue } from './check-json.ts'
import { isJsonObject } from './document.ts'
import { jsonTooLarge, schemaLimits } from './json-limits.ts'
import { jsonPointer } from './json-pointer.ts'
import { schemaInvalid } from './schema-error.ts'
import { checkSchemaReferences, referencedPlaces } from './schema-references.ts'
import { isObjectSchema, subschemasOf, type SchemaPlace } from './schema-walk.ts'

const draft = 'https://json-schema.org/draft/2020-12/schema'

/**
 * Checks that a schema may describe an input or a resume payload, and returns a frozen copy.
 *
 * C1. It is JSON within 64 KiB, 32 levels and 1,024 properties, and a valid 2020-12 schema;
 *     `$schema`, where it stands, says so.
 * C2. The root is an object schema: `type` is `"object"`, `additionalProperties` is `false`.
 * C3. So is closed every object schema below it: one that has `object` in its type or a keyword
 *     that applies to objects only, also where just a reference leads to it.
 * C4. No `$id` anywhere; every reference begins with `#`, and leads somewhere.
 *
 * C4 reads data and property names too, C3 does not: `const` may hold what looks like an open
 * schema. `true` and `{}` remain allowed: who writes them means anything. Later changes to the
 * caller's object have no effect.
 *
 * @throws `schema_invalid` with the JSON pointer in `details.path`
 */
export function assertClosedSchema(schema: unknown): JsonObject {
  const copy = schemaWithinLimits(schema)
  checkRoot(copy)
  checkSchemaReferences(copy)
  checkEverySchema(copy)
  checkMetaSchema(copy)
  return frozen(copy)
}

function schemaWithinLimits(schema: unknown): JsonObject {
  const copy = checkedCopy(schema)
  if (!isJsonObject(copy)) throw schemaInvalid('must be an object', '')
  return copy
}

function checkedCopy(schema: unknown): JsonValue {
  const { maxBytes, maxDepth, maxProperties } = schemaLimits
  try {
    const copy = checkJsonValue(schema, { maxDepth, maxProperties })
    if (exceedsUtf8(JSON.stringify(copy), maxBytes)) throw jsonTooLarge(maxBytes)
    return copy
  } catch (error) {
    if (!isHoldfastError(error)) throw error
    const path = error.details['path']
    throw schemaInvalid(error.message, typeof path === 'string' ? path : '', error)
  }
}

function checkRoot(schema: JsonObject): void {
  if (schema['type'] !== 'object') throw schemaInvalid('type must be "object"', '')
  if (schema['additionalProperties'] !== false) throw notClosed([])
}

function checkEverySchema(root: JsonObject): void {
  const seen = new Set<JsonValue>()
  const rest: SchemaPlace[] = [{ schema: root, keys: [] }]
  for (let place = rest.pop(); place !== undefined; place = rest.pop()) {
    const { schema, keys } = place
    if (!isJsonObject(schema) || seen.has(schema)) continue
    seen.add(schema)
    if (isObjectSchema(schema) && schema['additionalProperties'] !== false) throw notClosed(keys)
    checkDraft(schema, keys)
    rest.push(...subschemasOf(schema, keys), ...referencedPlaces(root, place))
  }
}

function checkDraft(schema: JsonObject, keys: SchemaPlace['keys']): void {
  const named = schema['$schema']
  if (named === undefined || named === draft) return
  throw schemaInvalid(`$schema must be "${draft}" or absent`, jsonPointer(keys))
}

function checkMetaSchema(schema: JsonObject): void {
  const issue = metaSchemaIssue(schema)
  if (issue !== undefined) throw schemaInvalid(issue.message, issue.path)
}

function notClosed(keys: SchemaPlace['keys']): Error {
  return schemaInvalid('additionalProperties must be false', jsonPointer(keys))
}

function frozen<Value extends JsonValue>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) frozen(part)
    Object.freeze(value)
  }
  return value
}
