// The start of a run from outside, and the repeat of one.
//
// Owns:  a slot, from before the commit until the engine takes the run up or the start fails.
// Asks:  the store to commit; the engine for a slot, and to execute the run.
// Never: starts a second run for an idempotency key.
//
// N1. A run that starts as `running` is committed under the fence of its session; if that was lost,
//     it is committed as `pending` instead.
// N2. A start whose outcome is unknown is looked up; if that fails, too, the error names the run.
import { ErrorCode, HoldfastError, isStoreConflict } from '@holdfast/core'
import type { RunDraft, StartedRun, StartOptions } from '@holdfast/core'
import type { EmbeddedEngine } from './engine.ts'
import { checkInput, newRun } from './new-run.ts'
import type { NewRun } from './new-run.ts'
import { assertGoing, assertKey, isCode } from './refusals.ts'
import type { SessionRuns } from './session-runs.ts'
import { tellStarted } from './telemetry.ts'

/**
 * Starts a run: its input, row and seed in one commit, as `running` when this engine owns the session
 * and has a slot free.
 *
 * @throws `definition_unknown`, `input_invalid`, `run_not_found` for the parent, `run_exists`, `run_purged`,
 * `idempotency_key_reused`, `store_outcome_unknown`, `draining`, `aborted`
 */
export async function startRun(
  engine: EmbeddedEngine,
  runs: SessionRuns,
  request: { readonly draft: RunDraft; readonly input: Uint8Array; readonly options: StartOptions },
): Promise<StartedRun> {
  const { draft, input, options } = request
  engine.assertWorking()
  const { catalog, store, system } = engine.services
  const { idempotencyKey } = options
  assertKey(idempotencyKey)
  const registered = catalog.resolve(draft.definition.name, draft.definition.version)
  const checked = checkInput(registered, input)
  if (draft.parentRunId !== undefined) await runs.run(draft.parentRunId)
  assertGoing(options, 'The start')
  const session = engine.owned(runs.sessionId)
  const slot = session === undefined ? undefined : engine.slots.take(runs.sessionId)
  const make = (status: 'pending' | 'running'): NewRun =>
    newRun({
      id: draft.id,
      sessionId: runs.sessionId,
      registered,
      input: checked,
      now: system.now(),
      status,
      ...(draft.parentRunId === undefined ? {} : { parentRunId: draft.parentRunId }),
      ...(draft.executionId === undefined ? {} : { executionId: draft.executionId }),
      ...(draft.artifactNamespace === undefined
        ? {}
        : { artifactNamespace: draft.artifactNamespace }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    })
  const commit = async (run: NewRun, epoch: number | undefined): Promise<void> => {
    await store.commit({
      sessionId: runs.sessionId,
      writes: [...run.writes, ...(options.with ?? [])],
      ...(epoch === undefined ? {} : { fence: { epoch } }),
    })
  }
  let run = make(slot === undefined ? 'pending' : 'running')
  let held = slot
  try {
    try {
      await commit(run, slot === undefined ? undefined : session?.epoch)
    } catch (error) {
      if (slot === undefined || !isCode(error, ErrorCode.storeFenced)) throw error
      // The session was lost meanwhile: its new owner takes the run up.
      slot.release()
      held = undefined
      run = make('pending')
      await commit(run, undefined)
    }
  } catch (error) {
    held?.release()
    return await startedBefore(runs, error, run, idempotencyKey)
  }
  tellStarted(engine.services, run.record)
  engine.runCreated(run, registered, held)
  const stored = {
    record: run.record,
    revision: 1,
    journalNext: 1,
    inboxNext: 0,
    unread: [],
  }
  return { run: stored, created: true }
}

/** A start that was refused may be the repeat of one that was not, or may have been made after all. */
async function startedBefore(
  runs: SessionRuns,
  error: unknown,
  run: NewRun,
  idempotencyKey: string | undefined,
): Promise<StartedRun> {
  const { store } = runs.services
  const { id, definition, input } = run.record
  if (isStoreConflict(error, 'idempotency-key') && idempotencyKey !== undefined) {
    const known = await store.runByIdempotencyKey(runs.sessionId, idempotencyKey)
    const isSame =
      known?.record.input.digest === input.digest &&
      known.record.definition.name === definition.name &&
      known.record.definition.version === definition.version
    if (known !== undefined && isSame) {
      runs.nudge(known.record.id)
      return { run: known, created: false }
    }
    throw new HoldfastError(ErrorCode.idempotencyKeyReused, {
      message: 'The idempotency key was used for another input or definition.',
      details: known === undefined ? {} : { run_id: known.record.id },
    })
  }
  if (isStoreConflict(error, 'run-exists')) {
    throw new HoldfastError(ErrorCode.runExists, {
      message: `Run ${id} exists already.`,
      details: { run_id: id },
    })
  }
  if (isStoreConflict(error, 'run-purged')) {
    throw new HoldfastError(ErrorCode.runPurged, {
      message: 'The run that this start made was purged.',
    })
  }
  if (isCode(error, ErrorCode.storeOutcomeUnknown)) return startLookedUp(runs, error, run)
  throw error
}

/** Nobody knows whether a start was made: it is looked up. */
async function startLookedUp(runs: SessionRuns, error: unknown, run: NewRun): Promise<StartedRun> {
  const { id } = run.record
  try {
    const known = await runs.services.store.run(runs.sessionId, id)
    if (known !== undefined) {
      runs.nudge(id)
      return { run: known, created: true }
    }
  } catch {
    // The error below names the run.
  }
  throw new HoldfastError(ErrorCode.storeOutcomeUnknown, {
    message: `Whether run ${id} was started is not known: look for it.`,
    details: { run_id: id },
    cause: error,
  })
}
