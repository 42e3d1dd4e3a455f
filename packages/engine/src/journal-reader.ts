// Reads a run's journal, page by page, and notices what is missing.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { Store } from '@holdfast/core'
import { decodeEntries } from '@holdfast/workflow'
import type { JournalRevision } from '@holdfast/workflow'
import type { Range } from './revision-ledger.ts'

const pageRevisions = 500

/** What is read of a run to replay it. */
export interface JournalSource {
  readonly sessionId: string
  readonly runId: string
  readonly inboxReadThrough: number
  /** The revision of the newest checkpoint. */
  readonly checkpoint?: number
}

/** The revisions of one journal. */
export class RevisionReader {
  readonly #store: Pick<Store, 'journal'>
  readonly #source: JournalSource

  constructor(store: Pick<Store, 'journal'>, source: JournalSource) {
    this.#store = store
    this.#source = source
  }

  /** All revisions from one on. */
  async from(first: number): Promise<readonly JournalRevision[]> {
    return this.#read(first, Number.MAX_SAFE_INTEGER)
  }

  async range([first, last]: Range): Promise<readonly JournalRevision[]> {
    const found = await this.#read(first, last)
    if (found.length !== last - first + 1) throw corrupt(this.#source.runId)
    return found
  }

  async #read(first: number, last: number): Promise<readonly JournalRevision[]> {
    const { sessionId, runId } = this.#source
    const found: JournalRevision[] = []
    let from = first
    while (from <= last) {
      const limit = Math.min(pageRevisions, last - from + 1)
      const rows = await this.#store.journal(sessionId, runId, { from, limit })
      if (rows.length === 0) break
      for (const row of rows) {
        if (row.revision !== from) throw corrupt(runId)
        found.push(decodeEntries(row))
        from += 1
      }
    }
    return found
  }
}

/** The journal is not whole. */
export function corrupt(runId: string): HoldfastError {
  return new HoldfastError(ErrorCode.recordCorrupt, {
    message: 'The journal of a run is missing or damaged.',
    details: { run_id: runId },
  })
}
