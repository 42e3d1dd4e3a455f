import { ErrorCode, HoldfastError } from '@holdfast/core'
import { truncateUtf8 } from './bytes.ts'

const shownBytes = 256

/** Why a schema is refused, and where: `path` is a JSON pointer into it. */
export function schemaInvalid(reason: string, path: string, cause?: unknown): HoldfastError {
  const where = truncateUtf8(path, shownBytes)
  const why = truncateUtf8(reason, shownBytes)
  return new HoldfastError(ErrorCode.schemaInvalid, {
    message: where === '' ? `schema: ${why}` : `schema at ${where}: ${why}`,
    details: { reason: why, path: where },
    ...(cause === undefined ? {} : { cause }),
  })
}
