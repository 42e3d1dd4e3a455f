// Which revisions of a journal a run still needs, so that a checkpoint can name them.
//
// Owns:  what is known of the entries of iterations that run, and of messages that nobody has taken.
// Never: grows with the number of iterations, or with that of steps outside of loops.
//
// G1. What a checkpoint names is enough to bring the definition to where it stands: every entry of an
//     operation outside of finished iterations, every message not taken by one, every loop's items.
import type { JournalEntry } from '@holdfast/workflow'
import { iterationsOf } from './loop-path.ts'

/** Revisions from the first through the last. */
export type Range = readonly [first: number, last: number]

const rangesKept = 64

interface Recorded {
  readonly revision: number
  readonly path: string
  /** A checkpoint of the loop at `path` without items is needed only until the next one. */
  readonly isBareCheckpoint: boolean
}

/** The needed revisions of one run. */
export class RevisionLedger {
  /** Needed for good. */
  #ranges: Range[] = []
  /** Needed while the iteration that they lie in runs. */
  #recorded: Recorded[] = []
  readonly #messages = new Map<string, number>()
  /** Messages that finished iterations took, while their revisions are still read. */
  readonly #taken = new Map<string, number>()

  /** An entry is, or will be, in this revision. */
  record(entry: JournalEntry, revision: number): void {
    if (entry.kind === 'message-arrived') {
      this.#messages.set(entry.messageId, revision)
      return
    }
    if (!isReadAgain(entry)) return
    const path = 'path' in entry ? entry.path : ''
    const isCheckpoint = entry.kind === 'loop-checkpoint'
    if (!isCheckpoint && iterationsOf(path).length === 0) {
      this.#keep(revision)
      return
    }
    const isBareCheckpoint = isCheckpoint && entry.items.length === 0
    this.#recorded.push({ revision, path, isBareCheckpoint })
  }

  /** A finished iteration took this message, as an earlier process knows; it is in this revision. */
  knownTaken(messageId: string, revision: number): void {
    this.#messages.delete(messageId)
    this.#taken.set(messageId, revision)
  }

  /** Code of the scope with this path took a message. */
  messageTaken(messageId: string, scopePath: string): void {
    const revision = this.#messages.get(messageId)
    if (revision === undefined) return
    this.#messages.delete(messageId)
    const path = `${scopePath}/${messageMark}${messageId}`
    if (iterationsOf(path).length === 0) this.#keep(revision)
    else this.#recorded.push({ revision, path, isBareCheckpoint: false })
  }

  /** An iteration of a loop is over: what it names, for the checkpoint that will be in `revision`. */
  checkpoint(
    loop: string,
    revision: number,
  ): { readonly keep: readonly Range[]; readonly taken: readonly string[] } {
    this.#finish(`${loop}:`, (recorded) => recorded.path === loop && recorded.isBareCheckpoint)
    const ranges = merged([
      ...this.#ranges,
      ...this.#recorded.map((recorded): Range => [recorded.revision, recorded.revision]),
      ...[...this.#messages.values()].map((needed): Range => [needed, needed]),
    ])
    const keep = ranges.flatMap(([first, last]): Range[] =>
      first >= revision ? [] : [[first, Math.min(last, revision - 1)]],
    )
    for (const [messageId, at] of this.#taken) {
      const isRead = at >= revision || keep.some(([first, last]) => first <= at && at <= last)
      if (!isRead) this.#taken.delete(messageId)
    }
    return { keep, taken: [...this.#taken.keys()] }
  }

  /** A loop has ended: nothing of its iterations is needed any more. Gives the messages that they took. */
  loopEnded(loop: string): readonly string[] {
    return this.#finish(`${loop}:`, (recorded) => recorded.path === loop)
  }

  #finish(prefix: string, also: (recorded: Recorded) => boolean): readonly string[] {
    const messageIds: string[] = []
    const needed: Recorded[] = []
    for (const recorded of this.#recorded) {
      if (recorded.path.startsWith(prefix)) {
        const [, messageId] = recorded.path.split(messageMark)
        if (messageId === undefined) continue
        messageIds.push(messageId)
        this.#taken.set(messageId, recorded.revision)
      } else if (!also(recorded)) needed.push(recorded)
    }
    this.#recorded = needed
    return messageIds
  }

  #keep(revision: number): void {
    const last = this.#ranges.at(-1)
    if (last !== undefined && revision >= last[0] && revision <= last[1] + 1) {
      this.#ranges[this.#ranges.length - 1] = [last[0], Math.max(last[1], revision)]
      return
    }
    this.#ranges.push([revision, revision])
    if (this.#ranges.length > rangesKept * 2) this.#ranges = [...merged(this.#ranges)]
  }
}

/** Whether a replay looks at an entry: what the row has, or only history shows, it does not. */
function isReadAgain({ kind }: JournalEntry): boolean {
  return kind !== 'run-interrupted' && kind !== 'progress-made' && kind !== 'artifact-added'
}

/** Stands before a message's id where a path would be: no key has it, for `:` is escaped in keys. */
const messageMark = 'message::'

/** The same revisions in at most 64 ranges; the smallest gaps are closed first. */
export function merged(ranges: readonly Range[]): readonly Range[] {
  const sorted = ranges.toSorted((left, right) => left[0] - right[0])
  const joined: [number, number][] = []
  for (const [first, last] of sorted) {
    const before = joined.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else joined.push([first, last])
  }
  if (joined.length <= rangesKept) return joined
  const gaps = joined.slice(1).map(([first], index) => first - (joined[index]?.[1] ?? 0))
  const widest = gaps.toSorted((left, right) => right - left).slice(0, rangesKept - 1)
  const limit = widest.at(-1) ?? 0
  let atLimit = widest.filter((gap) => gap === limit).length
  const result: [number, number][] = []
  for (const [index, [first, last]] of joined.entries()) {
    const gap = gaps[index - 1]
    const before = result.at(-1)
    const stays = gap !== undefined && (gap > limit || (gap === limit && atLimit-- > 0))
    if (before === undefined || stays) result.push([first, last])
    else before[1] = last
  }
  return result
}
