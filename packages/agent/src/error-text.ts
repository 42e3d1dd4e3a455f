import { isHoldfastError } from '@holdfast/core'

/** Where an error came from. */
export type ErrorSource = 'model' | 'tool'

/** Says what readers and the model are told of an error. Must not throw, and must tell no secret. */
export type ErrorText = (error: unknown, source: ErrorSource) => string

/**
 * Tells nothing of an error: its text may hold addresses, keys or passwords. Only a `HoldfastError` is told by its message,
 * which is safe to show by its own promise: throw one where the model shall know what went wrong.
 */
export const redactedErrorText: ErrorText = (error, source) =>
  isHoldfastError(error) ? error.message : fallback[source]

const fallback: Readonly<Record<ErrorSource, string>> = {
  model: 'An error occurred.',
  tool: 'The tool failed.',
}
