import type { JsonValue } from '@holdfast/core'
import canonicalize from 'canonicalize'
import { utf8Bytes } from './bytes.ts'
import { checkJsonValue } from './check-json.ts'

/**
 * The one text of a value: RFC 8785. Equal values give equal texts, whatever the order of members.
 *
 * Members are sorted by UTF-16 units; numbers are written as JavaScript writes them, so `1.0`,
 * `1e0` and `1` are one number, and `-0` is `0`. Strings are not normalised.
 *
 * @throws the codes of `checkJsonValue`
 */
export function canonicalJson(value: unknown): string {
  return canonicalText(checkJsonValue(value))
}

/** The UTF-8 bytes of {@link canonicalJson}. @throws the codes of `checkJsonValue` */
export function canonicalBytes(value: unknown): Uint8Array {
  return utf8Bytes(canonicalJson(value))
}

/** As {@link canonicalJson}, of a value that this package has checked or parsed. */
export function canonicalText(value: JsonValue): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('A JSON value has a canonical text.')
  return text
}
