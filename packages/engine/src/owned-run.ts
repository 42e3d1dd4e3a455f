// One run of a session that this engine owns, from when it is found until it has ended.
//
// Owns:  its execution, its slot, its timer, the watch of its inbox.
// Asks:  the session for a slot and to forget it; the store for what to load.
// Never: runs definition code before the takeover that leads to it is durable.
//
// R1. A run that held a slot when its owner went away is counted as recovered, durably, before its
//     code runs again; five in a row without a new entry fail it.
// R2. A pending run that is cancelled never runs; neither does one without fitting code here.
// R3. What fails in passing is tried again with back-off, by itself.
import { ErrorCode, HoldfastError, cancelKey } from '@holdfast/core'
import type { JsonValue, RegisteredDefinition, StoredRun } from '@holdfast/core'
import { readChildEnd } from './child-end.ts'
import { RunChildren } from './children.ts'
import { Execution } from './execution.ts'
import type { ExecutionOwner, LoadedRun } from './execution-parts.ts'
import { watchInbox } from './inbox-watch.ts'
import type { NewRun } from './new-run.ts'
import type { OperationHost } from './operation-host.ts'
import type { Services } from './options.ts'
import type { OwnedSession } from './ownership.ts'
import { readinessOf } from './readiness.ts'
import { freshJournal } from './replay.ts'
import { commitRun, learn, ownershipLost } from './run-commit.ts'
import type { RunState } from './run-commit.ts'
import type { EndedRun } from './run-end.ts'
import { backoffMaxMs, isLost, RunFailures } from './run-failures.ts'
import { letGo } from './run-moves.ts'
import { digestOf } from './skew.ts'
import type { Slot } from './slots.ts'
import { takeUp } from './take-up.ts'
import { journalSource } from './taking-over.ts'
import { runIds, timed, workflowLabels } from './telemetry.ts'
import type { Timed } from './telemetry.ts'
import { endUnexecuted, unexecutable } from './unexecuted-end.ts'

/** Why a run's watch ends; made once, for errors are dear. */
const watchOver = ownershipLost()

type Phase = 'idle' | 'queued' | 'loading' | 'executing' | 'resting' | 'over'

/** One run and what executes it. */
export class OwnedRun implements ExecutionOwner {
  readonly #session: OwnedSession
  readonly #services: Services
  readonly #state: RunState
  readonly #watch = new AbortController()
  #phase: Phase = 'idle'
  #slot: Slot | undefined
  #execution: Execution | undefined
  #cancelTimer: (() => void) | undefined
  readonly #failures = new RunFailures()

  constructor(
    session: OwnedSession,
    stored: Pick<StoredRun, 'record' | 'revision' | 'journalNext'>,
  ) {
    this.#session = session
    this.#services = session.services
    this.#state = {
      sessionId: stored.record.sessionId,
      runId: stored.record.id,
      record: stored.record,
      rowRevision: stored.revision,
      journalNext: stored.journalNext,
    }
  }

  get runId(): string {
    return this.#state.runId
  }

  /** The digest of the definition that its journal is for. */
  get digest(): string {
    return digestOf(this.#state.record)
  }

  /** Whether this process has tried the run, and its code does not fit. */
  get isStuck(): boolean {
    return this.#session.blockedRuns.has(this.#state.runId)
  }

  get isBusy(): boolean {
    return this.#phase === 'queued' || this.#phase === 'loading' || this.#phase === 'executing'
  }

  /** Whether bodies run, or what they gave is not durable yet. */
  get isExecuting(): boolean {
    return this.#execution?.isAtWork ?? false
  }

  /** Nothing more of it begins. */
  drain(): void {
    this.#execution?.drain()
  }

  /** Takes up a run as it was found in the store. */
  adopt(stored: StoredRun): void {
    this.#watchInbox(false)
    this.#consider(stored)
  }

  /** Executes a run that was just created as `running`, with a slot that is held for it. */
  begin(run: NewRun, registered: RegisteredDefinition, slot: Slot): void {
    this.#slot = slot
    this.#phase = 'loading'
    this.#watchInbox(true)
    this.#execute(registered, {
      input: run.input.value,
      journal: freshJournal(run.seed, journalSource(this.#state)),
      streamNext: undefined,
      storedWriters: new Set(),
      originRunId: run.record.retriedFrom ?? run.record.id,
    })
  }

  /** Something may have reached the run. */
  nudge(): void {
    if (this.#phase === 'executing' || this.#phase === 'resting') this.#execution?.pokeInbox()
    else if (this.#phase === 'idle') void this.#look()
    else if (this.#phase === 'queued') void this.#lookForCancel()
  }

  /** Lets go of the run: nothing of it executes here any more. Its row says so if it held a slot. */
  async release(): Promise<void> {
    const held = this.#phase === 'executing' || this.#phase === 'loading'
    const execution = this.#execution
    this.stop(new HoldfastError(ErrorCode.draining, { message: 'The engine lets go of the run.' }))
    await execution?.idle()
    const { record } = this.#state
    const next = held ? letGo(record) : undefined
    if (next === undefined) return
    try {
      await commitRun(this.#services, this.#session, this.#state, {
        record: next(record, this.#services.system.now(), this.#state.journalNext),
      })
    } catch (cause) {
      this.#log(
        'warn',
        'engine.run.release_failed',
        'A run was let go of without its row saying so.',
        cause,
      )
    }
  }

  /** Stops at once, in silence. */
  stop(reason: HoldfastError): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    this.#execution?.drop(reason)
    this.#letGo()
  }

  // What an execution tells.

  rested(): void {
    this.#phase = 'resting'
    this.#slot?.release()
    this.#slot = undefined
    this.#session.changed(this)
  }

  wantsSlot(): void {
    if (this.#phase !== 'resting' || this.#slot !== undefined) return
    this.#requestSlot(() => {
      if (this.#phase !== 'resting') return
      this.#phase = 'executing'
      this.#session.changed(this)
      this.#execution?.resume()
    })
    this.#session.changed(this)
  }

  ended(end: EndedRun): void {
    this.#phase = 'over'
    this.#letGo()
    this.#session.runEnded(this, this.#state.record, end)
  }

  blocked(): void {
    this.#phase = 'idle'
    this.#execution = undefined
    this.#slot?.release()
    this.#slot = undefined
    this.#session.blockedRuns.add(this.#state.runId)
    this.#session.changed(this)
    void this.#look()
  }

  failed(error: unknown): void {
    this.#execution = undefined
    this.#slot?.release()
    this.#slot = undefined
    this.#afterFailure(error)
  }

  childrenOf(host: OperationHost): RunChildren {
    return new RunChildren(this.#session, host, this.#state.record)
  }

  childEnd(runId: string): Promise<{ readonly output?: JsonValue }> {
    return readChildEnd(this.#services.store, this.#state.sessionId, runId)
  }

  // Taking it up.

  async #look(): Promise<void> {
    try {
      const stored = await this.#services.store.run(this.#state.sessionId, this.#state.runId)
      if (this.#phase !== 'idle') return
      if (stored === undefined) this.#forget()
      else this.#consider(stored)
    } catch (error) {
      this.#afterFailure(error)
    }
  }

  /** A run that has never run does not wait for a slot to be cancelled. */
  async #lookForCancel(): Promise<void> {
    if (this.#state.record.status !== 'pending') return
    try {
      const stored = await this.#services.store.run(this.#state.sessionId, this.#state.runId)
      if (this.#phase !== 'queued' || stored?.unread.includes(cancelKey) !== true) return
      this.#slot?.release()
      this.#slot = undefined
      this.#phase = 'loading'
      await this.#load()
    } catch (error) {
      this.#afterFailure(error)
    }
  }

  #consider(stored: StoredRun): void {
    if (this.#phase !== 'idle') return
    learn(this.#state, stored)
    const now = this.#services.system.now()
    const readiness = readinessOf(stored, this.isStuck, now)
    switch (readiness.kind) {
      case 'ended':
        this.#forget()
        return
      case 'ready':
        this.#queue()
        return
      case 'at':
        this.#wakeAfter(readiness.wakeAt - now)
        return
      case 'waits':
        return
    }
  }

  #requestSlot(granted: () => void): void {
    const { telemetry, system } = this.#services
    const { sessionId } = this.#state
    if (telemetry === undefined) {
      this.#slot = this.#session.slots.request(sessionId, granted)
      return
    }
    const askedAt = system.now()
    this.#slot = this.#session.slots.request(sessionId, () => {
      telemetry.record('holdfast.slot.wait.duration', (system.now() - askedAt) / 1_000)
      granted()
    })
  }

  #wakeAfter(delayMs: number): void {
    this.#cancelTimer?.()
    this.#cancelTimer = this.#services.system.after(Math.max(0, delayMs), () => void this.#look())
  }

  #queue(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#phase = 'queued'
    this.#requestSlot(() => {
      if (this.#phase !== 'queued') return
      this.#phase = 'loading'
      void this.#load()
    })
    this.#session.changed(this)
  }

  async #load(): Promise<void> {
    const recovery = timed(this.#services, () => ({
      name: 'holdfast.recovery',
      labels: workflowLabels(this.#state.record),
      ids: runIds(this.#state),
    }))
    const { survivedRuns } = this.#session
    const hasSurvived = survivedRuns.has(this.#state.runId)
    survivedRuns.add(this.#state.runId)
    try {
      const taken = await takeUp({
        services: this.#services,
        ownership: this.#session,
        state: this.#state,
        isStuck: this.isStuck,
        hasSurvived,
        isWanted: () => this.#phase === 'loading',
      })
      if (taken.kind !== 'loaded') recovery?.end()
      switch (taken.kind) {
        case 'loaded':
          this.#execute(taken.registered, taken.loaded, recovery)
          if (taken.hasUnread) this.#execution?.pokeInbox()
          return
        case 'ended':
          this.ended(taken.end)
          return
        case 'over':
          this.#forget()
          return
        case 'unfit':
          this.blocked()
          if (taken.elsewhere) this.#session.lacksCode()
          return
        case 'unwanted':
          return
      }
    } catch (error) {
      recovery?.end(error)
      this.#slot?.release()
      this.#slot = undefined
      this.#afterFailure(error)
    }
  }

  #execute(registered: RegisteredDefinition, loaded: LoadedRun, recovery?: Timed): void {
    this.#phase = 'executing'
    this.#session.changed(this)
    this.#execution = new Execution(
      {
        services: this.#services,
        ownership: this.#session,
        state: this.#state,
        registered,
        recovery,
        ...loaded,
      },
      this,
    )
    this.#execution.start()
  }

  // Failures.

  #afterFailure(error: unknown): void {
    if (this.#phase === 'over') return
    if (isLost(error) || !this.#session.isHeld()) {
      this.stop(ownershipLost(error))
      this.#session.lost(error)
      return
    }
    const next = this.#failures.next(error, this.#state.journalNext)
    this.#log(
      'error',
      'engine.run.failed_to_execute',
      'A run could not be executed; it is tried again.',
      error,
    )
    if (next === 'give-up') {
      this.#phase = 'loading'
      endUnexecuted(
        {
          services: this.#services,
          ownership: this.#session,
          state: this.#state,
          registered: undefined,
        },
        { kind: 'cut', error: unexecutable },
      ).then(
        (end) => this.ended(end),
        (cause: unknown) => {
          this.#phase = 'idle'
          this.#wakeAfter(backoffMaxMs)
          this.#log('error', 'engine.run.failed_to_end', 'A run could not be ended.', cause)
        },
      )
      return
    }
    this.#phase = 'idle'
    this.#wakeAfter(next.retryAfterMs)
  }

  // Bookkeeping.

  /** What other processes write; what this one writes is told by `nudge`. */
  #watchInbox(isNew: boolean): void {
    const { sessionId, runId } = this.#state
    watchInbox(this.#services, { sessionId, runId, isNew }, this.#watch.signal, () => this.nudge())
  }

  #forget(): void {
    this.#phase = 'over'
    this.#letGo()
    this.#session.forget(this)
  }

  #letGo(): void {
    this.#execution = undefined
    this.#watch.abort(watchOver)
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#slot?.release()
    this.#slot = undefined
  }

  #log(level: 'warn' | 'error', event: string, message: string, cause: unknown): void {
    this.#services.log.write({
      level,
      event,
      message,
      fields: { run_id: this.#state.runId },
      cause,
    })
  }
}
