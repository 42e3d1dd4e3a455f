import type { JournalEntry, JournalEntryOf } from '@holdfast/workflow'
import { iterationsOf } from './loop-path.ts'

/** Which iterations are over, from the checkpoints and ends of loops. */
export class FinishedIterations {
  /** Loops that go on or have ended, with their checkpoints, oldest first. */
  readonly loops = new Map<string, JournalEntryOf<'loop-checkpoint'>[]>()
  readonly #newest = new Map<string, JournalEntryOf<'loop-checkpoint'>>()
  readonly #ended = new Set<string>()

  constructor(entries: readonly JournalEntry[]) {
    for (const entry of entries) {
      if (entry.kind === 'loop-checkpoint') this.#newest.set(entry.path, entry)
      if (entry.kind === 'loop-ended') this.#ended.add(entry.path)
    }
    for (const entry of entries) {
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
