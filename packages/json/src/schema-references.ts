import type { JsonObject, JsonValue } from '@holdfast/core'
import { truncateUtf8 } from './bytes.ts'
import { isJsonObject } from './is-json-object.ts'
import { jsonPointer, pointerKeys } from './json-pointer.ts'
import { schemaInvalid } from './schema-error.ts'
import type { SchemaPlace } from './schema-walk.ts'

const referenceKeywords = ['$ref', '$dynamicRef', '$recursiveRef']
const anchorKeywords = ['$anchor', '$dynamicAnchor']

/**
 * Refuses `$id` and every reference that leaves the schema, wherever they stand: in data and
 * among property names too.
 *
 * @throws `schema_invalid`
 */
export function checkSchemaReferences(root: JsonObject): void {
  for (const { schema, keys } of everyObject(root)) {
    const path = jsonPointer(keys)
    if (Object.hasOwn(schema, '$id')) throw schemaInvalid('$id is not permitted', path)
    for (const keyword of referenceKeywords) {
      if (!Object.hasOwn(schema, keyword)) continue
      const reference = schema[keyword]
      if (typeof reference !== 'string') throw schemaInvalid(`${keyword} must be a string`, path)
      if (!reference.startsWith('#')) {
        const shown = truncateUtf8(reference, 128)
        throw schemaInvalid(`remote reference "${shown}" is not permitted`, path)
      }
    }
  }
}

/**
 * The parts of the root that a schema's references lead to, data included.
 *
 * @throws `schema_invalid` a reference that leads nowhere
 */
export function referencedPlaces(root: JsonObject, place: SchemaPlace): readonly SchemaPlace[] {
  const { schema, keys } = place
  if (!isJsonObject(schema)) return []
  return referenceKeywords.flatMap((keyword) => {
    const reference = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined
    if (typeof reference !== 'string') return []
    const targets = targetsOf(root, reference)
    if (targets.length > 0) return targets
    throw schemaInvalid(`${keyword} leads nowhere`, jsonPointer(keys))
  })
}

function targetsOf(root: JsonObject, reference: string): readonly SchemaPlace[] {
  const fragment = decodedFragment(reference)
  if (fragment === undefined) return []
  const keys = pointerKeys(fragment)
  if (keys !== undefined) return placeAt(root, keys)
  return everyObject(root).filter(({ schema }) =>
    anchorKeywords.some((keyword) => schema[keyword] === fragment),
  )
}

function decodedFragment(reference: string): string | undefined {
  try {
    return decodeURIComponent(reference.slice(1))
  } catch {
    return undefined
  }
}

function placeAt(root: JsonObject, keys: readonly string[]): readonly SchemaPlace[] {
  let part: JsonValue = root
  for (const key of keys) {
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, key)) return []
    const next: JsonValue | undefined = isJsonObject(part) ? part[key] : part[Number(key)]
    if (next === undefined) return []
    part = next
  }
  return [{ schema: part, keys }]
}

interface ObjectPlace extends SchemaPlace {
  readonly schema: JsonObject
}

/** Every object of a JSON value, at any level. */
function everyObject(root: JsonObject): readonly ObjectPlace[] {
  const found: ObjectPlace[] = []
  const rest: SchemaPlace[] = [{ schema: root, keys: [] }]
  for (let place = rest.pop(); place !== undefined; place = rest.pop()) {
    const { schema, keys } = place
    if (typeof schema !== 'object' || schema === null) continue
    if (isJsonObject(schema)) found.push({ schema, keys })
    for (const [key, part] of Object.entries(schema)) {
      rest.push({ schema: part, keys: [...keys, key] })
    }
  }
  return found
}
