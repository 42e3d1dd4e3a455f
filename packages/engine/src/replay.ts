// A run's journal, read and put in the form that an execution replays.
//
// Only what is still needed is read: the revisions that the newest checkpoint names, and those after it.
import type { JsonValue, Store } from '@holdfast/core'
import type { JournalEntry, JournalEntryOf, JournalRevision } from '@holdfast/workflow'
import { FinishedIterations } from './finished-iterations.ts'
import { corrupt, RevisionReader } from './journal-reader.ts'
import type { JournalSource } from './journal-reader.ts'
import { newestNames } from './migration.ts'
import type { Migration, NamedEntry, NamedRevision } from './migration.ts'
import { isOpening, isSettling } from './operation.ts'
import type { Delivered } from './operation.ts'
import { RevisionLedger } from './revision-ledger.ts'
import type { Range } from './revision-ledger.ts'
import { decodeValue } from './stored-values.ts'

/** What a journal says. */
export interface LoadedJournal {
  readonly seed: JournalEntryOf<'run-seeded'>
  /** To be delivered, in order. */
  readonly settling: readonly Delivered[]
  /** To be found by the operations that are asked for, by path. */
  readonly opening: ReadonlyMap<string, readonly JournalEntry[]>
  /** Loops that go on after an iteration, or have ended, with the items that they have appended. */
  readonly loops: ReadonlyMap<string, { readonly items: readonly JsonValue[] }>
  readonly ledger: RevisionLedger
  readonly completedSteps: number
  readonly progress: JournalEntryOf<'progress-made'> | undefined
  /** Inbox entries below this have been journaled. */
  readonly inboxNext: number
  readonly cancel: JournalEntryOf<'cancel-requested'> | undefined
  /** Answers that came after their iteration was over. */
  readonly superseded: readonly string[]
  /** Children that are not known to have ended. */
  readonly openChildren: readonly string[]
  readonly lastTime: number
  /** All that change names in it, oldest first, the one that is about to be made included. */
  readonly migrations: readonly Migration[]
  /** To be made once the code is known to fit. */
  readonly pending: PendingMigration | undefined
}

/** A migration that is not journaled yet, and what it leaves behind. */
export interface PendingMigration {
  readonly migration: Migration
  /** Open questions of operations that are no more. */
  readonly interrupts: readonly { readonly interruptId: string; readonly path: string }[]
  /** Children of operations that are no more. */
  readonly children: readonly string[]
}

/**
 * Reads as much of a run's journal as its replay needs.
 *
 * @throws `record_corrupt` when it does not begin with its seed or has a hole, `record_from_newer_version`,
 * `determinism` when the migration does not fit
 */
export async function loadJournal(
  store: Pick<Store, 'journal' | 'blob'>,
  source: JournalSource,
  pending?: Migration,
): Promise<LoadedJournal> {
  const reader = new RevisionReader(store, source)
  const { checkpoint } = source
  if (checkpoint === undefined) return journalOf(store, source, await reader.from(0), { pending })
  const after = await reader.from(checkpoint)
  const newest = after[0]?.entries.findLast((entry) => entry.kind === 'loop-checkpoint')
  if (newest === undefined) throw corrupt(source.runId)
  const before: JournalRevision[] = []
  for (const range of newest.keep) before.push(...(await reader.range(rangeOf(range))))
  const { taken } = newest
  return journalOf(store, source, [...before, ...after], { pending, taken })
}

/** The journal of a run that has only its seed. */
export function freshJournal(
  seed: JournalEntryOf<'run-seeded'>,
  source: JournalSource,
): LoadedJournal {
  const sorted = new SortedEntries(source, new FinishedIterations([]), new Set())
  sorted.add({ revision: 0, completedSteps: 0, entries: [{ entry: seed }] })
  return sorted.finish(new Map(), [], undefined)
}

async function journalOf(
  store: Pick<Store, 'blob'>,
  source: JournalSource,
  revisions: readonly JournalRevision[],
  more: { readonly pending: Migration | undefined; readonly taken?: readonly string[] | undefined },
): Promise<LoadedJournal> {
  const named = newestNames(revisions, more.pending)
  const live = named.revisions.flatMap(({ entries }) =>
    entries.flatMap(({ entry, retired }) => (retired === undefined ? [entry] : [])),
  )
  const finished = new FinishedIterations(live)
  const taken = new Set(more.taken)
  for (const entry of live) {
    if (entry.kind === 'loop-ended') for (const messageId of entry.taken ?? []) taken.add(messageId)
  }
  const sorted = new SortedEntries(source, finished, taken)
  for (const revision of named.revisions) sorted.add(revision)
  const loops = new Map<string, { readonly items: readonly JsonValue[] }>()
  for (const [path, checkpoints] of finished.loops) {
    const items: JsonValue[] = []
    for (const stored of checkpoints.flatMap((checkpoint) => checkpoint.items)) {
      items.push((await decodeValue(store, source, stored)) ?? null)
    }
    loops.set(path, { items })
  }
  return sorted.finish(loops, named.migrations, more.pending)
}

class SortedEntries {
  readonly #source: JournalSource
  readonly #finished: FinishedIterations
  readonly #taken: ReadonlySet<string>
  readonly #ledger = new RevisionLedger()
  readonly #settling: Delivered[] = []
  readonly #opening = new Map<string, JournalEntry[]>()
  readonly #superseded: string[] = []
  readonly #openChildren = new Set<string>()
  readonly #leftInterrupts = new Map<string, string>()
  readonly #leftChildren = new Set<string>()
  #seed: JournalEntryOf<'run-seeded'> | undefined
  #completedSteps = 0
  #progress: JournalEntryOf<'progress-made'> | undefined
  #inboxNext: number
  #cancel: JournalEntryOf<'cancel-requested'> | undefined
  #lastTime = 0

  constructor(source: JournalSource, finished: FinishedIterations, taken: ReadonlySet<string>) {
    this.#source = source
    this.#finished = finished
    this.#taken = taken
    this.#inboxNext = source.inboxReadThrough
  }

  add({ entries, completedSteps, revision }: NamedRevision): void {
    this.#completedSteps = completedSteps
    for (const entry of entries) this.#addEntry(entry, revision)
  }

  finish(
    loops: LoadedJournal['loops'],
    migrations: readonly Migration[],
    migration: Migration | undefined,
  ): LoadedJournal {
    if (this.#seed === undefined) throw corrupt(this.#source.runId)
    return {
      seed: this.#seed,
      settling: this.#settling,
      opening: this.#opening,
      loops,
      ledger: this.#ledger,
      completedSteps: this.#completedSteps,
      progress: this.#progress,
      inboxNext: this.#inboxNext,
      cancel: this.#cancel,
      superseded: this.#superseded,
      openChildren: [...this.#openChildren],
      lastTime: this.#lastTime,
      migrations,
      pending:
        migration === undefined
          ? undefined
          : {
              migration,
              interrupts: [...this.#leftInterrupts].map(([interruptId, path]) => ({
                interruptId,
                path,
              })),
              children: [...this.#leftChildren],
            },
    }
  }

  #addEntry({ entry, retired }: NamedEntry, revision: number): void {
    this.#lastTime = Math.max(this.#lastTime, entry.at)
    // What a retried run brings from the failed one, in its revision 0, came by another inbox.
    if (revision > 0 && 'inbox' in entry && entry.inbox !== undefined) {
      this.#inboxNext = Math.max(this.#inboxNext, entry.inbox + 1)
    }
    if (retired !== undefined) {
      if (retired === 'now') this.#leave(entry)
      return
    }
    if (this.#isPast(entry, revision)) return
    this.#ledger.record(entry, revision)
    if (isOpening(entry)) this.#open(entry.path, entry)
    const isOlderCheckpoint = entry.kind === 'loop-checkpoint' && !this.#finished.isDelivered(entry)
    if (isSettling(entry) && !isOlderCheckpoint) this.#settling.push({ entry })
    switch (entry.kind) {
      case 'run-seeded':
        this.#seed ??= entry
        break
      case 'progress-made':
        this.#progress = entry
        break
      case 'cancel-requested':
        this.#cancel = entry
        break
      case 'child-started':
        this.#openChildren.add(entry.runId)
        break
      case 'child-ended':
        this.#openChildren.delete(entry.runId)
        break
      default:
        break
    }
  }

  /** What an operation that is no more has left open. */
  #leave(entry: JournalEntry): void {
    switch (entry.kind) {
      case 'interrupt-opened':
        this.#leftInterrupts.set(entry.interruptId, entry.path)
        break
      case 'interrupt-answered':
      case 'interrupt-withdrawn':
        this.#leftInterrupts.delete(entry.interruptId)
        break
      case 'child-started':
        this.#leftChildren.add(entry.runId)
        break
      case 'child-ended':
        this.#leftChildren.delete(entry.runId)
        break
      default:
        break
    }
  }

  /** Whether an entry is of an iteration that is over, and so not replayed. */
  #isPast(entry: JournalEntry, revision: number): boolean {
    if (entry.kind === 'message-arrived' && this.#taken.has(entry.messageId)) {
      this.#ledger.knownTaken(entry.messageId, revision)
      return true
    }
    if (!('path' in entry) || !this.#finished.isOver(entry.path)) return false
    if (entry.kind === 'interrupt-answered' && revision > (this.#source.checkpoint ?? Infinity)) {
      this.#superseded.push(entry.interruptId)
    }
    return true
  }

  #open(path: string, entry: JournalEntry): void {
    const known = this.#opening.get(path)
    if (known === undefined) this.#opening.set(path, [entry])
    else known.push(entry)
  }
}

/** What makes an artifact the same again. */
export function artifactKey(artifact: { readonly id: string; readonly digest: string }): string {
  return `${artifact.id} ${artifact.digest}`
}

function rangeOf([first, last]: readonly number[]): Range {
  return [first ?? 0, last ?? 0]
}
