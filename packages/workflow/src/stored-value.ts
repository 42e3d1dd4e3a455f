import Type, { type Static } from 'typebox'
import type { JsonValue } from '@holdfast/core'

/** A journaled value: inline, as a blob of the run by digest, or nothing (`undefined`). */
export const StoredValue = Type.Union([
  Type.Object({ json: Type.Unsafe<JsonValue>(Type.Unknown()) }, { additionalProperties: false }),
  Type.Object(
    { blob: Type.String({ pattern: '^[0-9a-f]{64}$' }), size: Type.Integer({ minimum: 0 }) },
    { additionalProperties: false },
  ),
  Type.Object({ none: Type.Literal(true) }, { additionalProperties: false }),
])
export type StoredValue = Static<typeof StoredValue>

/** A journaled error: enough to rebuild the same error live and on replay; no stack, no cause. */
export const StoredError = Type.Object(
  {
    name: Type.String({ maxLength: 256 }),
    message: Type.String(),
    /** Set for a HoldfastError, and for errors that carry a `code` of their own. */
    code: Type.Optional(Type.String({ maxLength: 256 })),
    retryable: Type.Boolean(),
    /** True when the error was a HoldfastError. */
    ours: Type.Optional(Type.Boolean()),
    details: Type.Optional(Type.Unsafe<JsonValue>(Type.Unknown())),
  },
  { additionalProperties: false },
)
export type StoredError = Static<typeof StoredError>
