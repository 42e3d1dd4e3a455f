import type { LogEntry, LogPage, Page, SessionId, StoredDocument } from '@holdfast/core'
import { bytesPerPage, pageLimit, pageStart } from '@holdfast/core/commit-rules'
import { numberOf, textOf } from './columns.ts'
import type { SqlRow } from './columns.ts'
import type { Database } from './database.ts'
import { hasZero, itemsPerPage, sessionKey } from './run-reads.ts'
import { sql } from './sql-text.ts'

/** Reads of logs and documents. */
export class RecordReads {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async logPage(
    sessionId: SessionId,
    log: string,
    request: { readonly from: number; readonly limit: number },
  ): Promise<LogPage> {
    const from = pageStart(request.from)
    const limit = pageLimit(request.limit, itemsPerPage)
    const empty = { entries: [], next: 0, closed: false }
    if (hasZero([sessionId, log])) return empty
    const { schema } = this.#database
    const session = sessionKey(this.#database, sessionId)
    const [heads, rows] = await this.#database.readAll(
      sql`select l.closed as closed, coalesce((select max(e.sequence) + 1 from ${schema}.log_entry e
            where e.log = l.key), 0) as next
          from ${schema}.log l where l.session = ${session} and l.name = ${log};
        select sequence, key, value from (
          select p.*, sum(length(p.value)) over (order by p.sequence) - length(p.value) as before
          from (select e.sequence, e.key, e.value from ${schema}.log_entry e
            where e.log = (select key from ${schema}.log where session = ${session} and name = ${log})
              and e.sequence >= ${from}
            order by e.sequence limit ${limit}) p
        ) w where before + length(value) <= ${bytesPerPage.log} or before = 0 order by sequence`,
    )
    const head = heads?.[0]
    if (head === undefined) return empty
    return {
      entries: (rows ?? []).map(entryOf),
      next: numberOf(head['next']),
      closed: head['closed'] === true,
    }
  }

  async logEntry(sessionId: SessionId, log: string, key: string): Promise<LogEntry | undefined> {
    if (hasZero([sessionId, log, key])) return undefined
    const { schema } = this.#database
    const [row] = await this.#database.read(
      sql`select sequence, key, value from ${schema}.log_entry where log =
          (select key from ${schema}.log where session = ${sessionKey(this.#database, sessionId)}
            and name = ${log})
        and key = ${key}`,
    )
    return row === undefined ? undefined : entryOf(row)
  }

  async document(
    sessionId: SessionId,
    collection: string,
    key: string,
  ): Promise<StoredDocument | undefined> {
    if (hasZero([sessionId, collection, key])) return undefined
    const [row] = await this.#database.read(
      sql`select key, revision, value from ${this.#database.schema}.document
        where session = ${sessionKey(this.#database, sessionId)} and collection = ${collection}
          and key = ${key} and value is not null`,
    )
    return row === undefined ? undefined : documentOf(row)
  }

  async documents(
    sessionId: SessionId,
    collection: string,
    request: { readonly after?: string; readonly limit: number },
  ): Promise<Page<StoredDocument, string>> {
    const limit = pageLimit(request.limit, itemsPerPage)
    const after = request.after ?? ''
    if (hasZero([sessionId, collection, after])) return { items: [] }
    const rows = await this.#database.read(
      sql`select key, revision, value from ${this.#database.schema}.document
        where session = ${sessionKey(this.#database, sessionId)} and collection = ${collection}
          and key > ${after} and value is not null order by key limit ${limit + 1}`,
    )
    const items = rows.slice(0, limit).map(documentOf)
    const last = rows.length > limit ? items.at(-1) : undefined
    return { items, ...(last === undefined ? {} : { next: last.key }) }
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
