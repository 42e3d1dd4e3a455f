// The beginning of a run: its row, its seed, and the one commit that makes them.
import {
  ErrorCode,
  HoldfastError,
  Limits,
  runRecordVersion,
  type ArtifactNamespace,
  type JsonValue,
  type RegisteredDefinition,
  type RunRecord,
  type UnfencedWrite,
  type JournalAppend,
} from '@holdfast/core'
import { canonicalBytes, parseStrictJson, sha256Hex } from '@holdfast/json'
import { encodeEntries } from '@holdfast/workflow'
import type { JournalEntry, JournalEntryOf } from '@holdfast/workflow'

/** An input that was checked, ready to be stored. */
export interface CheckedInput {
  readonly value: JsonValue
  readonly bytes: Uint8Array
  readonly digest: string
}

/** What a run begins with. */
export interface NewRunRequest {
  readonly id: string
  readonly sessionId: string
  readonly registered: RegisteredDefinition
  readonly input: CheckedInput
  readonly now: number
  readonly status: 'pending' | 'running'
  readonly parentRunId?: string
  readonly childOf?: string
  readonly retriedFrom?: string
  readonly executionId?: string
  readonly artifactNamespace?: ArtifactNamespace
  readonly idempotencyKey?: string
  /** For a retry: which definition the inherited entries are for. */
  readonly lineage?: { readonly digest: string; readonly migratedTo?: string }
  /** For a retry: what the seed's revision holds besides. */
  readonly inherited?: {
    readonly entries: readonly JournalEntry[]
    readonly completedSteps: number
  }
}

/** A run about to be created. */
export interface NewRun {
  readonly record: RunRecord
  readonly seed: JournalEntryOf<'run-seeded'>
  readonly input: CheckedInput
  readonly writes: readonly (UnfencedWrite | JournalAppend)[]
}

/** Checks a run's input against its definition. @throws `input_invalid`, and the codes of strict JSON */
export function checkInput(registered: RegisteredDefinition, bytes: Uint8Array): CheckedInput {
  const value = parseStrictJson(bytes, {
    maxBytes: Limits.inputBytes,
    maxDepth: Limits.inputDepth,
    maxProperties: Limits.inputProperties,
  })
  const check = registered.checkInput(value)
  if (check.ok) return { value: check.value, bytes, digest: sha256Hex(bytes) }
  throw new HoldfastError(ErrorCode.inputInvalid, {
    message: 'invalid workflow input (input): it does not fit the schema.',
    details: { issues: check.issues.map(({ path, message }) => ({ path, message })) },
  })
}

/** Encodes and checks an input given as a value. */
export function checkInputValue(registered: RegisteredDefinition, input: unknown): CheckedInput {
  return checkInput(registered, canonicalBytes(input))
}

/** A run's row, seed and writes. */
export function newRun(request: NewRunRequest): NewRun {
  const { id, sessionId, registered, input, now } = request
  const definition = {
    name: registered.name,
    version: registered.version,
    digest: request.lineage?.digest ?? registered.digest,
  }
  const migratedTo = request.lineage?.migratedTo
  const relations = {
    ...(request.parentRunId === undefined ? {} : { parentRunId: request.parentRunId }),
    ...(request.childOf === undefined ? {} : { childOf: request.childOf }),
    ...(request.retriedFrom === undefined ? {} : { retriedFrom: request.retriedFrom }),
  }
  const reference = { digest: input.digest, size: input.bytes.length }
  const record: RunRecord = {
    version: runRecordVersion,
    id,
    sessionId,
    definition,
    ...relations,
    ...(request.executionId === undefined ? {} : { executionId: request.executionId }),
    input: reference,
    artifactNamespace: request.artifactNamespace ?? { sessionId, runId: id },
    ...(migratedTo === undefined ? {} : { migratedTo }),
    status: request.status,
    parked: false,
    interrupts: [],
    artifacts: [],
    stream: 0,
    inboxReadThrough: 0,
    recoveries: 0,
    createdAt: now,
    updatedAt: now,
  }
  const { steps } = registered.definition
  const seed: JournalEntryOf<'run-seeded'> = {
    kind: 'run-seeded',
    at: now,
    definition,
    input: reference,
    ...relations,
    ...(steps === undefined ? {} : { totalSteps: steps.length }),
  }
  const { entries, completedSteps } = request.inherited ?? { entries: [], completedSteps: 0 }
  return {
    record,
    seed,
    input,
    writes: [
      { kind: 'input-put', digest: input.digest, bytes: input.bytes },
      {
        kind: 'run-create',
        record,
        ...(request.idempotencyKey === undefined ? {} : { idempotencyKey: request.idempotencyKey }),
      },
      {
        kind: 'journal-append',
        runId: id,
        revision: 0,
        data: encodeEntries([seed, ...entries], completedSteps),
        head: {
          completed_steps: completedSteps,
          ...(steps === undefined ? {} : { total_steps: Math.max(steps.length, completedSteps) }),
        },
      },
    ],
  }
}
