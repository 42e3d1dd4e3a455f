import {
  type Activity,
  type ActivityPage,
  type ActivityPageRequest,
  ErrorCode,
  HoldfastError,
  isTerminal,
  isUuid,
  type RunReader,
  type Supervisor,
  type Watcher,
} from '@holdfast/core'
import { doneFrame, frameFromJson } from '@holdfast/chat-protocol'
import { activityJson } from './run-json.ts'

/** A place in a run's history: after this activity. */
export interface HistoryCursor {
  readonly revision: number
  readonly eventId: string
}

/** The text of a cursor: what an event's `id:` line has, and a client sends back as `Last-Event-ID`. */
function historyCursorText({ revision, eventId }: HistoryCursor): string {
  return `${revision}.${eventId}`
}

/** Reads a cursor. @throws `arguments_invalid` */
export function parseHistoryCursor(text: string): HistoryCursor {
  const [, revision, eventId] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(text.trim()) ?? []
  if (revision !== undefined && eventId !== undefined && isUuid(eventId)) {
    return { revision: Number(revision), eventId }
  }
  throw new HoldfastError(ErrorCode.argumentsInvalid, {
    message: 'Last-Event-ID is no place in a history.',
  })
}

/** What a run's history is read from. */
export interface HistoryReading {
  readonly store: RunReader & Watcher
  readonly supervisor: Supervisor
  readonly sessionId: string
  readonly runId: string
  /** After which activity. Absent: from the beginning. */
  readonly after?: HistoryCursor
  readonly signal: AbortSignal
}

const pageActivities = 100

/**
 * The frames of a run's history: each activity once, in order, as they are journaled, and `[DONE]` when the run has ended and all was told.
 *
 * An event's id is a cursor: a client that comes back with it misses nothing and gets nothing twice.
 */
export async function* historyFrames(
  reading: HistoryReading,
): AsyncGenerator<string, void, undefined> {
  const { store, supervisor, sessionId, runId, signal } = reading
  let position: ActivityPageRequest =
    reading.after === undefined
      ? {}
      : { afterRevision: reading.after.revision, afterEventId: reading.after.eventId }
  for await (const _ of store.watch({ kind: 'run', sessionId, runId }, signal)) {
    // Read first: when it says that the run has ended, the history read after it is whole.
    const run = await store.run(sessionId, runId)
    let isPageFull: boolean
    do {
      const page = await supervisor.history(runId, { ...position, limit: pageActivities })
      isPageFull = page.nextRevision !== undefined
      position = positionAfter(page)
      if (page.activities.length > 0) yield page.activities.map(frameOf).join('')
    } while (isPageFull)
    if (run === undefined || isTerminal(run.record.status)) {
      yield doneFrame
      return
    }
  }
}

/** Where what this page did not tell begins. */
function positionAfter(page: ActivityPage): ActivityPageRequest {
  const { activities, nextRevision, nextEventId, tailRevision } = page
  if (nextRevision !== undefined) {
    return {
      afterRevision: nextRevision,
      ...(nextEventId === undefined ? {} : { afterEventId: nextEventId }),
    }
  }
  // A revision that came while the page was read may be in it and beyond the tail.
  return { afterRevision: Math.max(tailRevision, (activities.at(-1)?.revision ?? -1) + 1) }
}

function frameOf(activity: Activity): string {
  const { revision, eventId } = activity
  const frame = frameFromJson(JSON.stringify(activityJson(activity)))
  return `id: ${historyCursorText({ revision, eventId })}\n${frame}`
}
