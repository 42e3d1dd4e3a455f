// What a memory database holds: the heads that commits are judged against, and the rows behind them.
//
// Owns:  every row. Texts and bytes are its own copies; nothing that a caller holds is kept.
// Asks:  nothing.
// Never: judges, schedules or tells anybody.
import { encodeRunRecord, inboxOf } from '@holdfast/core'
import type { RunId, RunRecord, SessionId, StreamChunk } from '@holdfast/core'
import {
  commitIdAt,
  createCommitView,
  documentAt,
  idempotencyKeyAt,
  logAt,
  logKeyAt,
  runAt,
  streamAt,
} from '@holdfast/core/commit-rules'
import type { CommitEffect, CommitView } from '@holdfast/core/commit-rules'

/** A run's row as text, so that every read is a fresh copy. */
interface RunRow {
  readonly text: string
  readonly revision: number
}

interface JournalEntryRow {
  readonly data: string
  readonly head?: string
}

interface LogRow {
  readonly key: string
  readonly value: string
}

interface DocumentRow {
  readonly revision: number
  readonly value: string
}

/** What is left of something that was purged or seen, until its time has come. */
interface Expiry {
  readonly at: number
  readonly forget: () => void
}

/** How long a store remembers commit ids: far longer than any caller goes on repeating one. */
const commitIdMs = 60 * 60 * 1_000

/** The rows of one memory database. */
export class MemoryTables {
  /** The heads. The rules read and change it; {@link apply} changes the rows accordingly. */
  readonly view: CommitView = createCommitView()
  readonly runs = new Map<string, RunRow>()
  readonly journals = new Map<string, JournalEntryRow[]>()
  readonly chunks = new Map<string, StreamChunk[]>()
  readonly logs = new Map<string, LogRow[]>()
  readonly documents = new Map<string, DocumentRow>()
  readonly inputs = new Map<string, Uint8Array>()
  readonly blobs = new Map<string, Map<string, Uint8Array>>()
  readonly runIds = new Map<SessionId, Set<RunId>>()
  readonly idempotencyKeys = new Map<string, RunId>()
  readonly collections = new Map<string, Set<string>>()
  readonly #streamsOfRun = new Map<string, Set<number>>()
  readonly #expiries: Expiry[] = []
  readonly #tombstoneMs: number

  constructor(tombstoneMs: number) {
    this.#tombstoneMs = tombstoneMs
  }

  /** Forgets tombstones and commit ids whose time has come. */
  expire(now: number): void {
    while (this.#expiries.length > 0) {
      const due = this.#expiries.findIndex(({ at }) => at <= now)
      if (due === -1) return
      for (const expiry of this.#expiries.splice(due, 1)) expiry.forget()
    }
  }

  /** Makes one change that the rules have accepted. */
  apply(effect: CommitEffect, now: number): void {
    const { sessionId } = effect
    switch (effect.kind) {
      case 'session-insert':
        return
      // By digest: what is there already has these bytes.
      case 'input-put':
        setIn(this.inputs, inputAt(sessionId, effect.digest), () => effect.bytes.slice())
        return
      case 'blob-put': {
        const blobs = setIn(this.blobs, runAt(sessionId, effect.runId), () => new Map())
        setIn(blobs, effect.digest, () => effect.bytes.slice())
        return
      }
      case 'run-insert':
        setIn(this.runIds, sessionId, () => new Set()).add(effect.record.id)
        if (effect.idempotencyKey !== undefined) {
          const at = idempotencyKeyAt(sessionId, effect.idempotencyKey)
          this.idempotencyKeys.set(at, effect.record.id)
        }
        this.#writeRun(sessionId, effect.record, effect.revision)
        return
      case 'run-update':
        this.#writeRun(sessionId, effect.record, effect.revision)
        return
      case 'run-ready':
        return
      case 'run-remove':
        this.#removeRun(effect, now)
        return
      case 'journal-insert': {
        const { data, head } = effect
        const rows = setIn(this.journals, runAt(sessionId, effect.runId), () => [])
        rows.push({ data, ...(head === undefined ? {} : { head }) })
        return
      }
      case 'stream-insert':
        setIn(this.#streamsOfRun, runAt(sessionId, effect.runId), () => new Set()).add(
          effect.number,
        )
        this.chunks.set(streamAt(sessionId, effect.runId, effect.number), [])
        return
      case 'chunks-insert': {
        const rows = setIn(this.chunks, streamAt(sessionId, effect.runId, effect.number), () => [])
        for (const chunk of effect.chunks) rows.push({ ...chunk })
        return
      }
      case 'stream-end':
        return
      case 'log-insert':
        this.logs.set(logAt(sessionId, effect.log), [])
        return
      case 'log-entry-insert': {
        const { key, value } = effect
        setIn(this.logs, logAt(sessionId, effect.log), () => []).push({ key, value })
        return
      }
      case 'log-close':
        return
      case 'document-write': {
        const { collection, key, revision, value } = effect
        const at = documentAt(sessionId, collection, key)
        const keys = setIn(this.collections, logAt(sessionId, collection), () => new Set())
        if (value === undefined) {
          this.documents.delete(at)
          keys.delete(key)
        } else {
          this.documents.set(at, { revision, value })
          keys.add(key)
        }
        return
      }
      case 'commit-seen': {
        const at = commitIdAt(sessionId, effect.commitId)
        this.#expiries.push({
          at: now + commitIdMs,
          forget: () => this.view.commitIds.delete(at),
        })
        return
      }
    }
  }

  #writeRun(sessionId: SessionId, record: RunRecord, revision: number): void {
    const at = runAt(sessionId, record.id)
    const text = encodeRunRecord(record)
    this.runs.set(at, { text, revision })
    const state = this.view.runs.get(at)
    // The rules keep the caller's record, which the caller may change; the view keeps a copy.
    if (state?.kind === 'run') {
      this.view.runs.set(at, { ...state, record: () => JSON.parse(text) as RunRecord })
    }
  }

  #removeRun(effect: Extract<CommitEffect, { kind: 'run-remove' }>, now: number): void {
    const { sessionId, runId, inputDigest, idempotencyKey } = effect
    const at = runAt(sessionId, runId)
    this.runs.delete(at)
    this.journals.delete(at)
    this.blobs.delete(at)
    this.runIds.get(sessionId)?.delete(runId)
    for (const number of this.#streamsOfRun.get(at) ?? []) {
      this.chunks.delete(streamAt(sessionId, runId, number))
      this.view.streams.delete(streamAt(sessionId, runId, number))
    }
    this.#streamsOfRun.delete(at)
    const inbox = inboxOf(runId)
    for (const { key } of this.logs.get(logAt(sessionId, inbox)) ?? []) {
      this.view.logKeys.delete(logKeyAt(sessionId, inbox, key))
    }
    this.logs.delete(logAt(sessionId, inbox))
    this.view.logs.delete(logAt(sessionId, inbox))
    if (!this.#isInputUsed(sessionId, inputDigest)) {
      this.inputs.delete(inputAt(sessionId, inputDigest))
    }
    const keyAt =
      idempotencyKey === undefined ? undefined : idempotencyKeyAt(sessionId, idempotencyKey)
    if (keyAt !== undefined) this.idempotencyKeys.delete(keyAt)
    this.#expiries.push({
      at: now + this.#tombstoneMs,
      forget: () => {
        this.view.runs.delete(at)
        if (keyAt !== undefined) this.view.idempotencyKeys.delete(keyAt)
      },
    })
  }

  #isInputUsed(sessionId: SessionId, digest: string): boolean {
    for (const runId of this.runIds.get(sessionId) ?? []) {
      const state = this.view.runs.get(runAt(sessionId, runId))
      if (state?.kind === 'run' && state.record().input.digest === digest) return true
    }
    return false
  }
}

/** An input's key. */
export function inputAt(sessionId: SessionId, digest: string): string {
  return `${sessionId}/${digest}`
}

function setIn<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
