import { ErrorCode, HoldfastError, parseStreamId } from '@holdfast/core'
import type { SessionId, StreamChunk, StreamHead, StreamId, StreamPage } from '@holdfast/core'
import { bytesPerPage, pageLimit, pageStart } from '@holdfast/core/commit-rules'
import { chunksOf, endOf, numberOf, optionalNumber } from './columns.ts'
import type { SqlRow } from './columns.ts'
import type { Database } from './database.ts'
import { hasZero, itemsPerPage, sessionKey } from './run-reads.ts'
import { sql } from './sql-text.ts'
import type { SqlText } from './sql-text.ts'

/** Reads of streams. A page and its head are of one snapshot, in one round trip. */
export class StreamReads {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async streamHead(sessionId: SessionId, streamId: StreamId): Promise<StreamHead | undefined> {
    const parsed = parseStreamId(streamId)
    if (parsed === undefined || hasZero([sessionId])) return undefined
    const { runId, number } = parsed
    const [row] = await this.#database.read(this.#headOf(sessionId, runId, number))
    return this.#head(streamId, row)
  }

  async streamPage(
    sessionId: SessionId,
    streamId: StreamId,
    request: { readonly from: number; readonly limit: number },
  ): Promise<StreamPage | undefined> {
    const from = pageStart(request.from)
    const limit = pageLimit(request.limit, itemsPerPage)
    const parsed = parseStreamId(streamId)
    if (parsed === undefined || hasZero([sessionId])) return undefined
    const { runId, number } = parsed
    const { schema } = this.#database
    const [heads, rows] = await this.#database.readAll(
      sql`${this.#headOf(sessionId, runId, number)};
        with stream as materialized (select key from ${schema}.stream
          where run = ${this.#runKey(sessionId, runId)} and number = ${number})
        select first, data, tags from (
          select p.first, p.data, p.tags, sum(case when p.next <= ${from} then 0
              else length(p.data) end) over (order by p.first) - length(p.data) as before
          from (
            select c.first, c.next, c.data, c.tags from stream join ${schema}.chunk c
              on c.stream = stream.key and c.first >= coalesce((select max(b.first)
                from ${schema}.chunk b where b.stream = stream.key and b.first <= ${from}), 0)
            where c.next > ${from} and c.first < ${from + limit}
            order by c.first limit ${limit}
          ) p
        ) w where before <= ${bytesPerPage.stream} order by first`,
    )
    const head = this.#head(streamId, heads?.[0])
    return head === undefined
      ? undefined
      : { head, from, chunks: chunksFrom(rows ?? [], from, limit) }
  }

  #head(streamId: StreamId, row: SqlRow | undefined): StreamHead | undefined {
    if (row?.['purged'] === true) throw streamGone(streamId)
    if (row?.['next'] === null || row === undefined) return undefined
    const end = endOf(row['ended'])
    return { first: 0, next: numberOf(row['next']), ...(end === undefined ? {} : { end }) }
  }

  /** One row, always: the head, or whether the run's tombstone stands. */
  #headOf(sessionId: SessionId, runId: string, number: number): SqlText {
    const { schema, settings } = this.#database
    const tombstonesFrom = settings.system.now() - settings.tombstoneMs
    return sql`select s.ended as ended,
        case when s.key is not null then coalesce((select c.next from ${schema}.chunk c
          where c.stream = s.key order by c.first desc limit 1), 0) end as next,
        s.key is null and exists (select 1 from ${schema}.tombstone t
          where t.session = ${sessionKey(this.#database, sessionId)} and t.run_id = ${runId}
            and t.purged_at >= ${tombstonesFrom}) as purged
      from (select 1) one left join ${schema}.stream s
        on s.run = ${this.#runKey(sessionId, runId)} and s.number = ${number}`
  }

  #runKey(sessionId: SessionId, runId: string): SqlText {
    return sql`(select key from ${this.#database.schema}.run
      where session = ${sessionKey(this.#database, sessionId)} and id = ${runId})`
  }
}

function chunksFrom(rows: readonly SqlRow[], from: number, limit: number): readonly StreamChunk[] {
  const chunks: StreamChunk[] = []
  let left = bytesPerPage.stream
  for (const row of rows) {
    const first = optionalNumber(row['first']) ?? 0
    for (const [index, chunk] of chunksOf(row).entries()) {
      if (first + index < from) continue
      left -= chunk.data.length
      if (chunks.length === limit || (left < 0 && chunks.length > 0)) return chunks
      chunks.push(chunk)
    }
  }
  return chunks
}

function streamGone(streamId: StreamId): HoldfastError {
  return new HoldfastError(ErrorCode.streamGone, {
    message: `Stream ${streamId} was purged.`,
    details: { stream_id: streamId },
  })
}
