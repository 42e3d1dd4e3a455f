import { decodeRunRecord, Limits } from '@holdfast/core'
import type {
  JournalRow,
  JsonObject,
  Page,
  RunId,
  RunPageRequest,
  RunStatus,
  SessionId,
  StoredRun,
} from '@holdfast/core'
import { bytesPerPage, pageLimit, pageStart } from '@holdfast/core/commit-rules'
import { bytesOf, listOf, numberOf, optionalText, statusNumber, textOf } from './columns.ts'
import type { SqlRow } from './columns.ts'
import type { Database } from './database.ts'
import { sql, trusted } from './sql-text.ts'
import type { SqlText } from './sql-text.ts'

/** The most items of a page of journal, stream, log or documents. */
export const itemsPerPage = 1_000

/** Reads of runs, their journals, inputs and blobs. Each is one statement. */
export class RunReads {
  readonly #database: Database
  readonly #storedRun: SqlText

  constructor(database: Database) {
    const { schema } = database
    this.#database = database
    this.#storedRun = sql`
      select r.id, r.revision, r.record, j.revision as journal_last, h.head,
        coalesce((select max(e.sequence) + 1 from ${schema}.log_entry e where e.log = g.key), 0)
          as inbox_next,
        (select json_agg(e.key order by e.sequence) from ${schema}.log_entry e
          where e.log = g.key and e.sequence >= r.inbox_read) as unread
      from ${schema}.run r
      left join lateral (select t.revision, t.head_revision from ${schema}.journal t
        where t.run = r.key order by t.revision desc limit 1) j on true
      left join ${schema}.journal h on h.run = r.key and h.revision = j.head_revision
      left join ${schema}.log g on g.session = r.session and g.name = 'inbox/' || r.id`
  }

  async run(sessionId: SessionId, runId: RunId): Promise<StoredRun | undefined> {
    return this.#one(sql`where r.session = ${this.#session(sessionId)} and r.id = ${runId}`, [
      sessionId,
      runId,
    ])
  }

  async runByIdempotencyKey(sessionId: SessionId, key: string): Promise<StoredRun | undefined> {
    const { schema } = this.#database
    return this.#one(
      sql`join ${schema}.idempotency i on i.session = r.session and i.run_id = r.id
        where i.session = ${this.#session(sessionId)} and i.key = ${key} and i.purged_at is null`,
      [sessionId, key],
    )
  }

  async runs(sessionId: SessionId, request: RunPageRequest = {}): Promise<Page<StoredRun, RunId>> {
    const { after, order = 'ascending', status, definition, parentRunId } = request
    const limit = pageLimit(request.limit ?? Limits.pageDefault, Limits.pageMax)
    if (hasZero([sessionId, after, definition, parentRunId])) return { items: [] }
    const where = [sql`r.session = ${this.#session(sessionId)}`]
    const up = order === 'ascending'
    if (after !== undefined) where.push(up ? sql`r.id > ${after}` : sql`r.id < ${after}`)
    if (definition !== undefined) where.push(sql`r.definition = ${definition}`)
    if (parentRunId !== undefined) where.push(sql`r.parent = ${parentRunId}`)
    if (status !== undefined) where.push(statusCondition(status))
    const rows = await this.#database.read(
      sql`${this.#storedRun} where ${trusted(where.map(({ text }) => text).join(' and '))}
        order by r.id ${trusted(up ? 'asc' : 'desc')} limit ${limit + 1}`,
    )
    const items = rows.slice(0, limit).map(runOf)
    const last = rows.length > limit ? items.at(-1) : undefined
    return { items, ...(last === undefined ? {} : { next: last.record.id }) }
  }

  async input(sessionId: SessionId, digest: string): Promise<Uint8Array | undefined> {
    const hex = digestOf(digest)
    if (hex === undefined || hasZero([sessionId])) return undefined
    const [row] = await this.#database.read(
      sql`select encode(bytes, 'base64') as bytes from ${this.#database.schema}.input
        where session = ${this.#session(sessionId)} and digest = ${hex}::bytea`,
    )
    return row === undefined ? undefined : bytesOf(row['bytes'])
  }

  async blob(sessionId: SessionId, runId: RunId, digest: string): Promise<Uint8Array | undefined> {
    const hex = digestOf(digest)
    if (hex === undefined || hasZero([sessionId, runId])) return undefined
    const [row] = await this.#database.read(
      sql`select encode(bytes, 'base64') as bytes from ${this.#database.schema}.blob
        where run = ${this.#runKey(sessionId, runId)} and digest = ${hex}::bytea`,
    )
    return row === undefined ? undefined : bytesOf(row['bytes'])
  }

  async journal(
    sessionId: SessionId,
    runId: RunId,
    request: { readonly from: number; readonly limit: number },
  ): Promise<readonly JournalRow[]> {
    const from = pageStart(request.from)
    const limit = pageLimit(request.limit, itemsPerPage)
    if (hasZero([sessionId, runId])) return []
    const rows = await this.#database.read(
      sql`select revision, data from (
          select p.revision, p.data,
            sum(length(p.data)) over (order by p.revision) - length(p.data) as before
          from (select j.revision, j.data from ${this.#database.schema}.journal j
            where j.run = ${this.#runKey(sessionId, runId)} and j.revision >= ${from}
            order by j.revision limit ${limit}) p
        ) w where before + length(data) <= ${bytesPerPage.journal} or before = 0 order by revision`,
    )
    return rows.map((row) => ({ revision: numberOf(row['revision']), data: textOf(row['data']) }))
  }

  async #one(condition: SqlText, given: readonly string[]): Promise<StoredRun | undefined> {
    if (hasZero(given)) return undefined
    const [row] = await this.#database.read(sql`${this.#storedRun} ${condition}`)
    return row === undefined ? undefined : runOf(row)
  }

  #session(sessionId: SessionId): SqlText {
    return sessionKey(this.#database, sessionId)
  }

  #runKey(sessionId: SessionId, runId: RunId): SqlText {
    return sql`(select key from ${this.#database.schema}.run
      where session = ${this.#session(sessionId)} and id = ${runId})`
  }
}

/** The key of a session, as a subquery. */
export function sessionKey({ schema }: Database, sessionId: SessionId): SqlText {
  return sql`(select key from ${schema}.session where id = ${sessionId})`
}

/** Whether a name holds what no name in a database does: it cannot be asked for, and is not there. */
export function hasZero(texts: readonly (string | undefined)[]): boolean {
  return texts.some((text) => text?.includes('\0') === true)
}

/** A digest as the server reads bytes; `undefined` for what is none. */
function digestOf(digest: string): string | undefined {
  return /^(?:[0-9a-f]{2})+$/.test(digest) ? `\\x${digest}` : undefined
}

/** Statuses are a closed set, so that they stand in the text; `status < 3` lets an index of them serve. */
function statusCondition(statuses: readonly RunStatus[]): SqlText {
  const numbers = statuses.map(statusNumber)
  if (numbers.length === 0) return sql`false`
  const active = numbers.every((number) => number < 3) ? 'r.status < 3 and ' : ''
  return trusted(`${active}r.status in (${[...new Set(numbers)].join(', ')})`)
}

function runOf(row: SqlRow): StoredRun {
  const head = optionalText(row['head'])
  const last = row['journal_last']
  const unread = row['unread']
  return {
    record: decodeRunRecord(textOf(row['record'])),
    revision: numberOf(row['revision']),
    journalNext: last === null ? 0 : numberOf(last) + 1,
    ...(head === undefined ? {} : { head: JSON.parse(head) as JsonObject }),
    inboxNext: numberOf(row['inbox_next']),
    unread: unread === null ? [] : listOf(unread).map(textOf),
  }
}
