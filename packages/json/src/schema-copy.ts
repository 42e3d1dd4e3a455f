import { isHoldfastError, type JsonValue } from '@holdfast/core'
import { checkJsonValue, type ValueLimits } from './check-json.ts'
import { schemaInvalid } from './schema-error.ts'

/** A schema as a fresh JSON value. @throws `schema_invalid` what JSON cannot hold, or beyond a limit */
export function schemaCopy(schema: unknown, limits: Partial<ValueLimits> = {}): JsonValue {
  try {
    return checkJsonValue(schema, limits)
  } catch (error) {
    if (!isHoldfastError(error)) throw error
    const path = error.details['path']
    throw schemaInvalid(error.message, typeof path === 'string' ? path : '', error)
  }
}
