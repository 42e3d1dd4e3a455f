import { ErrorCode, retryableCodes } from './error-codes.ts'
import type { JsonObject } from './json-value.ts'

/** Registry symbol, so that two copies of this package agree on what a Holdfast error is. */
const brand = Symbol.for('@holdfast/core/HoldfastError')

/** What an error is made of besides its code. */
export interface HoldfastErrorInit {
  /** Safe to show: what failed, on which id, and what may be done. Never input, state or stack. */
  readonly message: string
  /** Plain JSON, safe to show. */
  readonly details?: JsonObject
  /** For logs only; never sent anywhere. */
  readonly cause?: unknown
  /** Overrides what the code says about retrying. */
  readonly retryable?: boolean
}

/**
 * The one error of Holdfast. Branch on `code`; `message` and `details` are safe to show.
 *
 * `cause` is for logs. Subclasses exist only where a caller acts on the class.
 */
export class HoldfastError extends Error {
  override readonly name: string = 'HoldfastError'
  readonly [brand] = true
  readonly code: ErrorCode
  readonly details: JsonObject
  readonly retryable: boolean

  constructor(code: ErrorCode, init: HoldfastErrorInit) {
    super(init.message, 'cause' in init ? { cause: init.cause } : undefined)
    this.code = code
    this.details = init.details ?? {}
    this.retryable = init.retryable ?? retryableCodes.has(code)
  }
}

/** Whether a value is a Holdfast error, of this copy of the package or another. */
export function isHoldfastError(value: unknown): value is HoldfastError {
  return typeof value === 'object' && value !== null && brand in value
}

/** Whether a value is a Holdfast error with this code. */
export function hasErrorCode(value: unknown, code: ErrorCode): value is HoldfastError {
  return isHoldfastError(value) && value.code === code
}

/** The id names no run of the caller's session. Another session's run reads the same, on purpose. */
export function runNotFound(runId: string): HoldfastError {
  return new HoldfastError(ErrorCode.runNotFound, {
    message: `No run ${runId} in this session.`,
    details: { run_id: runId },
  })
}

/** An option or limit outside what the contract allows; found when something is constructed. */
export function configurationInvalid(message: string): HoldfastError {
  return new HoldfastError(ErrorCode.configurationInvalid, { message })
}

/** The caller's signal fired. The reason it gave is the cause. */
export function aborted(signal: AbortSignal, what: string): HoldfastError {
  return new HoldfastError(ErrorCode.aborted, {
    message: `${what} was aborted.`,
    cause: signal.reason,
  })
}
