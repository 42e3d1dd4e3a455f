import type { Static, TSchema } from 'typebox'
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { JsonValue } from '@holdfast/core'
import { compileSchema } from '@holdfast/json'
import type { Validator } from '@holdfast/json'
import { isJsonObject, plainJson } from './plain-json.ts'

/** How a step's result is stored. */
export interface RecordCodec<Value> {
  /** @throws `json_unsupported_value` for what JSON cannot hold */
  encode(value: Value): JsonValue
  /** @throws `record_from_newer_version`, `record_corrupt` */
  decode(stored: JsonValue): Value
}

/**
 * Stores records of one kind with a version, and reads them strictly.
 *
 * The schema is compiled when the first record is read: in memory none is.
 */
export function recordCodec<const Schema extends TSchema>(
  name: string,
  version: number,
  schema: Schema,
): RecordCodec<Static<Schema>> {
  let compiled: Validator<unknown> | undefined
  return {
    encode: (value) => plainJson(value) ?? null,
    decode(stored) {
      const found = isJsonObject(stored) ? stored['version'] : undefined
      if (typeof found === 'number' && found > version) {
        throw new HoldfastError(ErrorCode.recordFromNewerVersion, {
          message: `A stored ${name} has version ${found}; this release reads up to ${version}.`,
        })
      }
      const validator = (compiled ??= compileSchema(schema))
      const checked = validator.validate(stored)
      if (checked.ok) return checked.value as Static<Schema>
      const [issue] = checked.issues
      throw new HoldfastError(ErrorCode.recordCorrupt, {
        message: `A stored ${name} cannot be read: ${issue?.path ?? ''} ${issue?.message ?? ''}.`,
      })
    },
  }
}
