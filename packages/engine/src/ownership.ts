// A session that this engine owns, and its runs that have not ended.
//
// Owns:  the claim, the runs, when the session is let go of.
// Asks:  the store to claim and release; runs to execute themselves.
// Never: writes without its epoch.
//
// O1. Every run of the session that has not ended is looked after, from the claim on.
// O2. A lost session stops at once and in silence: whatever it would have written is refused anyway.
// O3. Without work for a minute the session is let go of, so that any other owner can have it.
// O4. A session with a run that waits for code is let go of as soon as a live process has code for all
//     of its runs; this one does not reach for it again at once.
import { ErrorCode, hasErrorCode, HoldfastError } from '@holdfast/core'
import type { RegisteredDefinition, RunRecord, SessionClaim } from '@holdfast/core'
import type { NewRun } from './new-run.ts'
import type { Nodes } from './nodes.ts'
import type { Services } from './options.ts'
import type { RecentSet } from './recent-set.ts'
import { OwnedRun } from './owned-run.ts'
import { ownershipLost } from './run-commit.ts'
import type { Ownership } from './run-commit.ts'
import type { EndedRun } from './run-end.ts'
import type { Slot, Slots } from './slots.ts'
import { keepWatching, pause } from './watching.ts'

const pageRuns = 100
const scanPauseMs = 250
/** Between looks for a process with the code that a run waits for: doubling. */
const lookMs = 1_000
const lookMaxMs = 60_000

/** Between tries to let go of a session that the store did not hear of: doubling; some five minutes in all. */
const releaseMs = 100
const releaseMaxMs = 5_000
const releaseTries = 60

/** What a session tells the engine. */
export interface SessionOwner {
  readonly services: Services
  readonly slots: Slots
  /** Runs that this process has tried, and whose code did not fit. */
  readonly blockedRuns: Set<string>
  /** Runs that this process has taken up and has not died of. */
  readonly survivedRuns: RecentSet
  readonly nodes: Nodes
  /** The session is not owned any more. `left`: of its own will, with runs that others may have code for. */
  sessionGone(session: OwnedSession, left: boolean): void
  /** It was not let go of, but taken, or could not be kept: perhaps nobody has it. */
  sessionLost(sessionId: string): void
  runEnded(runId: string, end: EndedRun): void
}

/** One owned session. */
export class OwnedSession implements Ownership {
  readonly sessionId: string
  readonly epoch: number
  readonly services: Services
  readonly slots: Slots
  readonly blockedRuns: Set<string>
  readonly survivedRuns: RecentSet
  readonly #owner: SessionOwner
  readonly #claim: SessionClaim
  readonly #runs = new Map<string, OwnedRun>()
  readonly #busy = new Set<OwnedRun>()
  readonly #watch = new AbortController()
  #state: 'held' | 'releasing' | 'gone' = 'held'
  #cancelIdle: (() => void) | undefined
  #gone: Promise<void> | undefined
  #isLookingForCode = false
  #hasLeft = false

  constructor(owner: SessionOwner, claim: SessionClaim) {
    this.#owner = owner
    this.#claim = claim
    this.sessionId = claim.sessionId
    this.epoch = claim.epoch
    this.services = owner.services
    this.slots = owner.slots
    this.blockedRuns = owner.blockedRuns
    this.survivedRuns = owner.survivedRuns
  }

  isHeld(): boolean {
    return this.#state !== 'gone'
  }

  /** Whether new work can be given to it. */
  get takesWork(): boolean {
    return this.#state === 'held'
  }

  /** Whether bodies run, or what they gave is not durable yet. */
  get isExecuting(): boolean {
    for (const run of this.#runs.values()) if (run.isExecuting) return true
    return false
  }

  /** Nothing more begins. */
  drain(): void {
    for (const run of this.#runs.values()) run.drain()
  }

  /** Looks after every run that has not ended. */
  async adoptAll(): Promise<void> {
    this.#watchStarts()
    await this.#adopt(['pending', 'running', 'interrupted'])
    this.changed()
  }

  /** A run of this session was created here, durably. With a slot it is executed at once. */
  runCreated(run: NewRun, registered: RegisteredDefinition, slot: Slot | undefined): void {
    if (this.#state !== 'held' || this.#runs.has(run.record.id)) {
      slot?.release()
      return
    }
    const owned = new OwnedRun(this, { record: run.record, revision: 1, journalNext: 1 })
    this.#runs.set(run.record.id, owned)
    if (slot !== undefined) owned.begin(run, registered, slot)
    else {
      owned.adopt({
        record: run.record,
        revision: 1,
        journalNext: 1,
        inboxNext: 0,
        unread: [],
      })
    }
  }

  /** A run may have been created, or something may have reached it. */
  nudge(runId: string): void {
    if (this.#state !== 'held') return
    const run = this.#runs.get(runId)
    if (run === undefined) void this.#adoptOne(runId)
    else run.nudge()
  }

  runEnded(run: OwnedRun, record: RunRecord, end: EndedRun): void {
    this.#runs.delete(record.id)
    this.survivedRuns.delete(record.id)
    this.#owner.runEnded(record.id, end)
    if (record.childOf !== undefined) this.nudge(record.childOf)
    this.changed(run)
  }

  forget(run: OwnedRun): void {
    this.#runs.delete(run.runId)
    this.changed(run)
  }

  /** Whether there is work may have changed. */
  changed(run?: OwnedRun): void {
    if (this.#state !== 'held') return
    if (run?.isBusy === true) this.#busy.add(run)
    else if (run !== undefined) this.#busy.delete(run)
    if (this.#busy.size > 0) {
      this.#cancelIdle?.()
      this.#cancelIdle = undefined
      return
    }
    this.#cancelIdle ??= this.services.system.after(this.services.limits.sessionIdleMs, () => {
      this.#cancelIdle = undefined
      void this.release()
    })
  }

  /** A run waits for code that this process does not have: whoever has it, and lives, gets the session. */
  lacksCode(): void {
    if (this.#isLookingForCode) return
    this.#isLookingForCode = true
    void this.#lookForCode().finally(() => {
      this.#isLookingForCode = false
    })
  }

  /** Another has it, or the node's lease is lost. */
  lost(cause: unknown): void {
    if (this.#state === 'gone') return
    this.#state = 'gone'
    const reason = ownershipLost(cause)
    for (const run of this.#runs.values()) run.stop(reason)
    this.#end()
    this.#owner.sessionLost(this.sessionId)
  }

  /** Lets go of the session: what executes is stopped, and can be taken up at once. */
  release(): Promise<void> {
    this.#gone ??= this.#release()
    return this.#gone
  }

  async #release(): Promise<void> {
    if (this.#state !== 'held') return
    this.#state = 'releasing'
    this.#hasLeft = true
    await Promise.all([...this.#runs.values()].map((run) => run.release()))
    if (!this.isHeld()) return
    this.#state = 'gone'
    await this.#giveBack(0)
    this.#end()
  }

  /**
   * Tells the store. As long as it does not hear it, nobody finds the session, not even this process: so
   * it is told again, in the background. A claim that was made meanwhile is not touched by it.
   */
  async #giveBack(tries: number): Promise<void> {
    try {
      await this.services.store.releaseSession(this.#claim)
    } catch (cause) {
      this.services.log.write({
        level: 'warn',
        event: 'engine.session.release_failed',
        message: 'A session could not be let go of; it is tried again.',
        fields: { session_id: this.sessionId, tries },
        cause,
      })
      if (tries >= releaseTries || hasErrorCode(cause, ErrorCode.storeClosed)) return
      const delayMs = Math.min(releaseMs * 2 ** tries, releaseMaxMs)
      this.services.system.after(delayMs, () => void this.#giveBack(tries + 1))
    }
  }

  async #lookForCode(): Promise<void> {
    for (let tries = 0; this.#state === 'held'; tries += 1) {
      const runs = [...this.#runs.values()]
      if (!runs.some(({ isStuck }) => isStuck)) return
      try {
        if (await this.#owner.nodes.hasOtherWith(new Set(runs.map(({ digest }) => digest)))) {
          await this.release()
          return
        }
      } catch (cause) {
        this.services.log.write({
          level: 'warn',
          event: 'engine.session.hand_over_failed',
          message:
            'Whether another process has the code that a run waits for could not be found out.',
          fields: { session_id: this.sessionId },
          cause,
        })
      }
      const delayMs = Math.min(lookMs * 2 ** tries, lookMaxMs)
      await pause(this.services, delayMs, this.#watch.signal)
    }
  }

  #end(): void {
    const left = this.#hasLeft && [...this.#runs.values()].some(({ isStuck }) => isStuck)
    this.#runs.clear()
    this.#busy.clear()
    this.#watch.abort()
    this.#cancelIdle?.()
    this.#cancelIdle = undefined
    this.#owner.sessionGone(this, left)
  }

  /** Other processes start runs in this session, too. */
  #watchStarts(): void {
    const { signal } = this.#watch
    const topic = { kind: 'runs', sessionId: this.sessionId } as const
    let until = this.services.system.now() + scanPauseMs
    void keepWatching(this.services, topic, signal, async () => {
      // At once after a quiet time; at most four times a second while runs go on.
      const early = until - this.services.system.now()
      if (early > 0) await pause(this.services, early, signal)
      until = this.services.system.now() + scanPauseMs
      if (this.#state === 'held') await this.#adopt(['pending'])
    })
  }

  async #adopt(status: readonly ('pending' | 'running' | 'interrupted')[]): Promise<void> {
    let after: string | undefined
    do {
      const page = await this.services.store.runs(this.sessionId, {
        status,
        limit: pageRuns,
        ...(after === undefined ? {} : { after }),
      })
      for (const stored of page.items) {
        if (this.#state !== 'held') return
        if (this.#runs.has(stored.record.id)) continue
        const run = new OwnedRun(this, stored)
        this.#runs.set(stored.record.id, run)
        run.adopt(stored)
      }
      after = page.next
    } while (after !== undefined)
  }

  async #adoptOne(runId: string): Promise<void> {
    try {
      const stored = await this.services.store.run(this.sessionId, runId)
      if (stored === undefined || this.#state !== 'held' || this.#runs.has(runId)) return
      const run = new OwnedRun(this, stored)
      this.#runs.set(runId, run)
      run.adopt(stored)
    } catch (cause) {
      this.services.log.write({
        level: 'warn',
        event: 'engine.run.adopt_failed',
        message: 'A run could not be taken up; it is found again later.',
        fields: { run_id: runId },
        cause,
      })
    }
  }
}

/** The engine takes no work any more. */
export function drainingError(): HoldfastError {
  return new HoldfastError(ErrorCode.draining, { message: 'The engine is being drained.' })
}
