// A run's journal, read and put in the form that an execution replays.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { Store } from '@holdfast/core'
import { decodeEntries } from '@holdfast/workflow'
import type { JournalEntry, JournalEntryOf } from '@holdfast/workflow'
import { isOpening, isSettling } from './operation.ts'
import type { Delivered } from './operation.ts'

const pageRevisions = 500

/** What a journal says. */
export interface LoadedJournal {
  readonly seed: JournalEntryOf<'run-seeded'>
  /** To be delivered, in order. */
  readonly settling: readonly Delivered[]
  /** To be found by the operations that are asked for, by path. */
  readonly opening: ReadonlyMap<string, readonly JournalEntry[]>
  readonly completedSteps: number
  readonly progress: JournalEntryOf<'progress-made'> | undefined
  readonly artifacts: ReadonlySet<string>
  /** Inbox entries below this have been journaled. */
  readonly inboxNext: number
  readonly cancel: JournalEntryOf<'cancel-requested'> | undefined
  readonly children: number
  /** Children that are not known to have ended. */
  readonly openChildren: readonly string[]
  readonly lastTime: number
  readonly interrupted: boolean
}

/** What is read of a run to replay it. */
export interface JournalSource {
  readonly sessionId: string
  readonly runId: string
  readonly inboxReadThrough: number
}

/**
 * Reads a run's journal.
 *
 * @throws `record_corrupt` when it does not begin with its seed or has a hole, `record_from_newer_version`
 */
export async function loadJournal(store: Store, source: JournalSource): Promise<LoadedJournal> {
  const reading = new JournalReading(source)
  let from = 0
  for (;;) {
    const rows = await store.journal(source.sessionId, source.runId, { from, limit: pageRevisions })
    if (rows.length === 0) break
    for (const row of rows) {
      if (row.revision !== from) throw corrupt(source.runId)
      const { entries, completedSteps } = decodeEntries(row)
      reading.add(entries, completedSteps, row.revision)
      from += 1
    }
  }
  return reading.finish()
}

/** The journal of a run that has only its seed. */
export function freshJournal(seed: JournalEntryOf<'run-seeded'>, source: JournalSource): LoadedJournal {
  const reading = new JournalReading(source)
  reading.add([seed], 0, 0)
  return reading.finish()
}

class JournalReading {
  readonly #source: JournalSource
  readonly #settling: Delivered[] = []
  readonly #opening = new Map<string, JournalEntry[]>()
  readonly #artifacts = new Set<string>()
  #seed: JournalEntryOf<'run-seeded'> | undefined
  #completedSteps = 0
  #progress: JournalEntryOf<'progress-made'> | undefined
  #inboxNext: number
  #cancel: JournalEntryOf<'cancel-requested'> | undefined
  #children = 0
  readonly #openChildren = new Set<string>()
  #lastTime = 0
  #interrupted = false

  constructor(source: JournalSource) {
    this.#source = source
    this.#inboxNext = source.inboxReadThrough
  }

  add(entries: readonly JournalEntry[], completedSteps: number, revision: number): void {
    this.#completedSteps = completedSteps
    for (const entry of entries) this.#addEntry(entry, revision)
  }

  finish(): LoadedJournal {
    if (this.#seed === undefined) throw corrupt(this.#source.runId)
    return {
      seed: this.#seed,
      settling: this.#settling,
      opening: this.#opening,
      completedSteps: this.#completedSteps,
      progress: this.#progress,
      artifacts: this.#artifacts,
      inboxNext: this.#inboxNext,
      cancel: this.#cancel,
      children: this.#children,
      openChildren: [...this.#openChildren],
      lastTime: this.#lastTime,
      interrupted: this.#interrupted,
    }
  }

  #addEntry(entry: JournalEntry, revision: number): void {
    this.#lastTime = Math.max(this.#lastTime, entry.at)
    // What a retried run brings from the failed one, in its revision 0, came by another inbox.
    if (revision > 0 && 'inbox' in entry && entry.inbox !== undefined) {
      this.#inboxNext = Math.max(this.#inboxNext, entry.inbox + 1)
    }
    if (isOpening(entry)) this.#open(entry.path, entry)
    if (isSettling(entry)) this.#settling.push({ entry })
    switch (entry.kind) {
      case 'run-seeded':
        this.#seed ??= entry
        break
      case 'progress-made':
        this.#progress = entry
        break
      case 'artifact-added':
        this.#artifacts.add(artifactKey(entry.artifact))
        break
      case 'cancel-requested':
        this.#cancel = entry
        break
      case 'child-started':
        this.#children += 1
        this.#openChildren.add(entry.runId)
        break
      case 'child-ended':
        this.#openChildren.delete(entry.runId)
        break
      case 'run-interrupted':
        this.#interrupted = true
        break
      default:
        break
    }
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

function corrupt(runId: string): HoldfastError {
  return new HoldfastError(ErrorCode.recordCorrupt, {
    message: 'The journal of a run is missing or damaged.',
    details: { run_id: runId },
  })
}
