import type { JsonObject, JsonValue } from '@holdfast/core'
import { metaSchemaIssue } from './ajv.ts'
import { exceedsUtf8 } from './bytes.ts'
import { frozen } from './frozen.ts'
import { isJsonObject } from './is-json-object.ts'
import { jsonTooLarge, schemaLimits } from './json-limits.ts'
import { jsonPointer } from './json-pointer.ts'
import { schemaCopy } from './schema-copy.ts'
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
 * caller's object have no effect. What only compiling finds, as an unknown keyword, is for
 * `compileSchema`.
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
  const { maxBytes, maxDepth, maxProperties } = schemaLimits
  const copy = schemaCopy(schema, { maxDepth, maxProperties })
  if (!isJsonObject(copy)) throw schemaInvalid('must be an object', '')
  if (!exceedsUtf8(JSON.stringify(copy), maxBytes)) return copy
  throw schemaInvalid(jsonTooLarge(maxBytes).message, '')
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
