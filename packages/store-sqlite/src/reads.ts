// Reads, on a connection of their own, in the caller's thread (docs/decisions/0011).
//
// R1. Every read is one statement, or one short transaction: what it answers belongs together.
// R2. What it shows is durable: write-ahead logging makes a transaction visible after its sync.
import { decodeRunRecord, ErrorCode, HoldfastError, Limits, parseStreamId } from '@holdfast/core'
import type {
  JournalRow,
  JsonObject,
  LogEntry,
  LogPage,
  Page,
  RunId,
  RunPageRequest,
  RunStatus,
  SessionId,
  StoredDocument,
  StoredRun,
  StreamChunk,
  StreamHead,
  StreamId,
  StreamPage,
  WatchTopic,
} from '@holdfast/core'
import { bytesPerPage, pageLimit, pageStart } from '@holdfast/core/commit-rules'
import {
  bytesOf,
  chunksOf,
  digestBytes,
  endOf,
  numberOf,
  optionalNumber,
  statusNumber,
  textOf,
} from './columns.ts'
import type { SqlConnection, SqlRow, SqlStatement, SqlValue } from './driver.ts'

/** The most items of a page of journal, stream, log or documents. */
const itemsPerPage = 1_000

/** A run with what its heads say, as one row. `r` is the run. */
const storedRun = `
  select r.id as id, r.revision as revision, r.record as record,
    coalesce((select max(j.revision) + 1 from journal j where j.run = r.key), 0) as journal_next,
    (select h.head from journal h where h.run = r.key and h.revision = (
      select iif(typeof(l.head) = 'text', l.revision, l.head)
      from journal l where l.run = r.key order by l.revision desc limit 1)) as head,
    coalesce((select max(e.sequence) + 1 from log_entry e where e.log = g.key), 0) as inbox_next,
    (select json_group_array(u.key) from (
      select e.key as key from log_entry e where e.log = g.key and e.sequence >= r.inbox_read
      order by e.sequence) u) as unread
  from run r left join log g on g.session = r.session and g.name = 'inbox/' || r.id`

const sessionKey = '(select key from session where id = ?)'

// Statements of frequent reads are made once, as they are looked up by their text.
const runSql = `${storedRun} where r.session = ${sessionKey} and r.id = ?`
const runKeySql = `select key from run where session = ${sessionKey} and id = ?`
const journalSql =
  'select revision, data from journal where run = ? and revision >= ? order by revision limit ?'
const entriesSql =
  'select sequence, key, value from log_entry where log = ? and sequence >= ?' +
  ' order by sequence limit ?'
const documentSql =
  `select key, revision, value from document where session = ${sessionKey}` +
  ' and collection = ? and key = ? and value is not null'

/** How many rows of a page are read before their length is known. */
const firstPortion = 32

/** The reads of one connection. */
export class SqliteReads {
  readonly #connection: SqlConnection
  readonly #tombstonesFrom: () => number
  readonly #statements = new Map<string, SqlStatement>()

  constructor(connection: SqlConnection, tombstonesFrom: () => number) {
    this.#connection = connection
    this.#tombstonesFrom = tombstonesFrom
  }

  run(sessionId: SessionId, runId: RunId): StoredRun | undefined {
    const row = this.#get(runSql, [sessionId, runId])
    return row === undefined ? undefined : runOf(row)
  }

  runs(sessionId: SessionId, request: RunPageRequest = {}): Page<StoredRun, RunId> {
    const { after, order = 'ascending', status, definition, parentRunId } = request
    const limit = pageLimit(request.limit ?? Limits.pageDefault, Limits.pageMax)
    const where = [`r.session = ${sessionKey}`]
    const values: SqlValue[] = [sessionId]
    const demand = (condition: string, value: SqlValue): void => {
      where.push(condition)
      values.push(value)
    }
    if (after !== undefined) demand(order === 'ascending' ? 'r.id > ?' : 'r.id < ?', after)
    if (definition !== undefined) demand('r.definition = ?', definition)
    if (parentRunId !== undefined) demand('r.parent = ?', parentRunId)
    if (status !== undefined) where.push(statusCondition(status))
    const rows = this.#all(
      `${storedRun} where ${where.join(' and ')}` +
        ` order by r.id ${order === 'ascending' ? 'asc' : 'desc'} limit ?`,
      [...values, limit + 1],
    )
    const items = rows.slice(0, limit).map(runOf)
    const last = rows.length > limit ? items.at(-1) : undefined
    return { items, ...(last === undefined ? {} : { next: last.record.id }) }
  }

  runByIdempotencyKey(sessionId: SessionId, key: string): StoredRun | undefined {
    const row = this.#get(
      `${storedRun} where (r.session, r.id) = (select session, run_id from idempotency` +
        ` where session = ${sessionKey} and key = ? and purged_at is null)`,
      [sessionId, key],
    )
    return row === undefined ? undefined : runOf(row)
  }

  input(sessionId: SessionId, digest: string): Uint8Array | undefined {
    const row = this.#get(`select bytes from input where session = ${sessionKey} and digest = ?`, [
      sessionId,
      digestBytes(digest),
    ])
    return row === undefined ? undefined : bytesOf(row['bytes'])
  }

  blob(sessionId: SessionId, runId: RunId, digest: string): Uint8Array | undefined {
    const row = this.#get(
      `select bytes from blob where run = (select key from run where session = ${sessionKey}` +
        ' and id = ?) and digest = ?',
      [sessionId, runId, digestBytes(digest)],
    )
    return row === undefined ? undefined : bytesOf(row['bytes'])
  }

  journal(
    sessionId: SessionId,
    runId: RunId,
    request: { readonly from: number; readonly limit: number },
  ): readonly JournalRow[] {
    const from = pageStart(request.from)
    const limit = pageLimit(request.limit, itemsPerPage)
    return this.#together(() => {
      const run = optionalNumber(this.#get(runKeySql, [sessionId, runId])?.['key'])
      if (run === undefined) return []
      return this.#page(
        limit,
        bytesPerPage.journal,
        (last: JournalRow | undefined, count) =>
          this.#all(journalSql, [run, last === undefined ? from : last.revision + 1, count]),
        (row) => ({ revision: numberOf(row['revision']), data: textOf(row['data']) }),
        ({ data }) => data.length,
      )
    })
  }

  streamHead(sessionId: SessionId, streamId: StreamId): StreamHead | undefined {
    return this.#streamHead(sessionId, streamId)?.head
  }

  streamPage(
    sessionId: SessionId,
    streamId: StreamId,
    request: { readonly from: number; readonly limit: number },
  ): StreamPage | undefined {
    const from = pageStart(request.from)
    const limit = pageLimit(request.limit, itemsPerPage)
    return this.#together(() => {
      const stream = this.#streamHead(sessionId, streamId)
      if (stream === undefined) return undefined
      const { head, key } = stream
      return { head, from, chunks: from < head.next ? this.#chunks(key, from, limit) : [] }
    })
  }

  #chunks(stream: number, from: number, limit: number): readonly StreamChunk[] {
    const chunks: StreamChunk[] = []
    let left = bytesPerPage.stream
    for (const row of this.#iterate(
      'select first, data, tags from chunk where stream = ? and first >= coalesce(' +
        '(select max(first) from chunk where stream = ? and first <= ?), 0) order by first',
      [stream, stream, from],
    )) {
      const first = numberOf(row['first'])
      for (const [index, chunk] of chunksOf(row).entries()) {
        if (first + index < from) continue
        left -= chunk.data.length
        if (chunks.length === limit || (left < 0 && chunks.length > 0)) return chunks
        chunks.push(chunk)
      }
      if (chunks.length === limit) return chunks
    }
    return chunks
  }

  #streamHead(
    sessionId: SessionId,
    streamId: StreamId,
  ): { readonly key: number; readonly head: StreamHead } | undefined {
    const parsed = parseStreamId(streamId)
    if (parsed === undefined) return undefined
    const { runId, number } = parsed
    const row = this.#get(
      'select s.key as key, s.ended as ended, coalesce((select c.next from chunk c where' +
        ' c.stream = s.key order by c.first desc limit 1), 0) as next from stream s where s.run =' +
        ` (select key from run where session = ${sessionKey} and id = ?) and s.number = ?`,
      [sessionId, runId, number],
    )
    if (row === undefined) {
      this.#checkNotPurged(sessionId, runId, streamId)
      return undefined
    }
    const end = endOf(row['ended'])
    const head = { first: 0, next: numberOf(row['next']), ...(end === undefined ? {} : { end }) }
    return { key: numberOf(row['key']), head }
  }

  #checkNotPurged(sessionId: SessionId, runId: RunId, streamId: StreamId): void {
    const tombstone = this.#get(
      `select 1 from tombstone where session = ${sessionKey} and run_id = ? and purged_at >= ?`,
      [sessionId, runId, this.#tombstonesFrom()],
    )
    if (tombstone === undefined) return
    throw new HoldfastError(ErrorCode.streamGone, {
      message: `Stream ${streamId} was purged.`,
      details: { stream_id: streamId },
    })
  }

  logPage(
    sessionId: SessionId,
    name: string,
    request: { readonly from: number; readonly limit: number },
  ): LogPage {
    const from = pageStart(request.from)
    const limit = pageLimit(request.limit, itemsPerPage)
    return this.#together(() => {
      const head = this.#get(
        'select l.key as key, l.closed as closed, coalesce((select max(e.sequence) + 1 from' +
          ' log_entry e where e.log = l.key), 0) as next from log l' +
          ` where l.session = ${sessionKey} and l.name = ?`,
        [sessionId, name],
      )
      if (head === undefined) return { entries: [], next: 0, closed: false }
      const log = numberOf(head['key'])
      const entries = this.#page(
        limit,
        bytesPerPage.log,
        (last: LogEntry | undefined, count) =>
          this.#all(entriesSql, [log, last === undefined ? from : last.sequence + 1, count]),
        entryOf,
        ({ value }) => value.length,
      )
      return { entries, next: numberOf(head['next']), closed: head['closed'] === 1 }
    })
  }

  logEntry(sessionId: SessionId, log: string, key: string): LogEntry | undefined {
    const row = this.#get(
      'select sequence, key, value from log_entry where log = (select key from log where' +
        ` session = ${sessionKey} and name = ?) and key = ?`,
      [sessionId, log, key],
    )
    return row === undefined ? undefined : entryOf(row)
  }

  document(sessionId: SessionId, collection: string, key: string): StoredDocument | undefined {
    const row = this.#get(documentSql, [sessionId, collection, key])
    return row === undefined ? undefined : documentOf(row)
  }

  documents(
    sessionId: SessionId,
    collection: string,
    request: { readonly after?: string; readonly limit: number },
  ): Page<StoredDocument, string> {
    const limit = pageLimit(request.limit, itemsPerPage)
    const rows = this.#all(
      `select key, revision, value from document where session = ${sessionKey}` +
        ' and collection = ? and key > ? and value is not null order by key limit ?',
      [sessionId, collection, request.after ?? '', limit + 1],
    )
    const items = rows.slice(0, limit).map(documentOf)
    const last = rows.length > limit ? items.at(-1) : undefined
    return { items, ...(last === undefined ? {} : { next: last.key }) }
  }

  findWork(now: number, limit: number): readonly SessionId[] {
    const rows = this.#all(
      'select distinct s.id as id from (select session from run where ready = 1' +
        ' union all select session from run where wake_at <= ?) w' +
        ' join session s on s.key = w.session' +
        ' where s.owner is null or s.owner is not (select node from owner) limit ?',
      [now, pageLimit(limit, 1_000)],
    )
    return rows.map((row) => textOf(row['id']))
  }

  nextWake(): number | undefined {
    const row = this.#get(
      'select r.wake_at as wake_at from run r join session s on s.key = r.session' +
        ' where r.wake_at is not null and' +
        ' (s.owner is null or s.owner is not (select node from owner)) order by r.wake_at limit 1',
      [],
    )
    return optionalNumber(row?.['wake_at'])
  }

  /** A text that differs whenever what a topic tells of has changed, or `undefined` if only a read can tell. */
  stateOf(topic: WatchTopic): string | undefined {
    switch (topic.kind) {
      case 'work':
      case 'runs':
        return undefined
      case 'run': {
        const row = this.#get(
          'select r.revision as revision,' +
            ' (select max(j.revision) from journal j where j.run = r.key) as journal,' +
            ' (select max(e.sequence) from log_entry e where e.log = g.key) as inbox' +
            " from run r left join log g on g.session = r.session and g.name = 'inbox/' || r.id" +
            ` where r.session = ${sessionKey} and r.id = ?`,
          [topic.sessionId, topic.runId],
        )
        return JSON.stringify(row ?? null)
      }
      case 'stream':
        try {
          return JSON.stringify(this.streamHead(topic.sessionId, topic.streamId) ?? null)
        } catch {
          return 'gone'
        }
      case 'log': {
        const row = this.#get(
          'select l.closed as closed, (select max(e.sequence) from log_entry e' +
            ` where e.log = l.key) as last from log l where l.session = ${sessionKey} and l.name = ?`,
          [topic.sessionId, topic.log],
        )
        return JSON.stringify(row ?? null)
      }
    }
  }

  close(): void {
    this.#connection.close()
  }

  /**
   * Rows in portions, as an iterator takes twice as long a row: some first, then as many as those let
   * expect to fit.
   */
  #page<Item>(
    limit: number,
    bytes: number,
    read: (last: Item | undefined, count: number) => readonly SqlRow[],
    itemOf: (row: SqlRow) => Item,
    lengthOf: (item: Item) => number,
  ): readonly Item[] {
    const items: Item[] = []
    let length = 0
    for (let count = Math.min(limit, firstPortion); count > 0;) {
      const rows = read(items.at(-1), count)
      for (const row of rows) {
        const item = itemOf(row)
        length += lengthOf(item)
        if (length > bytes && items.length > 0) return items
        items.push(item)
      }
      if (rows.length < count || length >= bytes) break
      const fitting = Math.ceil(((bytes - length) * items.length) / Math.max(1, length))
      count = Math.min(limit - items.length, fitting)
    }
    return items
  }

  #together<Value>(read: () => Value): Value {
    this.#statement('begin').run()
    try {
      return read()
    } finally {
      this.#statement('commit').run()
    }
  }

  #get(sql: string, values: readonly SqlValue[]): SqlRow | undefined {
    return this.#statement(sql).get(...values)
  }

  #all(sql: string, values: readonly SqlValue[]): readonly SqlRow[] {
    return this.#statement(sql).all(...values)
  }

  #iterate(sql: string, values: readonly SqlValue[]): IterableIterator<SqlRow> {
    return this.#statement(sql).iterate(...values)
  }

  #statement(sql: string): SqlStatement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#connection.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

/** Statuses are a closed set, so that they stand in the text; `status < 3` lets an index of them serve. */
function statusCondition(statuses: readonly RunStatus[]): string {
  const numbers = statuses.map(statusNumber)
  const active = numbers.every((number) => number < 3) ? 'r.status < 3 and ' : ''
  return `${active}r.status in (${[...new Set(numbers)].join(', ')})`
}

function runOf(row: SqlRow): StoredRun {
  const head = row['head']
  return {
    record: decodeRunRecord(textOf(row['record'])),
    revision: numberOf(row['revision']),
    journalNext: numberOf(row['journal_next']),
    ...(typeof head === 'string' ? { head: JSON.parse(head) as JsonObject } : {}),
    inboxNext: numberOf(row['inbox_next']),
    unread: JSON.parse(textOf(row['unread'])) as readonly string[],
  }
}

function entryOf(row: SqlRow): LogEntry {
  return {
    sequence: numberOf(row['sequence']),
    key: textOf(row['key']),
    value: textOf(row['value']),
  }
}

function documentOf(row: SqlRow): StoredDocument {
  return {
    key: textOf(row['key']),
    revision: numberOf(row['revision']),
    value: textOf(row['value']),
  }
}
