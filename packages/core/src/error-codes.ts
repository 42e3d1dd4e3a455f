/**
 * Every code a Holdfast error can carry. Public and only added to: callers branch on it.
 *
 * Each has a line in `docs/errors.md`. HTTP statuses and tool wording are tables keyed by
 * these codes in the packages at the edge, never on the error itself.
 */
export const ErrorCode = {
  // JSON and schemas
  jsonInvalid: 'json_invalid',
  jsonTooLarge: 'json_too_large',
  jsonTooDeep: 'json_too_deep',
  jsonTooManyProperties: 'json_too_many_properties',
  jsonDuplicateKey: 'json_duplicate_key',
  jsonNumberUnsafe: 'json_number_unsafe',
  jsonUnicodeInvalid: 'json_unicode_invalid',
  jsonTrailingData: 'json_trailing_data',
  jsonUnsupportedValue: 'json_unsupported_value',
  schemaInvalid: 'schema_invalid',
  inputInvalid: 'input_invalid',
  outputInvalid: 'output_invalid',
  // requests and arguments
  argumentsInvalid: 'arguments_invalid',
  idInvalid: 'id_invalid',
  configurationInvalid: 'configuration_invalid',
  limitExceeded: 'limit_exceeded',
  notPermitted: 'not_permitted',
  // definitions
  definitionUnknown: 'definition_unknown',
  definitionDuplicate: 'definition_duplicate',
  definitionInvalid: 'definition_invalid',
  // runs
  runNotFound: 'run_not_found',
  runExists: 'run_exists',
  runEnded: 'run_ended',
  runPurged: 'run_purged',
  runConflict: 'run_conflict',
  runNotInterrupted: 'run_not_interrupted',
  runFailed: 'run_failed',
  runCancelled: 'run_cancelled',
  idempotencyKeyReused: 'idempotency_key_reused',
  interruptNotFound: 'interrupt_not_found',
  interruptAnswered: 'interrupt_answered',
  interruptNeedsPerson: 'interrupt_needs_person',
  ambiguousInterrupt: 'ambiguous_interrupt',
  resumeUnsupported: 'resume_unsupported',
  ownRun: 'own_run',
  inboxFull: 'inbox_full',
  prepareRunIntegrity: 'prepare_run_integrity',
  crashLoop: 'crash_loop',
  determinism: 'determinism',
  stepFailed: 'step_failed',
  stepTimeout: 'step_timeout',
  stepOutcomeUnknown: 'step_outcome_unknown',
  scopeMisuse: 'scope_misuse',
  foreignAwait: 'foreign_await',
  stepAborted: 'step_aborted',
  cancelled: 'cancelled',
  // storage
  storeConflict: 'store_conflict',
  storeFenced: 'store_fenced',
  storeOwned: 'store_owned',
  storeUnavailable: 'store_unavailable',
  storeReadOnly: 'store_read_only',
  storeFull: 'store_full',
  storeCorrupt: 'store_corrupt',
  storeClosed: 'store_closed',
  storeOutcomeUnknown: 'store_outcome_unknown',
  recordCorrupt: 'record_corrupt',
  recordFromNewerVersion: 'record_from_newer_version',
  // streams and chats
  streamNotFound: 'stream_not_found',
  streamGone: 'stream_gone',
  streamClosed: 'stream_closed',
  chatNotFound: 'chat_not_found',
  chatIdTaken: 'chat_id_taken',
  chatBusy: 'chat_busy',
  messageInvalid: 'message_invalid',
  // agents
  modelFailed: 'model_failed',
  toolUnknown: 'tool_unknown',
  toolInputInvalid: 'tool_input_invalid',
  toolFailed: 'tool_failed',
  toolTimeout: 'tool_timeout',
  approvalInvalid: 'approval_invalid',
  approvalExpired: 'approval_expired',
  approvalReplayed: 'approval_replayed',
  timeout: 'timeout',
  aborted: 'aborted',
  // transports
  unauthenticated: 'unauthenticated',
  notFound: 'not_found',
  methodNotAllowed: 'method_not_allowed',
  contentTypeUnsupported: 'content_type_unsupported',
  bodyTooLarge: 'body_too_large',
  rateLimited: 'rate_limited',
  draining: 'draining',
  internal: 'internal',
} as const

/** One of the values of {@link ErrorCode}. */
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode]

/** Codes whose cause may pass by itself: the same call may succeed later. */
export const retryableCodes: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.storeUnavailable,
  ErrorCode.storeOutcomeUnknown,
  ErrorCode.storeFull,
  ErrorCode.rateLimited,
  ErrorCode.draining,
  ErrorCode.chatBusy,
  ErrorCode.timeout,
  ErrorCode.stepTimeout,
  ErrorCode.toolTimeout,
  ErrorCode.inboxFull,
])
