import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { JsonValue } from '@holdfast/core'
import { checkJsonValue } from '@holdfast/json'

/**
 * Arguments that somebody else has parsed, as the text that a tool decodes.
 *
 * An integer beyond 2^53 - 1 may have been another before it was parsed, so it is refused.
 *
 * @throws `json_number_unsafe`, and the codes of `checkJsonValue`
 */
export function argumentsTextOf(given: unknown): string {
  return JSON.stringify(exactNumbers(checkJsonValue(given)))
}

function exactNumbers(value: JsonValue): JsonValue {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new HoldfastError(ErrorCode.jsonNumberUnsafe, {
      message: 'An integer of the arguments is beyond 2^53 - 1.',
    })
  }
  if (typeof value === 'object' && value !== null)
    for (const part of Object.values(value)) exactNumbers(part)
  return value
}
