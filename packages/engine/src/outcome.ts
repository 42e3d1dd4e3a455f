// What became of a definition, and what its run says of it: an output that fits, or a safe error.
import { ErrorCode, hasErrorCode, HoldfastError, isHoldfastError } from '@holdfast/core'
import type { RegisteredDefinition, RunError } from '@holdfast/core'
import type { Services } from './options.ts'
import { encodeValue, journaledError, tamed } from './stored-values.ts'
import type { EncodedValue } from './stored-values.ts'

/** What became of the definition. */
export type Outcome =
  | { readonly kind: 'returned'; readonly output: EncodedValue }
  | { readonly kind: 'threw'; readonly error: unknown }
  /** It was not run to its end: a cancel whose time is up, or a run that cannot be executed. */
  | { readonly kind: 'cut'; readonly error?: RunError }

/** What judging an outcome needs. */
export interface JudgePort {
  readonly services: Services
  readonly state: { readonly runId: string }
  /** Absent when this process does not know the definition. */
  readonly registered: RegisteredDefinition | undefined
}

/** An outcome, judged. */
export interface Judged {
  readonly output?: EncodedValue
  readonly error?: RunError
}

/** What a definition returned, as it was at that moment: code that still runs cannot change it. */
export function returned(runId: string, value: unknown): Outcome {
  try {
    return { kind: 'returned', output: encodeValue(runId, value) }
  } catch (error) {
    return { kind: 'threw', error: tamed(error) }
  }
}

/** What an outcome gives: an output that fits, or why the run failed. */
export function judged(port: JudgePort, outcome: Outcome): Judged {
  switch (outcome.kind) {
    case 'cut':
      return outcome.error === undefined ? {} : { error: outcome.error }
    case 'threw':
      return hasErrorCode(outcome.error, ErrorCode.cancelled)
        ? { error: runErrorOf(outcome.error) }
        : { error: reported(port, outcome.error) }
    case 'returned':
      return fitting(port, outcome.output)
  }
}

function fitting(port: JudgePort, output: EncodedValue): Judged {
  const check = output.value === undefined ? undefined : port.registered?.checkOutput(output.value)
  if (check === undefined || check.ok) return { output }
  const error = new HoldfastError(ErrorCode.outputInvalid, {
    message: "The definition's result does not fit its output schema.",
    details: { issues: check.issues.map(({ path, message }) => ({ path, message })) },
  })
  return { error: reported(port, error) }
}

/** An uncaught error, told to the log whole and to readers safely. */
function reported(port: JudgePort, error: unknown): RunError {
  port.services.log.write({
    level: 'error',
    event: 'engine.run.failed',
    message: 'A definition ended with an error.',
    fields: { run_id: port.state.runId },
    cause: error,
  })
  return runErrorOf(error)
}

/** The safe form of an uncaught error: only what Holdfast's own errors say of themselves is shown. */
export function runErrorOf(error: unknown): RunError {
  if (isHoldfastError(error)) {
    return { code: error.code, message: error.message, retryable: error.retryable }
  }
  const step = journaledError(error)
  return step === undefined
    ? { code: ErrorCode.runFailed, message: 'The workflow failed.', retryable: false }
    : {
        code: ErrorCode.stepFailed,
        message: 'A step of the workflow failed.',
        retryable: step.retryable,
      }
}
