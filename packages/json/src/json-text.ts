import type { JsonValue } from '@holdfast/core'
import { checkJsonValue } from './check-json.ts'
import { valueLimits } from './json-limits.ts'
import { parseStrictJson } from './strict-json.ts'

/**
 * A value as compact JSON text, members in the order of the value.
 *
 * For what is stored or sent and read back as it is; where equal values must be equal bytes,
 * use `canonicalJson`. Whatever this writes, `decodeJson` reads back unchanged.
 *
 * @throws the codes of `checkJsonValue`
 */
export function encodeJson(value: unknown): string {
  return JSON.stringify(checkJsonValue(value))
}

/**
 * The value of a JSON text that this program wrote, with no limit of size.
 *
 * As strict as `parseStrictJson`, so a damaged text is refused and not guessed at. Text from
 * outside goes through `parseStrictJson`, with limits.
 *
 * @throws the codes of `parseStrictJson`
 */
export function decodeJson(text: string | Uint8Array): JsonValue {
  return parseStrictJson(text, valueLimits)
}
