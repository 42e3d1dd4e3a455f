// Turns what is asked for into groups.
//
// Owns:  what waits to be written, what is being written, chunks that are held.
// Asks:  the system for the moment of writing and for the hold.
// Never: looks at what a commit means.
//
// K1. What arrives while groups are being written goes into the next one: one flush for all.
// K2. Several groups are written at once, of disjoint sessions: a session's commits keep their order.
// K3. Beyond a group's bounds, chunks wait and steps go first; behind one of its session that found
//     no room, a commit waits too.
// K4. Chunks are held for at most `chunkHoldMs`, and go along with the first commit that is not.
import { ErrorCode, HoldfastError, Limits } from '@holdfast/core'
import type { Commit, SessionId, System } from '@holdfast/core'
import type { CommitOutcome } from './group-transaction.ts'

/** How many commits, and about how many characters, one transaction takes. */
export const groupBounds = { commits: 1_000, length: 8 * 1024 * 1024 }

/** A commit that waits. */
export interface WaitingCommit {
  readonly commit: Commit
  readonly length: number
  readonly settle: (outcome: CommitOutcome) => void
}

/** Writes a group, and answers one outcome a commit. */
export type GroupWriter = (commits: readonly Commit[]) => Promise<readonly CommitOutcome[]>

/** The queue of one store. */
export class GroupQueue {
  readonly #write: GroupWriter
  readonly #system: System
  readonly #bounds: { readonly queueCommits: number; readonly groupsAtOnce: number }
  readonly #busy = new Set<SessionId>()
  #pending: WaitingCommit[] = []
  #waiting = 0
  #groups = 0
  #scheduled = false
  /** Whether all that waits may wait longer. */
  #held = true
  #cancelHold: (() => void) | undefined
  #idle: (() => void)[] = []

  constructor(
    write: GroupWriter,
    system: System,
    bounds: { readonly queueCommits: number; readonly groupsAtOnce: number },
  ) {
    this.#write = write
    this.#system = system
    this.#bounds = bounds
  }

  /** Has a commit written. @throws `store_unavailable` when too many wait */
  ask(commit: Commit): Promise<CommitOutcome> {
    if (this.#waiting >= this.#bounds.queueCommits) {
      throw new HoldfastError(ErrorCode.storeUnavailable, {
        message: `${this.#bounds.queueCommits} commits are waiting; try again later.`,
      })
    }
    this.#waiting += 1
    return new Promise((settle) => {
      // What its caller does with it afterwards changes nothing.
      this.#pending.push({ commit: structuredClone(commit), length: lengthOf(commit), settle })
      if (commit.urgency === 'chunks') this.#hold()
      else this.#release()
    })
  }

  /** Resolves once nothing waits any more; what is held is written now. */
  async drain(): Promise<void> {
    if (this.#waiting === 0) return
    this.#release()
    await new Promise<void>((resolve) => void this.#idle.push(resolve))
  }

  #hold(): void {
    if (!this.#held) return
    this.#cancelHold ??= this.#system.after(Limits.chunkHoldMs, () => this.#release())
  }

  #release(): void {
    this.#cancelHold?.()
    this.#cancelHold = undefined
    this.#held = false
    if (this.#scheduled) return
    this.#scheduled = true
    this.#system.macrotask(() => {
      this.#scheduled = false
      this.#startGroups()
    })
  }

  #startGroups(): void {
    while (!this.#held && this.#groups < this.#bounds.groupsAtOnce) {
      const [group, rest] = nextGroup(this.#pending, this.#busy)
      if (group.length === 0) break
      this.#pending = rest
      void this.#writeGroup(group)
    }
    if (this.#pending.length === 0) this.#held = true
  }

  async #writeGroup(group: readonly WaitingCommit[]): Promise<void> {
    const sessions = new Set(group.map(({ commit }) => commit.sessionId))
    for (const session of sessions) this.#busy.add(session)
    this.#groups += 1
    let outcomes: readonly CommitOutcome[] = []
    try {
      outcomes = await this.#write(group.map(({ commit }) => commit))
    } finally {
      this.#groups -= 1
      for (const session of sessions) this.#busy.delete(session)
      this.#waiting -= group.length
      for (const [index, { settle }] of group.entries()) {
        settle(outcomes[index] ?? { kind: 'failed', error: unanswered() })
      }
      if (this.#waiting === 0) for (const resolve of this.#idle.splice(0)) resolve()
      if (this.#pending.length > 0 && !this.#held) this.#release()
    }
  }
}

/** The commits that go into the next transaction, and the others. Nothing of a session that is busy. */
export function nextGroup(
  pending: readonly WaitingCommit[],
  busy: ReadonlySet<SessionId> = new Set(),
): readonly [group: WaitingCommit[], rest: WaitingCommit[]] {
  const free = pending.filter(({ commit }) => !busy.has(commit.sessionId))
  const group = new Set<WaitingCommit>()
  const urgent = new Set(
    free.filter(({ commit }) => commit.urgency !== 'chunks').map(({ commit }) => commit.sessionId),
  )
  let length = 0
  const add = (wanted: (session: SessionId) => boolean): void => {
    const full = new Set<SessionId>()
    for (const one of free) {
      const { sessionId } = one.commit
      if (group.has(one) || !wanted(sessionId)) continue
      const fits = group.size < groupBounds.commits && length + one.length <= groupBounds.length
      if (full.has(sessionId) || !(fits || group.size === 0)) {
        full.add(sessionId)
        continue
      }
      group.add(one)
      length += one.length
    }
  }
  add((session) => urgent.has(session))
  add((session) => !urgent.has(session))
  return [pending.filter((one) => group.has(one)), pending.filter((one) => !group.has(one))]
}

/** About how many characters a commit sends. */
function lengthOf({ writes }: Commit): number {
  let length = 0
  for (const write of writes) {
    switch (write.kind) {
      case 'input-put':
      case 'blob-put':
        length += write.bytes.length
        break
      case 'journal-append':
        length += write.data.length
        break
      case 'stream-append':
        for (const { data } of write.chunks) length += data.length
        break
      case 'log-append':
      case 'document-put':
        length += write.value.length
        break
      case 'run-create':
      case 'run-swap':
      case 'stream-close':
      case 'log-close':
      case 'log-unchanged':
      case 'document-delete':
      case 'run-purge':
        break
    }
  }
  return length
}

function unanswered(): HoldfastError {
  return new HoldfastError(ErrorCode.internal, { message: 'The group was not answered.' })
}
