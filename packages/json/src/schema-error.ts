import { ErrorCode, HoldfastError } from '@holdfast/core'
import { truncateUtf8 } from './bytes.ts'

/** Why a schema is refused, and where: `path` is a JSON pointer into it. */
export function schemaInvalid(
  reason: string,
  path: string,
  cause?: unknown,
): HoldfastError {
  const where = truncateUtf8(path, 256)
  return new HoldfastError(ErrorCode.schemaInvalid, {
    message: where === '' ? `schema: ${reason}` : `schema at ${where}: ${reason}`,
    details: { reason, path: where },
    ...(cause === undefined ? {} : { cause }),
  })
}
