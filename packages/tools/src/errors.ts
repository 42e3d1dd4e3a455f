import { ErrorCode, isHoldfastError } from '@holdfast/core'
import { boundedText } from './fit-result.ts'

/** The most that a model is told of a failure, in bytes. */
export const modelErrorBytes = 1_024

/** What a model is told of a code: its own words instead of the error's, and what may be done. */
interface Wording {
  /** Instead of the error's message, where that says nothing that helps a model. */
  readonly text?: string
  readonly next: string
}

const tryLater = 'Try again in a moment; if it keeps failing, tell the user.'
const tellUser = 'Do not try again; tell the user.'
const fixJson = 'Send the arguments again as one valid JSON object that fits the schema.'
const lookFirst = 'Look with workflow_run_get before you do it again.'

const wordings: Readonly<Partial<Record<ErrorCode, Wording>>> = {
  json_invalid: { next: fixJson },
  json_too_large: { next: 'Send less.' },
  json_too_deep: { next: 'Nest less.' },
  json_too_many_properties: { next: 'Send fewer properties.' },
  json_duplicate_key: { next: 'Name each property once.' },
  json_number_unsafe: {
    next: 'Send a number that a double holds exactly, or text where the schema allows it.',
  },
  json_unicode_invalid: { next: 'Send well-formed Unicode.' },
  json_trailing_data: { next: fixJson },
  json_unsupported_value: { next: fixJson },
  arguments_invalid: { next: "Send what the tool's schema asks for, and nothing else." },
  id_invalid: { next: 'Use an id exactly as a result gave it.' },
  input_invalid: {
    next: "Fix it by the definition's schema; workflow_definition_list shows it.",
  },
  resume_unsupported: { next: 'This workflow takes no answers; cancel it or leave it.' },
  definition_unknown: {
    next: 'workflow_definition_list shows the names and versions that exist.',
  },
  not_permitted: { next: 'Leave it alone; workflow_definition_list shows what you may use.' },
  run_not_found: { next: 'workflow_run_list shows the runs of this session.' },
  run_purged: { next: 'It was removed some time after it ended; nothing more can be learned.' },
  run_exists: { next: lookFirst },
  run_ended: { next: 'Nothing can be changed any more; workflow_run_get shows how it ended.' },
  run_conflict: { text: 'The run changed meanwhile.', next: lookFirst },
  run_not_interrupted: {
    next: 'Nothing is waiting for an answer; workflow_run_get shows its status.',
  },
  idempotency_key_reused: {
    next: 'Use another key for another run, or the same input for the same run.',
  },
  interrupt_not_found: { next: 'workflow_run_get shows the open questions.' },
  interrupt_answered: { next: 'Somebody has answered; workflow_run_get shows how it went on.' },
  interrupt_needs_person: { next: 'You cannot answer for a person: ask the user to do it.' },
  ambiguous_interrupt: { next: 'Say with interrupt_id which one, or ask the user.' },
  own_run: { next: 'You cannot resume or cancel it; finish your turn or ask the user.' },
  inbox_full: { next: tryLater },
  limit_exceeded: { next: 'Ask for less.' },
  prepare_run_integrity: { text: 'The run could not be prepared.', next: tellUser },
  record_from_newer_version: { text: 'The run was written by a newer release.', next: tellUser },
  record_corrupt: { text: 'The stored run cannot be read.', next: tellUser },
  store_corrupt: { text: 'The store cannot be read.', next: tellUser },
  store_read_only: { text: 'The store takes no writes.', next: tellUser },
  store_closed: { text: 'The server is stopping.', next: tryLater },
  store_unavailable: { text: 'The store does not answer.', next: tryLater },
  store_full: { text: 'The store has no room at the moment.', next: tryLater },
  store_conflict: { text: 'The run changed meanwhile.', next: lookFirst },
  store_fenced: { text: 'The run moved to another process meanwhile.', next: lookFirst },
  store_owned: { text: 'Another process works on it.', next: tryLater },
  store_outcome_unknown: { next: lookFirst },
  rate_limited: { next: tryLater },
  draining: { text: 'The server is stopping.', next: tryLater },
  timeout: { next: lookFirst },
  aborted: { next: lookFirst },
}

const fallback: Wording = { text: 'The tool failed.', next: tellUser }

/**
 * What a model is told of a tool's failure: the code, what failed and on which run, what to do next.
 *
 * At most {@link modelErrorBytes} bytes on one line. Causes, stacks and foreign errors' own words
 * never appear.
 */
export function modelErrorText(error: unknown): string {
  const code = isHoldfastError(error) ? error.code : ErrorCode.internal
  const { text, next } = wordings[code] ?? fallback
  const said = text ?? (isHoldfastError(error) ? error.message : '')
  const run = text === undefined ? '' : runNamedBy(error)
  const head = oneLine(`${code}: ${said}${run}`)
  return `${boundedText(head, modelErrorBytes - next.length - 1)} ${next}`
}

/** Which run an error is about, where its own message is not shown. */
function runNamedBy(error: unknown): string {
  const runId = isHoldfastError(error) ? error.details['run_id'] : undefined
  return typeof runId === 'string' ? ` (run ${runId})` : ''
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
}
