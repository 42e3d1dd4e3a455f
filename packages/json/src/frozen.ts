import type { JsonValue } from '@holdfast/core'

/** The same value, frozen at every level. */
export function frozen<Value extends JsonValue>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) frozen(part)
    Object.freeze(value)
  }
  return value
}
