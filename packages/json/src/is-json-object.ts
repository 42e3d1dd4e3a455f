import type { JsonObject, JsonValue } from '@holdfast/core'

/** Whether a JSON value is an object, and neither an array nor null. */
export function isJsonObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
