import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { JsonObject, JsonValue } from '@holdfast/core'
import { convertUint8ArrayToBase64 } from '@ai-sdk/provider-utils'

const maxDepth = 256

/**
 * What JSON keeps of a value, by the rules of `JSON.stringify`: `toJSON` is called, properties that are
 * `undefined` go, NaN becomes null. Bytes become base64 text. Lone surrogates become U+FFFD, since nothing can store them.
 * Absent when nothing is left of the value.
 *
 * @throws `json_unsupported_value` a bigint; `json_too_deep` beyond 256 levels, so also a cycle
 */
export function plainJson(value: unknown, depth = 0): JsonValue | undefined {
  if (depth > maxDepth) {
    throw new HoldfastError(ErrorCode.jsonTooDeep, { message: 'A value is nested too deeply.' })
  }
  switch (typeof value) {
    case 'string':
      return wellFormed(value)
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'undefined':
    case 'function':
    case 'symbol':
      return undefined
    case 'bigint':
      throw new HoldfastError(ErrorCode.jsonUnsupportedValue, {
        message: 'JSON cannot hold a bigint.',
      })
    case 'object':
      return value === null ? null : plainContainer(value, depth)
  }
}

/** The same for what is known to be an object; an empty one when nothing is left. */
export function plainObject(value: object): JsonObject {
  const plain = plainJson(value)
  return isJsonObject(plain) ? plain : {}
}

/** Whether a value is a JSON object, and no array. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The text with every lone surrogate replaced by U+FFFD. */
export function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd')
}

function plainContainer(value: object, depth: number): JsonValue | undefined {
  if (value instanceof Uint8Array) return convertUint8ArrayToBase64(value)
  if (value instanceof ArrayBuffer) return convertUint8ArrayToBase64(new Uint8Array(value))
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return plainJson(value.toJSON(), depth + 1)
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown) => plainJson(item, depth + 1) ?? null)
  }
  const entries: [string, JsonValue][] = []
  for (const [key, item] of Object.entries(value)) {
    const plain = plainJson(item, depth + 1)
    if (plain !== undefined) entries.push([wellFormed(key), plain])
  }
  return Object.fromEntries(entries)
}
