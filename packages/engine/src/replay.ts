// A run's journal, read and put in the form that an execution replays.
//
// Only what is still needed is read: the revisions that the newest checkpoint names, and those after it.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { JsonValue, Store } from '@holdfast/core'
import { decodeEntries } from '@holdfast/workflow'
import type { JournalEntry, JournalEntryOf, JournalRevision } from '@holdfast/workflow'
import { iterationsOf } from './loop-path.ts'
import { isOpening, isSettling } from './operation.ts'
import type { Delivered } from './operation.ts'
import { RevisionLedger } from './revision-ledger.ts'
import type { Range } from './revision-ledger.ts'
import { decodeValue } from './stored-values.ts'

const pageRevisions = 500

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
}

/** What is read of a run to replay it. */
export interface JournalSource {
  readonly sessionId: string
  readonly runId: string
  readonly inboxReadThrough: number
  /** The revision of the newest checkpoint. */
  readonly checkpoint?: number
}

/**
 * Reads as much of a run's journal as its replay needs.
 *
 * @throws `record_corrupt` when it does not begin with its seed or has a hole, `record_from_newer_version`
 */
export async function loadJournal(
  store: Pick<Store, 'journal' | 'blob'>,
  source: JournalSource,
): Promise<LoadedJournal> {
  const reader = new RevisionReader(store, source)
  const { checkpoint } = source
  if (checkpoint === undefined) return journalOf(store, source, await reader.from(0))
  const after = await reader.from(checkpoint)
  const newest = after[0]?.entries.findLast((entry) => entry.kind === 'loop-checkpoint')
  if (newest === undefined) throw corrupt(source.runId)
  const before: JournalRevision[] = []
  for (const range of newest.keep) before.push(...(await reader.range(rangeOf(range))))
  return journalOf(store, source, [...before, ...after], newest.taken)
}

/** The journal of a run that has only its seed. */
export function freshJournal(
  seed: JournalEntryOf<'run-seeded'>,
  source: JournalSource,
): LoadedJournal {
  const sorted = new SortedEntries(source, new FinishedIterations([]), new Set())
  sorted.add({ revision: 0, completedSteps: 0, entries: [seed] })
  return sorted.finish(new Map())
}

class RevisionReader {
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

async function journalOf(
  store: Pick<Store, 'blob'>,
  source: JournalSource,
  revisions: readonly JournalRevision[],
  takenBefore: readonly string[] = [],
): Promise<LoadedJournal> {
  const finished = new FinishedIterations(revisions)
  const taken = new Set(takenBefore)
  for (const entry of revisions.flatMap(({ entries }) => entries)) {
    if (entry.kind === 'loop-ended') for (const messageId of entry.taken ?? []) taken.add(messageId)
  }
  const sorted = new SortedEntries(source, finished, taken)
  for (const revision of revisions) sorted.add(revision)
  const loops = new Map<string, { readonly items: readonly JsonValue[] }>()
  for (const [path, checkpoints] of finished.loops) {
    const items: JsonValue[] = []
    for (const stored of checkpoints.flatMap((checkpoint) => checkpoint.items)) {
      items.push((await decodeValue(store, source, stored)) ?? null)
    }
    loops.set(path, { items })
  }
  return sorted.finish(loops)
}

/** Which iterations are over, from the checkpoints and ends of loops. */
class FinishedIterations {
  /** Loops that go on or have ended, with their checkpoints, oldest first. */
  readonly loops = new Map<string, JournalEntryOf<'loop-checkpoint'>[]>()
  readonly #newest = new Map<string, JournalEntryOf<'loop-checkpoint'>>()
  readonly #ended = new Set<string>()

  constructor(revisions: readonly JournalRevision[]) {
    for (const entry of revisions.flatMap(({ entries }) => entries)) {
      if (entry.kind === 'loop-checkpoint') this.#newest.set(entry.path, entry)
      if (entry.kind === 'loop-ended') this.#ended.add(entry.path)
    }
    for (const entry of revisions.flatMap(({ entries }) => entries)) {
      if (entry.kind !== 'loop-checkpoint' && entry.kind !== 'loop-ended') continue
      if (this.isOver(entry.path)) continue
      const checkpoints = this.loops.get(entry.path) ?? []
      if (entry.kind === 'loop-checkpoint' && !this.#ended.has(entry.path)) checkpoints.push(entry)
      this.loops.set(entry.path, checkpoints)
    }
  }

  /** Whether an operation lies in an iteration that is over. */
  isOver(path: string): boolean {
    return iterationsOf(path).some(
      ({ loop, number }) =>
        this.#ended.has(loop) || number <= (this.#newest.get(loop)?.iteration ?? -1),
    )
  }

  /** Whether a loop's entry is the one that is delivered: the end, else the newest checkpoint. */
  isDelivered(entry: JournalEntryOf<'loop-checkpoint'> | JournalEntryOf<'loop-ended'>): boolean {
    if (entry.kind === 'loop-ended') return true
    return !this.#ended.has(entry.path) && this.#newest.get(entry.path) === entry
  }
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

  add({ entries, completedSteps, revision }: JournalRevision): void {
    this.#completedSteps = completedSteps
    for (const entry of entries) this.#addEntry(entry, revision)
  }

  finish(loops: LoadedJournal['loops']): LoadedJournal {
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
    }
  }

  #addEntry(entry: JournalEntry, revision: number): void {
    this.#lastTime = Math.max(this.#lastTime, entry.at)
    // What a retried run brings from the failed one, in its revision 0, came by another inbox.
    if (revision > 0 && 'inbox' in entry && entry.inbox !== undefined) {
      this.#inboxNext = Math.max(this.#inboxNext, entry.inbox + 1)
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

function corrupt(runId: string): HoldfastError {
  return new HoldfastError(ErrorCode.recordCorrupt, {
    message: 'The journal of a run is missing or damaged.',
    details: { run_id: runId },
  })
}
