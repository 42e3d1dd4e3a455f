// Taking up a run that another process, or this one earlier, has executed: what is read, and the claim.
//
// Owns:  nothing.
// Asks:  the store for input, journal and stream; `commitRun` for the claim.
// Never: executes anything.
//
// V1. A takeover of a run that held a slot, or was about to leave an interrupt, is counted, durably,
//     before its code runs again. A new journal entry makes the count begin anew.
// V2. A process that takes up what it had taken up before has not died of it: that is not counted.
// V3. Damage (input or journal missing, or unreadable) is told apart from what may pass by itself.
import { ErrorCode, hasErrorCode, streamIdOf } from '@holdfast/core'
import type { JsonValue, RunRecord, Store } from '@holdfast/core'
import { decodeJson, sha256Hex } from '@holdfast/json'
import type { LoadedRun } from './execution-parts.ts'
import type { JournalSource } from './journal-reader.ts'
import type { Migration } from './migration.ts'
import type { Services } from './options.ts'
import { writersOf } from './output.ts'
import { loadJournal } from './replay.ts'
import type { LoadedJournal } from './replay.ts'
import { commitRun } from './run-commit.ts'
import type { Ownership, RunState } from './run-commit.ts'
import { recovered, roused } from './run-moves.ts'

const retriesWalked = 64

/**
 * Makes the takeover durable. False when the run has been taken over too often without getting further.
 *
 * `hasSurvived`: this very process has taken it up before, and lives: a store that was away, and no crash.
 */
export async function claimRun(
  services: Services,
  ownership: Ownership,
  state: RunState,
  hasSurvived: boolean,
): Promise<boolean> {
  const { record, journalNext } = state
  const now = services.system.now()
  // It stays interrupted until an answer is journaled; there is nothing to say of it.
  if (hasSurvived && record.status === 'interrupted') return true
  const isTakeover =
    !hasSurvived &&
    (record.status === 'interrupted' || (record.status === 'running' && !record.parked))
  const next = (isTakeover ? recovered(journalNext) : roused)(record, now, journalNext)
  if (isTakeover && next.recoveries >= services.limits.recoveries) return false
  await commitRun(services, ownership, state, { record: next })
  return true
}

/** All that an execution needs. `undefined`: input or journal are missing or damaged. */
export async function loadRun(
  store: Store,
  state: RunState,
  migration: Migration | undefined,
): Promise<LoadedRun | undefined> {
  const { sessionId, runId, record } = state
  const input = await loadInput(store, record)
  const journal = await readJournal(store, state, migration)
  if (input === undefined || journal === undefined) return undefined
  const streamId = streamIdOf(runId, record.stream + 1)
  const head = await store.streamHead(sessionId, streamId)
  const hasChunks = head !== undefined && head.next > 0
  return {
    input,
    journal,
    streamNext: head?.next,
    storedWriters: hasChunks ? await writersOf(store, sessionId, streamId) : new Set(),
    originRunId: await originRunId(store, record),
  }
}

/** The run's journal; `undefined` when it is damaged. @throws `record_from_newer_version`, `determinism` */
export async function readJournal(
  store: Store,
  state: RunState,
  migration?: Migration,
): Promise<LoadedJournal | undefined> {
  try {
    return await loadJournal(store, journalSource(state), migration)
  } catch (error) {
    if (hasErrorCode(error, ErrorCode.recordCorrupt)) return undefined
    throw error
  }
}

/** What of a run's journal is to be read. */
export function journalSource({ sessionId, runId, record }: RunState): JournalSource {
  const { inboxReadThrough, checkpoint } = record
  return {
    sessionId,
    runId,
    inboxReadThrough,
    ...(checkpoint === undefined ? {} : { checkpoint }),
  }
}

async function loadInput(store: Store, record: RunRecord): Promise<JsonValue | undefined> {
  const bytes = await store.input(record.sessionId, record.input.digest)
  // It was addressed by its digest: other bytes are damage, whatever they say.
  if (bytes === undefined || sha256Hex(bytes) !== record.input.digest) return undefined
  try {
    return decodeJson(bytes)
  } catch {
    return undefined
  }
}

/** The first of a chain of retries: its id is what effects' keys are made of. */
async function originRunId(store: Store, record: RunRecord): Promise<string> {
  let origin = record.id
  let before = record.retriedFrom
  for (let step = 0; before !== undefined && step < retriesWalked; step += 1) {
    origin = before
    const run = await store.run(record.sessionId, before)
    before = run?.record.retriedFrom
  }
  return origin
}
