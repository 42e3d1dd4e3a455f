import { ErrorCode, HoldfastError, isHoldfastError, type JsonValue } from '@holdfast/core'
import { exceedsUtf8, loneSurrogateIndex, utf8Length } from './bytes.ts'
import { checkedLimits, documentLimits, jsonTooLarge, type JsonLimits } from './json-limits.ts'
import { JsonReader } from './json-reader.ts'
import { textFromUtf8 } from './utf8-decoding.ts'

/**
 * Reads exactly one JSON value from untrusted text or UTF-8 bytes, within limits.
 *
 * Limits are enforced while reading; each defaults to that of an input document. Nothing is
 * altered in silence: what JSON text allows and a JavaScript value cannot keep is refused.
 * `__proto__` is a property like any other. `-0` reads as `0`. A byte order mark is refused.
 * The value is fresh. Errors say where (`offset`, in UTF-8 bytes) and never what.
 *
 * @throws `json_invalid` not JSON, or empty
 * @throws `json_too_large`, `json_too_deep`, `json_too_many_properties` beyond a limit
 * @throws `json_duplicate_key` a key twice in one object
 * @throws `json_trailing_data` anything but white space after the value
 * @throws `json_number_unsafe` a number that a double would make another number of
 * @throws `json_unicode_invalid` a lone surrogate, raw or escaped, or bytes that are not UTF-8
 * @throws `configuration_invalid` a limit that is no whole number, or a depth above 512
 */
export function parseStrictJson(
  source: string | Uint8Array,
  limits: Partial<JsonLimits> = {},
): JsonValue {
  const bounds = checkedLimits({ ...documentLimits, ...limits })
  const text = textWithin(source, bounds.maxBytes)
  const lone = loneSurrogateIndex(text)
  if (lone !== undefined) {
    const message = 'JSON text has a lone surrogate'
    throw withOffset(new HoldfastError(ErrorCode.jsonUnicodeInvalid, { message }), text, lone)
  }
  const reader = new JsonReader(text, bounds)
  try {
    return reader.read()
  } catch (error) {
    if (isHoldfastError(error)) throw withOffset(error, text, reader.position)
    throw error
  }
}

function textWithin(source: string | Uint8Array, maxBytes: number): string {
  if (typeof source === 'string') {
    if (exceedsUtf8(source, maxBytes)) throw jsonTooLarge(maxBytes)
    return source
  }
  if (source.byteLength > maxBytes) throw jsonTooLarge(maxBytes)
  return textFromUtf8(source)
}

function withOffset(error: HoldfastError, text: string, index: number): HoldfastError {
  return new HoldfastError(error.code, {
    message: error.message,
    details: { ...error.details, offset: utf8Length(text.slice(0, index)) },
  })
}
