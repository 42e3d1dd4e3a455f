import { ErrorCode, HoldfastError, Limits, wholeNumberOption } from '@holdfast/core'

/**
 * The deepest nesting that any function of this package accepts.
 *
 * Low enough that a walk by recursion, ours or the platform's, cannot exhaust the stack.
 */
export const deepestJson = 512

/** What a JSON text may measure. */
export interface JsonLimits {
  /** UTF-8 bytes of the whole text, white space included. */
  readonly maxBytes: number
  /** Containers inside one another, objects and arrays alike; `{}` is 1. At most 512. */
  readonly maxDepth: number
  /** Object members at all levels, counted together. */
  readonly maxProperties: number
}

/** The limits of an input or resume document. */
export const documentLimits: JsonLimits = {
  maxBytes: Limits.inputBytes,
  maxDepth: Limits.inputDepth,
  maxProperties: Limits.inputProperties,
}

/** The limits of a schema. */
export const schemaLimits: JsonLimits = {
  maxBytes: Limits.schemaBytes,
  maxDepth: Limits.schemaDepth,
  maxProperties: Limits.schemaProperties,
}

/** The limits of a value that this program made or stored: only what protects the process. */
export const valueLimits: JsonLimits = {
  maxBytes: Number.MAX_SAFE_INTEGER,
  maxDepth: deepestJson,
  maxProperties: Number.MAX_SAFE_INTEGER,
}

/** Checks limits given by a caller. @throws `configuration_invalid` */
export function checkedLimits(limits: JsonLimits): JsonLimits {
  const max = Number.MAX_SAFE_INTEGER
  return {
    maxBytes: wholeNumberOption('maxBytes', limits.maxBytes, { min: 1, max }),
    maxDepth: wholeNumberOption('maxDepth', limits.maxDepth, { min: 0, max: deepestJson }),
    maxProperties: wholeNumberOption('maxProperties', limits.maxProperties, { min: 0, max }),
  }
}

/** The text has more bytes than it may have. */
export function jsonTooLarge(maxBytes: number): HoldfastError {
  return new HoldfastError(ErrorCode.jsonTooLarge, {
    message: `JSON document exceeds ${maxBytes} bytes`,
    details: { limit: maxBytes },
  })
}

/** The text or value nests deeper than it may. */
export function jsonTooDeep(maxDepth: number): HoldfastError {
  return new HoldfastError(ErrorCode.jsonTooDeep, {
    message: `JSON depth exceeds ${maxDepth}`,
    details: { limit: maxDepth },
  })
}

/** The text or value has more object members than it may have. */
export function jsonTooManyProperties(maxProperties: number): HoldfastError {
  return new HoldfastError(ErrorCode.jsonTooManyProperties, {
    message: `JSON properties exceed ${maxProperties}`,
    details: { limit: maxProperties },
  })
}
