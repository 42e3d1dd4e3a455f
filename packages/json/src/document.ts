import { ErrorCode, HoldfastError, type JsonObject, type JsonValue } from '@holdfast/core'
import { utf8Bytes } from './bytes.ts'
import { canonicalText } from './canonical-json.ts'
import { checkJsonValue } from './check-json.ts'
import { checkedLimits, documentLimits, jsonTooLarge, type JsonLimits } from './json-limits.ts'
import { isJsonObject } from './is-json-object.ts'
import { parseStrictJson } from './strict-json.ts'

/** An input or a resume payload. */
export interface JsonDocument {
  readonly value: JsonObject
  /** The canonical bytes of the value: what is digested and stored. */
  readonly bytes: Uint8Array
}

/**
 * Reads an input or resume payload: one JSON object within limits.
 *
 * `maxBytes` bounds the given bytes, white space included, and the canonical ones as well.
 * Checks no schema.
 *
 * @throws the codes of `parseStrictJson`
 * @throws `input_invalid` JSON, but not an object
 */
export function parseDocument(
  source: string | Uint8Array,
  limits: Partial<JsonLimits> = {},
): JsonDocument {
  const bounds = { ...documentLimits, ...limits }
  return documentOf(parseStrictJson(source, bounds), bounds.maxBytes)
}

/**
 * The same document from a value that a program made.
 *
 * @throws the codes of `checkJsonValue`
 * @throws `input_invalid` not an object
 */
export function documentFromValue(value: unknown, limits: Partial<JsonLimits> = {}): JsonDocument {
  const { maxBytes, maxDepth, maxProperties } = checkedLimits({ ...documentLimits, ...limits })
  return documentOf(checkJsonValue(value, { maxDepth, maxProperties }), maxBytes)
}

function documentOf(value: JsonValue, maxBytes: number): JsonDocument {
  if (!isJsonObject(value)) {
    throw new HoldfastError(ErrorCode.inputInvalid, { message: 'document must be a JSON object' })
  }
  const bytes = utf8Bytes(canonicalText(value))
  if (bytes.byteLength > maxBytes) throw jsonTooLarge(maxBytes)
  return { value, bytes }
}
