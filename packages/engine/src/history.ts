// A run's history: its journal, projected page by page. Never waits for an execution.
import {
  ErrorCode,
  HoldfastError,
  isRunPurged,
  Limits,
  runNotFound,
  wholeNumberOption,
} from '@holdfast/core'
import type { Activity, ActivityPage, ActivityPageRequest, Store, StoredRun } from '@holdfast/core'
import { decodeEntries, projectActivities } from '@holdfast/workflow'
import type { ProjectedRun } from '@holdfast/workflow'

const pageRevisions = 200

/**
 * A page of a run's activities.
 *
 * Whole revisions, as many as fit; the first of a page that alone is larger than the limit is cut
 * in it, and the next page goes on after `nextEventId`.
 *
 * @throws `run_not_found`, `run_purged`, `arguments_invalid`
 */
export async function readHistory(
  store: Store,
  run: { readonly sessionId: string; readonly runId: string },
  request: ActivityPageRequest = {},
): Promise<ActivityPage> {
  const limit = boundedLimit(request.limit)
  const stored = await store.run(run.sessionId, run.runId)
  if (stored === undefined) throw await absentRun(store, run)
  const projected = await projectedRun(store, stored)
  const page: Activity[] = []
  let revision = Math.max(0, request.afterRevision ?? 0)
  let skipThrough = request.afterEventId
  for (;;) {
    const rows = await store.journal(run.sessionId, run.runId, {
      from: revision,
      limit: pageRevisions,
    })
    if (rows.length === 0) return { activities: page, tailRevision: stored.journalNext }
    for (const row of rows) {
      const all = projectActivities(projected, decodeEntries(row))
      const activities = skipThrough === undefined ? all : after(all, skipThrough)
      skipThrough = undefined
      if (page.length + activities.length > limit) {
        const tailRevision = Math.max(stored.journalNext, row.revision + 1)
        if (page.length > 0) {
          return { activities: page, nextRevision: row.revision, tailRevision }
        }
        const cut = activities.slice(0, limit)
        const last = cut.at(-1)
        return {
          activities: cut,
          nextRevision: row.revision,
          ...(last === undefined ? {} : { nextEventId: last.eventId }),
          tailRevision,
        }
      }
      page.push(...activities)
      revision = row.revision + 1
    }
  }
}

async function projectedRun(store: Store, stored: StoredRun): Promise<ProjectedRun> {
  const { id, sessionId, definition } = stored.record
  const [row] = await store.journal(sessionId, id, { from: 0, limit: 1 })
  const seed = row === undefined ? undefined : decodeEntries(row).entries[0]
  const totalSteps = seed?.kind === 'run-seeded' ? seed.totalSteps : undefined
  return {
    sessionId,
    runId: id,
    definition: { name: definition.name, version: definition.version },
    ...(totalSteps === undefined ? {} : { totalSteps }),
  }
}

/** What comes after an event of the same revision; of an unknown one, nothing. */
function after(activities: readonly Activity[], eventId: string): readonly Activity[] {
  const index = activities.findIndex((activity) => activity.eventId === eventId)
  return index < 0 ? [] : activities.slice(index + 1)
}

function boundedLimit(limit: number | undefined): number {
  try {
    return wholeNumberOption('limit', limit ?? Limits.pageDefault, { min: 1, max: Limits.pageMax })
  } catch {
    throw new HoldfastError(ErrorCode.argumentsInvalid, {
      message: `history limit must be within 1..${Limits.pageMax}`,
    })
  }
}

/** Why a run's history cannot be read: it was purged, or there never was one. */
async function absentRun(
  store: Store,
  { sessionId, runId }: { readonly sessionId: string; readonly runId: string },
): Promise<HoldfastError> {
  if (!(await isRunPurged(store, sessionId, runId))) return runNotFound(runId)
  return new HoldfastError(ErrorCode.runPurged, {
    message: `Run ${runId} is past its retention.`,
    details: { run_id: runId },
  })
}
