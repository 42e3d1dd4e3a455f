import {
  decodeRunRecord,
  ErrorCode,
  HoldfastError,
  inboxOf,
  Limits,
  parseStreamId,
} from '@holdfast/core'
import type {
  JournalRow,
  JsonObject,
  LogEntry,
  LogPage,
  Page,
  RunId,
  RunPageRequest,
  SessionId,
  StoredDocument,
  StoredRun,
  StreamChunk,
  StreamHead,
  StreamId,
  StreamPage,
} from '@holdfast/core'
import {
  bytesPerPage,
  documentAt,
  idempotencyKeyAt,
  logAt,
  logKeyAt,
  pageLimit,
  pageStart,
  runAt,
  streamAt,
} from '@holdfast/core/commit-rules'
import { inputAt } from './memory-tables.ts'
import type { MemoryTables } from './memory-tables.ts'

/** The most items of a page of journal, stream, log or documents. */
const itemsPerPage = 1_000

/** Reads of a memory database. Each answers with fresh copies. */
export class MemoryReads {
  readonly #tables: MemoryTables
  readonly #now: () => number

  constructor(tables: MemoryTables, now: () => number) {
    this.#tables = tables
    this.#now = now
  }

  run(sessionId: SessionId, runId: RunId): StoredRun | undefined {
    const at = runAt(sessionId, runId)
    const row = this.#tables.runs.get(at)
    const state = this.#tables.view.runs.get(at)
    if (row === undefined || state?.kind !== 'run') return undefined
    const record = decodeRunRecord(row.text)
    const head =
      state.headRevision === undefined
        ? undefined
        : this.#tables.journals.get(at)?.[state.headRevision]?.head
    const inbox = this.#tables.logs.get(logAt(sessionId, inboxOf(runId))) ?? []
    return {
      record,
      revision: row.revision,
      journalNext: state.journalNext,
      ...(head === undefined ? {} : { head: JSON.parse(head) as JsonObject }),
      inboxNext: inbox.length,
      unread: inbox.slice(record.inboxReadThrough).map(({ key }) => key),
    }
  }

  runs(sessionId: SessionId, request: RunPageRequest = {}): Page<StoredRun, RunId> {
    const { after, order = 'ascending', status, definition, parentRunId } = request
    const limit = pageLimit(request.limit ?? Limits.pageDefault, Limits.pageMax)
    const ascending = [...(this.#tables.runIds.get(sessionId) ?? [])].toSorted()
    const ids = order === 'ascending' ? ascending : ascending.toReversed()
    const items: StoredRun[] = []
    for (const id of ids) {
      if (after !== undefined && (order === 'ascending' ? id <= after : id >= after)) continue
      const run = this.run(sessionId, id)
      if (run === undefined) continue
      const { record } = run
      if (status !== undefined && !status.includes(record.status)) continue
      if (definition !== undefined && record.definition.name !== definition) continue
      if (parentRunId !== undefined && record.parentRunId !== parentRunId) continue
      if (items.length === limit) return pageOf(items, items.at(-1)?.record.id)
      items.push(run)
    }
    return { items }
  }

  runByIdempotencyKey(sessionId: SessionId, key: string): StoredRun | undefined {
    const runId = this.#tables.idempotencyKeys.get(idempotencyKeyAt(sessionId, key))
    return runId === undefined ? undefined : this.run(sessionId, runId)
  }

  input(sessionId: SessionId, digest: string): Uint8Array | undefined {
    return this.#tables.inputs.get(inputAt(sessionId, digest))?.slice()
  }

  blob(sessionId: SessionId, runId: RunId, digest: string): Uint8Array | undefined {
    return this.#tables.blobs.get(runAt(sessionId, runId))?.get(digest)?.slice()
  }

  journal(
    sessionId: SessionId,
    runId: RunId,
    request: { readonly from: number; readonly limit: number },
  ): readonly JournalRow[] {
    const from = pageStart(request.from)
    const limit = pageLimit(request.limit, itemsPerPage)
    const rows = this.#tables.journals.get(runAt(sessionId, runId)) ?? []
    return takeBytes(
      rows.slice(from, from + limit).map(({ data }, index) => ({ revision: from + index, data })),
      bytesPerPage.journal,
      ({ data }) => data.length,
    )
  }

  streamPage(
    sessionId: SessionId,
    streamId: StreamId,
    request: { readonly from: number; readonly limit: number },
  ): StreamPage | undefined {
    const from = pageStart(request.from)
    const limit = pageLimit(request.limit, itemsPerPage)
    const head = this.streamHead(sessionId, streamId)
    const parsed = parseStreamId(streamId)
    if (head === undefined || parsed === undefined) return undefined
    const rows = this.#tables.chunks.get(streamAt(sessionId, parsed.runId, parsed.number)) ?? []
    const chunks = takeBytes(
      rows.slice(from, from + limit).map((chunk): StreamChunk => ({ ...chunk })),
      bytesPerPage.stream,
      ({ data }) => data.length,
    )
    return { head, from, chunks }
  }

  streamHead(sessionId: SessionId, streamId: StreamId): StreamHead | undefined {
    const parsed = parseStreamId(streamId)
    if (parsed === undefined) return undefined
    if (this.#isPurged(runAt(sessionId, parsed.runId))) throw streamGone(streamId)
    const state = this.#tables.view.streams.get(streamAt(sessionId, parsed.runId, parsed.number))
    if (state === undefined) return undefined
    return { first: 0, next: state.next, ...(state.end === undefined ? {} : { end: state.end }) }
  }

  /** Whether a tombstone stands. One whose time has come is looked for only where there is one. */
  #isPurged(at: string): boolean {
    if (this.#tables.view.runs.get(at)?.kind !== 'purged') return false
    this.#tables.expire(this.#now())
    return this.#tables.view.runs.get(at)?.kind === 'purged'
  }

  logPage(
    sessionId: SessionId,
    log: string,
    request: { readonly from: number; readonly limit: number },
  ): LogPage {
    const from = pageStart(request.from)
    const limit = pageLimit(request.limit, itemsPerPage)
    const state = this.#tables.view.logs.get(logAt(sessionId, log))
    const rows = this.#tables.logs.get(logAt(sessionId, log)) ?? []
    const entries = takeBytes(
      rows.slice(from, from + limit).map((row, index) => ({ sequence: from + index, ...row })),
      bytesPerPage.log,
      ({ value }) => value.length,
    )
    return { entries, next: state?.next ?? 0, closed: state?.closed ?? false }
  }

  logEntry(sessionId: SessionId, log: string, key: string): LogEntry | undefined {
    const sequence = this.#tables.view.logKeys.get(logKeyAt(sessionId, log, key))
    if (sequence === undefined) return undefined
    const row = this.#tables.logs.get(logAt(sessionId, log))?.[sequence]
    return row === undefined ? undefined : { sequence, ...row }
  }

  document(sessionId: SessionId, collection: string, key: string): StoredDocument | undefined {
    const row = this.#tables.documents.get(documentAt(sessionId, collection, key))
    return row === undefined ? undefined : { key, ...row }
  }

  documents(
    sessionId: SessionId,
    collection: string,
    request: { readonly after?: string; readonly limit: number },
  ): Page<StoredDocument, string> {
    const limit = pageLimit(request.limit, itemsPerPage)
    const { after } = request
    const keys = [...(this.#tables.collections.get(logAt(sessionId, collection)) ?? [])]
      .filter((key) => after === undefined || byCodePoint(key, after) > 0)
      .toSorted(byCodePoint)
    const items = keys
      .slice(0, limit)
      .map((key) => this.document(sessionId, collection, key))
      .filter((document) => document !== undefined)
    return pageOf(items, keys.length > limit ? items.at(-1)?.key : undefined)
  }
}

function pageOf<Item, Cursor>(
  items: readonly Item[],
  next: Cursor | undefined,
): Page<Item, Cursor> {
  return { items, ...(next === undefined ? {} : { next }) }
}

/** The items whose sizes fit a page together; the first one always does. */
function takeBytes<Item>(
  items: readonly Item[],
  bytes: number,
  sizeOf: (item: Item) => number,
): readonly Item[] {
  let left = bytes
  for (const [index, item] of items.entries()) {
    left -= sizeOf(item)
    if (left < 0 && index > 0) return items.slice(0, index)
  }
  return items
}

/** The order of UTF-8 bytes, which databases use. */
function byCodePoint(left: string, right: string): number {
  const [a, b] = [[...left], [...right]]
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const difference = (a[index]?.codePointAt(0) ?? 0) - (b[index]?.codePointAt(0) ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

function streamGone(streamId: StreamId): HoldfastError {
  return new HoldfastError(ErrorCode.streamGone, {
    message: `Stream ${streamId} was purged.`,
    details: { stream_id: streamId },
  })
}
