import type { ErrorCode } from '@holdfast/core'

/** How a code is told over HTTP. */
export interface HttpAnswer {
  readonly status: number
  /** Whether its code and message are the caller's business; else a general one is told. */
  readonly told: boolean
}

const told = (status: number): HttpAnswer => ({ status, told: true })
const hidden = (status: number): HttpAnswer => ({ status, told: false })

/**
 * Every code with its HTTP status. What concerns the server's inside is told as `internal` or
 * `store_unavailable`.
 */
export const httpAnswers: Readonly<Record<ErrorCode, HttpAnswer>> = {
  json_invalid: told(400),
  json_too_large: told(413),
  json_too_deep: told(400),
  json_too_many_properties: told(400),
  json_duplicate_key: told(400),
  json_number_unsafe: told(400),
  json_unicode_invalid: told(400),
  json_trailing_data: told(400),
  json_unsupported_value: told(400),
  schema_invalid: hidden(500),
  input_invalid: told(422),
  output_invalid: hidden(500),

  arguments_invalid: told(400),
  id_invalid: told(400),
  configuration_invalid: hidden(500),
  limit_exceeded: told(413),
  not_permitted: told(403),

  definition_unknown: hidden(500),
  definition_duplicate: hidden(500),
  definition_invalid: hidden(500),

  run_not_found: told(404),
  run_exists: told(409),
  run_ended: told(409),
  run_purged: told(410),
  run_conflict: told(409),
  run_not_interrupted: told(409),
  run_failed: told(409),
  run_cancelled: told(409),
  idempotency_key_reused: told(409),
  interrupt_not_found: told(404),
  interrupt_answered: told(409),
  interrupt_needs_person: told(403),
  ambiguous_interrupt: told(409),
  resume_unsupported: told(409),
  own_run: told(403),
  prepare_run_integrity: hidden(500),
  inbox_full: told(429),
  crash_loop: hidden(500),
  determinism: hidden(500),
  step_failed: hidden(500),
  step_timeout: hidden(500),
  step_outcome_unknown: hidden(500),
  scope_misuse: hidden(500),
  foreign_await: hidden(500),
  step_aborted: hidden(500),
  cancelled: hidden(500),

  store_conflict: hidden(503),
  store_fenced: hidden(503),
  store_owned: hidden(503),
  store_unavailable: hidden(503),
  store_read_only: hidden(503),
  store_full: hidden(503),
  store_corrupt: hidden(500),
  store_closed: hidden(503),
  store_outcome_unknown: hidden(503),
  record_corrupt: hidden(500),
  record_from_newer_version: hidden(500),

  stream_not_found: told(404),
  stream_gone: told(410),
  stream_closed: told(409),
  chat_not_found: told(404),
  chat_id_taken: told(409),
  chat_busy: told(409),
  message_invalid: told(422),

  model_failed: hidden(500),
  tool_unknown: hidden(500),
  tool_input_invalid: hidden(500),
  tool_failed: hidden(500),
  tool_timeout: hidden(500),
  approval_invalid: told(409),
  approval_expired: told(409),
  approval_replayed: told(409),
  timeout: hidden(503),
  aborted: hidden(503),

  unauthenticated: told(401),
  not_found: told(404),
  method_not_allowed: told(405),
  content_type_unsupported: told(415),
  body_too_large: told(413),
  rate_limited: told(429),
  draining: told(503),
  internal: hidden(500),
}
