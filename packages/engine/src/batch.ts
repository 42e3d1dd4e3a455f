// What shares one commit of a run.
import type { StoreWrite } from '@holdfast/core'
import type { JournalEntry } from '@holdfast/workflow'
import type { Delivered } from './operation.ts'
import type { Move } from './run-moves.ts'

/** What goes with an entry. */
export interface EntryExtras {
  /** Its decoded value, if it settles something. */
  readonly value?: Delivered['value']
  readonly before?: readonly StoreWrite[]
  readonly after?: readonly StoreWrite[]
  readonly move?: Move
  /** Queued chunks must be stored in the same commit, or before. */
  readonly carriesChunks?: boolean
  /** It can wait until the run has come to rest, or something else is committed. */
  readonly canWait?: boolean
  /** Gives the entry as it is written in this revision: what it says depends on where it stands. */
  readonly complete?: (revision: number) => JournalEntry
  /** Called once it is durable. */
  readonly committed?: () => void
  /** Called when the writer is stopped before it has told that it is durable. */
  readonly dropped?: () => void
}

/** Entries and row changes that wait for the next commit. */
export interface Batch {
  readonly entries: Delivered[]
  readonly completions: Map<JournalEntry, (revision: number) => JournalEntry>
  readonly moves: Move[]
  readonly before: StoreWrite[]
  readonly after: StoreWrite[]
  readonly committed: (() => void)[]
  readonly dropped: (() => void)[]
  carriesChunks: boolean
  urgent: boolean
  showsHead: boolean
}

/** A batch takes an entry with what goes with it. */
export function addTo(batch: Batch, entry: JournalEntry, extras: EntryExtras): void {
  if (extras.complete !== undefined) batch.completions.set(entry, extras.complete)
  batch.entries.push(extras.value === undefined ? { entry } : { entry, value: extras.value })
  if (entry.kind === 'step-completed' || entry.kind === 'progress-made') batch.showsHead = true
  if (extras.before !== undefined) batch.before.push(...extras.before)
  if (extras.after !== undefined) batch.after.push(...extras.after)
  if (extras.move !== undefined) batch.moves.push(extras.move)
  if (extras.committed !== undefined) batch.committed.push(extras.committed)
  if (extras.dropped !== undefined) batch.dropped.push(extras.dropped)
  if (extras.carriesChunks === true) batch.carriesChunks = true
}

/** A batch with nothing in it. */
export function emptyBatch(): Batch {
  return {
    entries: [],
    completions: new Map(),
    moves: [],
    before: [],
    after: [],
    committed: [],
    dropped: [],
    carriesChunks: false,
    urgent: false,
    showsHead: false,
  }
}

/** Whether nothing waits to be written. */
export function isEmpty(batch: Batch): boolean {
  return batch.entries.length === 0 && batch.moves.length === 0 && batch.after.length === 0
}

/** Two batches as one, in their order. */
export function merged(first: Batch, second: Batch): Batch {
  return {
    entries: [...first.entries, ...second.entries],
    completions: new Map([...first.completions, ...second.completions]),
    moves: [...first.moves, ...second.moves],
    before: [...first.before, ...second.before],
    after: [...first.after, ...second.after],
    committed: [...first.committed, ...second.committed],
    dropped: [...first.dropped, ...second.dropped],
    carriesChunks: first.carriesChunks || second.carriesChunks,
    urgent: first.urgent || second.urgent,
    showsHead: first.showsHead || second.showsHead,
  }
}

/** Whether an entry shows that the run has gone on. A message alone changes nothing. */
export function rouses(entry: JournalEntry): boolean {
  return entry.kind !== 'message-arrived' && entry.kind !== 'progress-made'
}
