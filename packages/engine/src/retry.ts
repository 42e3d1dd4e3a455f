// Starting a failed run anew from where it failed.
import { ErrorCode, HoldfastError, runNotFound } from '@holdfast/core'
import type { BlobPut, RunRecord, Store } from '@holdfast/core'
import { decodeEntries } from '@holdfast/workflow'
import type { JournalEntry, JournalRevision, StoredValue } from '@holdfast/workflow'
import type { EmbeddedEngine } from './engine.ts'
import { newestNames } from './migration.ts'
import { checkInput, newRun } from './new-run.ts'
import { tellStarted } from './telemetry.ts'

const pageRevisions = 500

/**
 * Starts a new run whose first revision holds what a failed one had journaled up to its failure.
 *
 * The failed run stays failed. If its definition has changed since, the new run's skew policy decides, as it
 * does for any run. Answers, messages and results that it had count for the new one;
 * questions that were open are put anew.
 *
 * @returns the new run's id
 * @throws `run_not_found`, `run_conflict` when the run has not failed, `definition_unknown`
 */
export async function retryRun(
  engine: EmbeddedEngine,
  sessionId: string,
  runId: string,
): Promise<string> {
  engine.assertWorking()
  const { store, catalog, system } = engine.services
  const failed = await store.run(sessionId, runId)
  if (failed === undefined) throw runNotFound(runId)
  const { record } = failed
  if (record.status !== 'failed') throw notFailed(record)
  const registered = catalog.resolve(record.definition.name, record.definition.version)
  const bytes = await store.input(sessionId, record.input.digest)
  if (bytes === undefined) throw unreadable(runId)
  const entries = inheritedEntries(await readJournal(store, sessionId, runId))
  const id = system.runId()
  const run = newRun({
    id,
    sessionId,
    registered,
    input: checkInput(registered, bytes),
    now: system.now(),
    status: 'pending',
    retriedFrom: runId,
    lineage: {
      digest: record.definition.digest,
      ...(record.migratedTo === undefined ? {} : { migratedTo: record.migratedTo }),
    },
    ...(record.parentRunId === undefined ? {} : { parentRunId: record.parentRunId }),
    inherited: {
      entries,
      completedSteps: entries.filter(({ kind }) => kind === 'step-completed').length,
    },
  })
  const blobs = await copiedBlobs(store, record, { id, entries })
  await store.commit({ sessionId, writes: [...run.writes, ...blobs] })
  tellStarted(engine.services, run.record)
  engine.nudge(sessionId, id)
  return id
}

/** What a retry inherits: everything up to the failure, but not the failed attempts themselves. */
export function inheritedEntries(revisions: readonly JournalRevision[]): readonly JournalEntry[] {
  // Judged by their newest names, kept as they were written.
  const written = revisions.flatMap(({ entries }) => entries)
  const all = newestNames(revisions, undefined).revisions.flatMap(({ entries }) =>
    entries.map(({ entry }) => entry),
  )
  const failure = all.findLastIndex(
    (entry) =>
      entry.kind === 'step-failed' ||
      (entry.kind === 'child-ended' && entry.status !== 'completed'),
  )
  const before = failure < 0 ? all : all.slice(0, failure)
  const failedPath = failure < 0 ? undefined : pathOf(all[failure])
  const answered = new Set(
    before.flatMap((entry) => (entry.kind === 'interrupt-answered' ? [entry.interruptId] : [])),
  )
  const isKept = (entry: JournalEntry): boolean => {
    switch (entry.kind) {
      case 'run-seeded':
      case 'run-interrupted':
      case 'run-ended':
      case 'cancel-requested':
        return false
      case 'interrupt-opened':
        return answered.has(entry.interruptId)
      case 'step-attempted':
        return entry.path !== failedPath
      case 'child-started':
        return entry.path !== failedPath && isSettled(before, entry.path)
      default:
        return true
    }
  }
  return written.slice(0, before.length).filter((_, index) => {
    const entry = before[index]
    return entry !== undefined && isKept(entry)
  })
}

function isSettled(entries: readonly JournalEntry[], path: string): boolean {
  return entries.some((entry) => entry.kind === 'child-ended' && entry.path === path)
}

function pathOf(entry: JournalEntry | undefined): string | undefined {
  return entry !== undefined && 'path' in entry ? entry.path : undefined
}

async function readJournal(
  store: Store,
  sessionId: string,
  runId: string,
): Promise<readonly JournalRevision[]> {
  const revisions: JournalRevision[] = []
  for (;;) {
    const from = revisions.length
    const rows = await store.journal(sessionId, runId, { from, limit: pageRevisions })
    if (rows.length === 0) return revisions
    revisions.push(...rows.map(decodeEntries))
  }
}

/** Large values belong to a run: the new one gets its own. */
async function copiedBlobs(
  store: Store,
  failed: RunRecord,
  target: { readonly id: string; readonly entries: readonly JournalEntry[] },
): Promise<readonly BlobPut[]> {
  const digests = new Set(target.entries.flatMap(digestsOf))
  const blobs: BlobPut[] = []
  for (const digest of digests) {
    const bytes = await store.blob(failed.sessionId, failed.id, digest)
    if (bytes === undefined) throw unreadable(failed.id)
    blobs.push({ kind: 'blob-put', runId: target.id, digest, bytes })
  }
  return blobs
}

function digestsOf(entry: JournalEntry): readonly string[] {
  switch (entry.kind) {
    case 'step-completed':
    case 'interrupt-answered':
    case 'loop-ended':
      return digestOf(entry.value)
    case 'interrupt-opened':
      return digestOf(entry.payload)
    case 'message-arrived':
      return digestOf(entry.body)
    case 'child-ended':
      return digestOf(entry.output)
    case 'loop-checkpoint':
      return [...digestOf(entry.state), ...entry.items.flatMap(digestOf)]
    default:
      return []
  }
}

function digestOf(stored: StoredValue | undefined): readonly string[] {
  return stored !== undefined && 'blob' in stored ? [stored.blob] : []
}

function notFailed(record: RunRecord): HoldfastError {
  return new HoldfastError(ErrorCode.runConflict, {
    message: `Run ${record.id} has not failed.`,
    details: { run_id: record.id, status: record.status },
  })
}

function unreadable(runId: string): HoldfastError {
  return new HoldfastError(ErrorCode.recordCorrupt, {
    message: `Run ${runId} cannot be read whole.`,
    details: { run_id: runId },
  })
}
