import { ErrorCode, HoldfastError, isUuid } from '@holdfast/core'
import type { ArtifactNamespace, RunRecord } from '@holdfast/core'
import { canonicalJson } from '@holdfast/json'

/**
 * A host's chance to say where a run's artifacts live, before the run exists.
 *
 * Gets a copy of the run as it would be created and returns it with another `artifactNamespace`.
 * Everything else is protected. It may be called for a start that then fails.
 */
export type PrepareRun = (draft: RunRecord) => RunRecord | Promise<RunRecord>

/** Protected fields in the order in which a change is looked for, by the name that is reported. */
const protectedFields: readonly (readonly [string, (record: RunRecord) => unknown])[] = [
  ['session_id', (record) => record.sessionId],
  ['tool_execution_id', (record) => record.executionId],
  ['definition_name', (record) => record.definition.name],
  ['definition_version', (record) => record.definition.version],
  ['id', (record) => record.id],
  ['definition_digest', (record) => record.definition.digest],
  ['parent_run_id', (record) => record.parentRunId],
  ['input', (record) => record.input],
  ['status', (record) => record.status],
  ['status_summary', (record) => record.statusSummary],
  ['cancel_requested', (record) => record.cancelRequested],
  ['checkpoint_revision', (record) => record.checkpoint],
  ['inbox_read_through', (record) => record.inboxReadThrough],
  ['stream', (record) => record.stream],
  ['artifacts', (record) => record.artifacts],
  ['created_at', (record) => record.createdAt],
  ['updated_at', (record) => record.updatedAt],
  ['revision', (record) => record.version],
  ['child_of', (record) => record.childOf],
  ['retried_from', (record) => record.retriedFrom],
  ['interrupts', (record) => record.interrupts],
  ['error', (record) => record.error],
  ['waiting_for', (record) => record.waitingFor],
  ['parked', (record) => record.parked],
  ['wake_at', (record) => record.wakeAt],
  ['recoveries', (record) => record.recoveries],
  ['ended_at', (record) => record.endedAt],
]

/**
 * Lets the host choose the artifact namespace, and holds it to that.
 *
 * An error of the host's own goes through unchanged.
 *
 * @throws `prepare_run_integrity`, naming the first protected field that was changed
 */
export async function prepareNamespace(
  draft: RunRecord,
  prepareRun: PrepareRun,
): Promise<ArtifactNamespace> {
  const prepared: unknown = await prepareRun(structuredClone(draft))
  if (!isRecord(prepared)) throw integrityError('run_metadata')
  for (const [name, read] of protectedFields) {
    if (!isSame(readSafely(read, prepared), read(draft))) throw integrityError(name)
  }
  const { artifactNamespace, ...rest } = prepared
  const { artifactNamespace: _given, ...protectedRest } = draft
  if (!isSame(rest, protectedRest)) throw integrityError('run_metadata')
  return checkedNamespace(artifactNamespace)
}

function checkedNamespace(namespace: unknown): ArtifactNamespace {
  if (typeof namespace !== 'object' || namespace === null) throw namespaceError('is missing')
  const { sessionId, runId, inputKind, inputSessionId, inputRunId, ...rest } =
    namespace as Readonly<Record<string, unknown>>
  if (Object.keys(rest).length > 0) throw namespaceError('has unknown fields')
  const place = { sessionId: uuidOf(sessionId), runId: uuidOf(runId) }
  if (inputKind === undefined && inputSessionId === undefined && inputRunId === undefined) {
    return place
  }
  if (inputKind !== 'bootstrap' && inputKind !== 'parent') {
    throw namespaceError('has an input of unknown kind')
  }
  if (inputSessionId === undefined || inputRunId === undefined) {
    throw namespaceError('names its input incompletely')
  }
  return {
    ...place,
    inputKind,
    inputSessionId: uuidOf(inputSessionId),
    inputRunId: uuidOf(inputRunId),
  }
}

function uuidOf(id: unknown): string {
  if (typeof id === 'string' && isUuid(id)) return id.toLowerCase()
  throw namespaceError('has an id that is no nonzero UUID')
}

function isRecord(value: unknown): value is RunRecord {
  return typeof value === 'object' && value !== null
}

/** A protected part may have been replaced by anything. */
function readSafely(read: (record: RunRecord) => unknown, record: RunRecord): unknown {
  try {
    return read(record)
  } catch {
    return undefined
  }
}

function isSame(left: unknown, right: unknown): boolean {
  if (left === undefined || right === undefined) return left === right
  try {
    return canonicalJson(left) === canonicalJson(right)
  } catch {
    return false
  }
}

function integrityError(field: string): HoldfastError {
  return new HoldfastError(ErrorCode.prepareRunIntegrity, {
    message: `PrepareRun changed protected run field "${field}"`,
    details: { field },
  })
}

function namespaceError(problem: string): HoldfastError {
  return new HoldfastError(ErrorCode.prepareRunIntegrity, {
    message: `PrepareRun returned an artifact namespace that ${problem}`,
    details: { field: 'artifact_namespace' },
  })
}
