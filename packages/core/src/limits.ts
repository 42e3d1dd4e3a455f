import { configurationInvalid } from './error.ts'

const KiB = 1024
const MiB = 1024 * KiB

/**
 * Every bound of Holdfast with its default. Bytes are UTF-8 bytes, times are milliseconds.
 *
 * Each is an option of the package that enforces it; above `maximum` construction fails with
 * `configuration_invalid`.
 */
export const Limits = {
  inputBytes: 256 * KiB,
  inputDepth: 32,
  inputProperties: 4_096,
  schemaBytes: 64 * KiB,
  schemaDepth: 32,
  schemaProperties: 1_024,
  runRecordBytes: 64 * KiB,
  runArtifacts: 128,
  statusSummaryBytes: 1_024,
  descriptionBytes: 1_024,
  cancelReasonBytes: 512,
  openInterrupts: 64,
  childrenOfRun: 256,
  inboxUnread: 1_024,
  inboxEntryBytes: 64 * KiB,
  toolResultBytes: 32 * KiB,
  definitionListBytes: 256 * KiB,
  definitionsListed: 100,
  pageDefault: 50,
  pageMax: 100,
  valueInlineBytes: 32 * KiB,
  valueBytes: 8 * MiB,
  loopStateBytes: 64 * KiB,
  documentBytes: 64 * KiB,
  chunkBytes: 1 * MiB,
  httpBodyBytes: 4 * MiB,
  requestsPerSecond: 20,
  readerBufferChunks: 256,
  cancelGraceMs: 5_000,
  cleanupMs: 30_000,
  drainMs: 10_000,
  heartbeatMs: 15_000,
  stepRetries: 2,
  stepRetryBaseMs: 1_000,
  stepRetryMaxMs: 60_000,
  toolsAtOnce: 8,
  agentSteps: 20,
  chunkHoldMs: 20,
  sessionIdleMs: 60_000,
  nodeLeaseMs: 10_000,
  nodeLeaseRenewMs: 3_000,
  maxWorkers: 4,
  maxWorkersMax: 64,
  maxActiveRuns: 1_000,
  recoveriesBeforeCrashLoop: 5,
  tombstoneMs: 30 * 24 * 60 * 60 * 1_000,
  storageNameBytes: 512,
  storeQueueCommits: 10_000,
} as const

/** The name of one bound. */
export type LimitName = keyof typeof Limits

/** Checks that an option is a whole number within its bounds, and returns it. @throws `configuration_invalid` */
export function wholeNumberOption(
  name: string,
  value: number,
  bounds: { readonly min: number; readonly max: number },
): number {
  if (Number.isSafeInteger(value) && value >= bounds.min && value <= bounds.max) return value
  throw configurationInvalid(
    `Option ${name} must be a whole number from ${bounds.min} to ${bounds.max}.`,
  )
}
