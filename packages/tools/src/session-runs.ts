import { ErrorCode, HoldfastError, runNotFound } from '@holdfast/core'
import type { RunId, SessionId, StoredRun } from '@holdfast/core'
import type { ToolRunReader } from './journaled-questions.ts'

/** How many ancestors are looked at. A deeper tree is refused, not searched. */
export const ancestorsRead = 256

/** The runs of one session; every other run reads as one that does not exist. */
export interface SessionRuns {
  readonly sessionId: SessionId
  readonly reader: ToolRunReader
  /** @throws `run_not_found` */
  get(runId: RunId): Promise<StoredRun>
  find(runId: RunId): Promise<StoredRun | undefined>
}

/** Binds a reader to a session. */
export function sessionRuns(sessionId: SessionId, reader: ToolRunReader): SessionRuns {
  const find = async (runId: RunId): Promise<StoredRun | undefined> => {
    const run = await reader.run(sessionId, runId)
    return run?.record.sessionId === sessionId ? run : undefined
  }
  return {
    sessionId,
    reader,
    find,
    async get(runId) {
      const run = await find(runId)
      if (run === undefined) throw runNotFound(runId)
      return run
    },
  }
}

/**
 * Refuses to let a model act on the run it runs in, or on a run above it.
 *
 * Ancestors are those that started it as a child and those it was recorded under. What cannot be
 * told within {@link ancestorsRead} reads is refused.
 *
 * @throws `own_run`
 */
export async function demandNotOwnRun(
  runs: SessionRuns,
  target: RunId,
  callerRunId: RunId | undefined,
): Promise<void> {
  if (callerRunId === undefined) return
  const seen = new Set<RunId>([callerRunId])
  for (const runId of seen) {
    if (runId === target || seen.size > ancestorsRead) throw ownRun(target)
    const run = await runs.find(runId)
    const { childOf, parentRunId } = run?.record ?? {}
    if (childOf !== undefined) seen.add(childOf)
    if (parentRunId !== undefined) seen.add(parentRunId)
  }
}

function ownRun(runId: RunId): HoldfastError {
  return new HoldfastError(ErrorCode.ownRun, {
    message: `Run ${runId} is the run you act in, or one above it.`,
    details: { run_id: runId },
  })
}
