export type { JsonArray, JsonObject, JsonValue } from './json-value.ts'
export { ErrorCode, retryableCodes } from './error-codes.ts'
export {
  aborted,
  configurationInvalid,
  hasErrorCode,
  HoldfastError,
  isHoldfastError,
  runNotFound,
} from './error.ts'
export type { HoldfastErrorInit } from './error.ts'
export { Limits, wholeNumberOption } from './limits.ts'
export type { LimitName } from './limits.ts'
export {
  inboxOf,
  isUuid,
  parseStreamId,
  parseUuid,
  RunId,
  SessionId,
  sessionIdFor,
  streamIdOf,
} from './ids.ts'
export type { StreamId } from './ids.ts'
export type { Clock, Ids, Random, System, Timers } from './clock.ts'
export { silentLog } from './log.ts'
export type { Log, LogLevel, LogRecord } from './log.ts'
export type { Span, Telemetry } from './telemetry.ts'
export {
  AnswerBy,
  ArtifactNamespace,
  ArtifactReference,
  OpenInterrupt,
  RunError,
  RunRecord,
  runRecordVersion,
  RunStatus,
  WaitingFor,
} from './run.ts'
export { decodeRunRecord, encodeRunRecord } from './run-codec.ts'
export { isRunPurged } from './run-purged.ts'
export { isTerminal, isTransitionAllowed } from './run-transitions.ts'
export {
  answerKey,
  cancelKey,
  childKey,
  isCancelRequested,
  messageKey,
  unansweredInterrupts,
  visibleStatus,
} from './run-view.ts'
export { runProgress } from './run-progress.ts'
export type { RunProgress } from './run-progress.ts'
export { isStoreConflict, StoreConflictError } from './store.ts'
export type {
  BlobPut,
  Commit,
  Committer,
  ConflictFacts,
  ConflictReason,
  DocumentDelete,
  DocumentPut,
  Fence,
  InputPut,
  InputReader,
  JournalAppend,
  JournalRow,
  LogAppend,
  LogClose,
  LogEntry,
  LogPage,
  LogUnchanged,
  OwnedWrite,
  Page,
  Receipt,
  RecordReader,
  RunCreate,
  RunGuard,
  RunPageRequest,
  RunPurge,
  RunReader,
  RunSwap,
  SessionClaim,
  Store,
  StoredDocument,
  StoredRun,
  StoreWrite,
  StreamAppend,
  StreamChunk,
  StreamClose,
  StreamEnd,
  StreamHead,
  StreamPage,
  StreamReader,
  UnfencedWrite,
  Watcher,
  WatchTopic,
  WriteResult,
} from './store.ts'
export type { Catalog, RegisteredDefinition, SchemaCheck, SchemaIssue } from './catalog.ts'
export type {
  AnyWorkflowDefinition,
  DefinitionReference,
  JsonSchema,
  SkewPolicy,
  StreamFraming,
  StreamMoment,
  WorkflowDefinition,
} from './definition.ts'
export type {
  Branch,
  BranchResults,
  InterruptRequest,
  LoopTurn,
  MustBeJson,
  RunMessage,
  StepContext,
  StepOptions,
  StepOutput,
  WorkflowContext,
} from './workflow-context.ts'
export type {
  Actor,
  CancelAcknowledgement,
  CancelRequest,
  ResumeAcknowledgement,
  ResumeManyRequest,
  ResumeRequest,
  RunDraft,
  SendRequest,
  StartedRun,
  StartOptions,
  Supervisor,
  SupervisorCallOptions,
  Supervisors,
} from './supervisor.ts'
export type { Activity, ActivityKind, ActivityPage, ActivityPageRequest } from './activity.ts'
export type { InvokableTool, ToolInfo, ToolInvocation, ToolResult } from './tool.ts'
export type { ApprovalRecord, ApprovalStore } from './approval-store.ts'
export type { ConversationReader, ConversationTurn, TurnInput } from './conversation.ts'
export type { EngineCapabilities } from './engine-capabilities.ts'
