import type { Store } from '@holdfast/core'
import type { CommitEffect, CommitView } from '@holdfast/core/commit-rules'
import { MemoryReads } from './memory-reads.ts'
import { MemoryTables } from './memory-tables.ts'

/** The reads of the port that rows answer by themselves. */
export type MemoryRead =
  | 'run'
  | 'runs'
  | 'runByIdempotencyKey'
  | 'input'
  | 'blob'
  | 'journal'
  | 'streamPage'
  | 'streamHead'
  | 'logPage'
  | 'logEntry'
  | 'document'
  | 'documents'

/**
 * Heads and rows of a database in memory, for stores that keep theirs elsewhere too
 * (docs/guides/stores.md). Whatever `apply` was told is read at once: a store whose reads show only
 * what is durable lets no read come between.
 */
export interface MemoryRows {
  /** What commits are judged against. Its sessions are the store's to set. */
  readonly view: CommitView
  /** Each read of the port, at once. */
  readonly reads: {
    readonly [Name in MemoryRead]: (
      ...request: Parameters<Store[Name]>
    ) => Awaited<ReturnType<Store[Name]>>
  }
  /** Makes one change that the rules have accepted. */
  apply(effect: CommitEffect, now: number): void
  /** Forgets tombstones and commit ids whose time has come. Call it before a commit is judged. */
  expire(now: number): void
}

/** Makes empty rows. Tombstones stay for `tombstoneMs`; `now` tells reads whether one still stands. */
export function createMemoryRows(options: {
  readonly tombstoneMs: number
  readonly now: () => number
}): MemoryRows {
  const tables = new MemoryTables(options.tombstoneMs)
  return {
    view: tables.view,
    reads: new MemoryReads(tables, options.now),
    apply: (effect, now) => tables.apply(effect, now),
    expire: (now) => tables.expire(now),
  }
}
