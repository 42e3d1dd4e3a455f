import { inboxOf, parseStreamId } from '../ids.ts'
import type { RunId, SessionId, StreamId } from '../ids.ts'
import type { Commit, StoreWrite } from '../store.ts'
import {
  commitIdAt,
  documentAt,
  idempotencyKeyAt,
  logAt,
  logKeyAt,
  runAt,
  runOfInbox,
  streamAt,
} from './commit-view.ts'

/** A run to load: its row or tombstone, and its journal's head. */
export interface TouchedRun {
  readonly sessionId: SessionId
  readonly runId: RunId
}

/** A stream's head to load. */
export interface TouchedStream extends TouchedRun {
  readonly number: number
}

/** A log's head to load. */
export interface TouchedLog {
  readonly sessionId: SessionId
  readonly log: string
}

/** An entry's key to look up in a log. */
export interface TouchedLogKey extends TouchedLog {
  readonly key: string
}

/** A document's revision to load. */
export interface TouchedDocument {
  readonly sessionId: SessionId
  readonly collection: string
  readonly key: string
}

/** An idempotency key to look up. */
export interface TouchedKey {
  readonly sessionId: SessionId
  readonly key: string
}

/** A commit id to look up. */
export interface TouchedCommitId {
  readonly sessionId: SessionId
  readonly commitId: string
}

/** All that a store must load before it judges a group, by the key that it has in the view. */
export interface Touched {
  readonly sessions: ReadonlySet<SessionId>
  readonly runs: ReadonlyMap<string, TouchedRun>
  readonly streams: ReadonlyMap<string, TouchedStream>
  readonly logs: ReadonlyMap<string, TouchedLog>
  readonly logKeys: ReadonlyMap<string, TouchedLogKey>
  readonly documents: ReadonlyMap<string, TouchedDocument>
  readonly idempotencyKeys: ReadonlyMap<string, TouchedKey>
  readonly commitIds: ReadonlyMap<string, TouchedCommitId>
}

/**
 * Names everything that the rules of these commits read. In the order of arrival; a store that
 * locks rows sorts by key first.
 */
export function touchedBy(commits: readonly Commit[]): Touched {
  const touched = {
    sessions: new Set<SessionId>(),
    runs: new Map<string, TouchedRun>(),
    streams: new Map<string, TouchedStream>(),
    logs: new Map<string, TouchedLog>(),
    logKeys: new Map<string, TouchedLogKey>(),
    documents: new Map<string, TouchedDocument>(),
    idempotencyKeys: new Map<string, TouchedKey>(),
    commitIds: new Map<string, TouchedCommitId>(),
  }
  for (const { sessionId, commitId, writes } of commits) {
    touched.sessions.add(sessionId)
    if (commitId !== undefined) {
      touched.commitIds.set(commitIdAt(sessionId, commitId), { sessionId, commitId })
    }
    for (const write of writes) touch(sessionId, write)
  }
  return touched

  function touch(sessionId: SessionId, write: StoreWrite): void {
    switch (write.kind) {
      case 'input-put':
        return
      case 'blob-put':
      case 'journal-append':
        touchRun(sessionId, write.runId)
        return
      case 'run-create':
        touchRun(sessionId, write.record.id)
        touchLog(sessionId, inboxOf(write.record.id))
        if (write.idempotencyKey !== undefined) {
          const key = write.idempotencyKey
          touched.idempotencyKeys.set(idempotencyKeyAt(sessionId, key), { sessionId, key })
        }
        return
      case 'run-swap':
        touchRun(sessionId, write.record.id)
        touchLog(sessionId, inboxOf(write.record.id))
        return
      case 'run-purge':
        touchRun(sessionId, write.runId)
        return
      case 'stream-append':
      case 'stream-close':
        touchStream(sessionId, write.streamId)
        return
      case 'log-append': {
        const { log, key, guard } = write
        touchLog(sessionId, log)
        touched.logKeys.set(logKeyAt(sessionId, log, key), { sessionId, log, key })
        const runId = runOfInbox(log)
        if (runId !== undefined) touchRun(sessionId, runId)
        if (guard !== undefined) touchRun(sessionId, guard.runId)
        return
      }
      case 'log-close':
      case 'log-unchanged':
        touchLog(sessionId, write.log)
        return
      case 'document-put':
      case 'document-delete': {
        const { collection, key } = write
        touched.documents.set(documentAt(sessionId, collection, key), {
          sessionId,
          collection,
          key,
        })
        return
      }
    }
  }

  function touchRun(sessionId: SessionId, runId: RunId): void {
    const at = runAt(sessionId, runId)
    if (!touched.runs.has(at)) touched.runs.set(at, { sessionId, runId })
  }

  function touchStream(sessionId: SessionId, streamId: StreamId): void {
    const parsed = parseStreamId(streamId)
    if (parsed === undefined) return
    const { runId, number } = parsed
    touchRun(sessionId, runId)
    touched.streams.set(streamAt(sessionId, runId, number), { sessionId, runId, number })
  }

  function touchLog(sessionId: SessionId, log: string): void {
    const at = logAt(sessionId, log)
    if (!touched.logs.has(at)) touched.logs.set(at, { sessionId, log })
  }
}
