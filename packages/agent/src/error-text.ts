/** Where an error came from. */
export type ErrorSource = 'model' | 'tool'

/** Says what readers and the model are told of an error. Must not throw, and must tell no secret. */
export type ErrorText = (error: unknown, source: ErrorSource) => string

/**
 * Tells nothing of an error: its text may hold addresses, keys or passwords.
 *
 * An error thrown on purpose for others to read is one whose `expose` is `true`.
 */
export const redactedErrorText: ErrorText = (error, source) => {
  if (typeof error === 'object' && error !== null && 'expose' in error && error.expose === true) {
    return 'message' in error && typeof error.message === 'string'
      ? error.message
      : fallback[source]
  }
  return fallback[source]
}

const fallback: Readonly<Record<ErrorSource, string>> = {
  model: 'An error occurred.',
  tool: 'The tool failed.',
}
