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
import {
  ErrorCode,
  HoldfastError,
  cancelKey,
  hasErrorCode,
  inboxOf,
  isHoldfastError,
  isTerminal,
  streamIdOf,
} from '@holdfast/core'
import type {
  JsonValue,
  RegisteredDefinition,
  RunError,
  RunRecord,
  StoredRun,
} from '@holdfast/core'
import { decodeJson } from '@holdfast/json'
import { decodeEntries } from '@holdfast/workflow'
import { RunChildren } from './children.ts'
import { Execution } from './execution.ts'
import type { ExecutionOwner } from './execution-parts.ts'
import { JournalWriter } from './journal-writer.ts'
import type { OperationHost } from './operation-host.ts'
import type { Services } from './options.ts'
import { OutputQueue, writersOf } from './output.ts'
import { loadJournal, freshJournal } from './replay.ts'
import type { LoadedJournal } from './replay.ts'
import { commitRun, ownershipLost } from './run-commit.ts'
import type { RunState } from './run-commit.ts'
import { endOf, endRun } from './run-end.ts'
import type { Outcome } from './outcome.ts'
import type { EndedRun } from './run-end.ts'
import { drained, parked, recovered, roused } from './run-moves.ts'
import type { Slot } from './slots.ts'
import type { NewRun } from './new-run.ts'
import type { OwnedSession } from './ownership.ts'
import { decodeValue } from './stored-values.ts'
import { keepWatching, pause } from './watching.ts'

const backoffMs = 200
const backoffMaxMs = 30_000
const failuresBorne = 5
const retriesWalked = 64
const newRunMs = 500
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
  #failures = 0
  #journalAtFailure = -1

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
    this.#execute(registered, run.input.value, {
      journal: freshJournal(run.seed, this.#source()),
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
    if (!held || record.parked || record.status !== 'running') return
    try {
      await commitRun(this.#services, this.#session, this.#state, {
        record: drained(record, this.#services.system.now(), this.#state.journalNext),
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
    this.#slot = this.#session.slots.request(this.#state.sessionId, () => {
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

  async childEnd(runId: string): Promise<{ readonly output?: JsonValue }> {
    const { store } = this.#services
    const { sessionId } = this.#state
    const child = await store.run(sessionId, runId)
    if (child === undefined || child.journalNext === 0) return {}
    const rows = await store.journal(sessionId, runId, { from: child.journalNext - 1, limit: 1 })
    const end = endOf(rows.flatMap((row) => decodeEntries(row).entries))
    if (end?.output === undefined) return {}
    const output = await decodeValue(store, { sessionId, runId }, end.output)
    return output === undefined ? {} : { output }
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
    const { record, unread } = stored
    this.#learn(stored)
    if (isTerminal(record.status)) {
      this.#forget()
      return
    }
    const { wakeAt, waitingFor } = record
    const now = this.#services.system.now()
    const tried = this.#session.blockedRuns.has(record.id)
    const isBlocked = waitingFor === 'code' && tried
    const isReady =
      (!record.parked && record.status !== 'interrupted') ||
      (waitingFor === 'code' && !tried) ||
      (isBlocked ? unread.includes(cancelKey) : unread.length > 0) ||
      (wakeAt !== undefined && wakeAt <= now)
    if (isReady) this.#queue()
    else if (wakeAt !== undefined) this.#wakeAfter(wakeAt - now)
  }

  #wakeAfter(delayMs: number): void {
    this.#cancelTimer?.()
    this.#cancelTimer = this.#services.system.after(Math.max(0, delayMs), () => void this.#look())
  }

  #queue(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#phase = 'queued'
    this.#slot = this.#session.slots.request(this.#state.sessionId, () => {
      if (this.#phase !== 'queued') return
      this.#phase = 'loading'
      void this.#load()
    })
    this.#session.changed(this)
  }

  async #load(): Promise<void> {
    const { store, catalog } = this.#services
    const { sessionId, runId } = this.#state
    try {
      const stored = await store.run(sessionId, runId)
      if (this.#phase !== 'loading') return
      if (stored === undefined || isTerminal(stored.record.status)) {
        this.#forget()
        return
      }
      this.#learn(stored)
      const { record } = stored
      const isCancelled = stored.unread.includes(cancelKey) || record.cancelRequested === true
      const registered = catalog.find(record.definition.name, record.definition.version)
      if (record.status === 'pending' && isCancelled) {
        await this.#endWithout({ kind: 'cut' }, registered)
        return
      }
      if (registered === undefined || registered.digest !== record.definition.digest) {
        if (isCancelled) await this.#endWithout({ kind: 'cut' }, registered)
        else await this.#blockUnfit(registered === undefined)
        return
      }
      if (!(await this.#claim())) {
        await this.#endWithout({ kind: 'cut', error: crashLoop }, registered)
        return
      }
      await this.#loadExecution(registered, stored.unread.length > 0)
    } catch (error) {
      this.#slot?.release()
      this.#slot = undefined
      this.#afterFailure(error)
    }
  }

  /** Makes the takeover durable. False when the run has been taken over too often. */
  async #claim(): Promise<boolean> {
    const { record, journalNext } = this.#state
    const now = this.#services.system.now()
    if (record.status === 'interrupted') return true
    const next =
      record.status === 'running' && !record.parked
        ? recovered(journalNext)(record, now, journalNext)
        : roused(record, now, journalNext)
    if (next.recoveries >= this.#services.limits.recoveries && next !== record) {
      if (record.status === 'running' && !record.parked) return false
    }
    await commitRun(this.#services, this.#session, this.#state, { record: next })
    return true
  }

  async #loadExecution(registered: RegisteredDefinition, hasUnread: boolean): Promise<void> {
    const { store } = this.#services
    const { sessionId, runId, record } = this.#state
    const input = await this.#loadInput(record)
    const journal = await this.#loadJournal()
    if (input === undefined || journal === undefined) {
      await this.#endWithout({ kind: 'cut', error: unreadable }, registered)
      return
    }
    const streamId = streamIdOf(runId, record.stream + 1)
    const head = await store.streamHead(sessionId, streamId)
    const hasChunks = head !== undefined && head.next > 0
    const storedWriters = hasChunks
      ? await writersOf(store, sessionId, streamId)
      : new Set<string>()
    const originRunId = await this.#originRunId(record)
    if (this.#phase !== 'loading') return
    this.#execute(registered, input, {
      journal,
      streamNext: head?.next,
      storedWriters,
      originRunId,
    })
    if (hasUnread) this.#execution?.pokeInbox()
  }

  #execute(
    registered: RegisteredDefinition,
    input: JsonValue,
    loaded: {
      readonly journal: LoadedJournal
      readonly streamNext: number | undefined
      readonly storedWriters: ReadonlySet<string>
      readonly originRunId: string
    },
  ): void {
    this.#phase = 'executing'
    this.#session.changed(this)
    this.#execution = new Execution(
      {
        services: this.#services,
        ownership: this.#session,
        state: this.#state,
        registered,
        input,
        ...loaded,
      },
      this,
    )
    this.#execution.start()
  }

  async #loadInput(record: RunRecord): Promise<JsonValue | undefined> {
    const bytes = await this.#services.store.input(record.sessionId, record.input.digest)
    if (bytes === undefined) return undefined
    try {
      return decodeJson(bytes)
    } catch {
      return undefined
    }
  }

  async #loadJournal(): Promise<LoadedJournal | undefined> {
    try {
      return await loadJournal(this.#services.store, this.#source())
    } catch (error) {
      if (hasErrorCode(error, ErrorCode.recordCorrupt)) return undefined
      throw error
    }
  }

  /** The first of a chain of retries: its id is what effects' keys are made of. */
  async #originRunId(record: RunRecord): Promise<string> {
    let origin = record.id
    let before = record.retriedFrom
    for (let step = 0; before !== undefined && step < retriesWalked; step += 1) {
      origin = before
      const run = await this.#services.store.run(record.sessionId, before)
      before = run?.record.retriedFrom
    }
    return origin
  }

  // Without executing it.

  /** No code here fits the run: its row says so, and a later process tries again. */
  async #blockUnfit(isUnknown: boolean): Promise<void> {
    const { name, version } = this.#state.record.definition
    this.#log(
      'error',
      'engine.run.blocked',
      isUnknown
        ? `A run of ${name}@${version} waits: this process has no such definition.`
        : `A run of ${name}@${version} waits: its definition has changed since it began.`,
      undefined,
    )
    const { record, journalNext } = this.#state
    const now = this.#services.system.now()
    await commitRun(this.#services, this.#session, this.#state, {
      record: parked('code', undefined)(roused(record, now, journalNext), now, journalNext),
    })
    this.blocked()
  }

  async #endWithout(outcome: Outcome, registered: RegisteredDefinition | undefined): Promise<void> {
    const { store } = this.#services
    const { sessionId, runId, record } = this.#state
    const journal = await this.#loadJournal()
    const head = await store.streamHead(sessionId, streamIdOf(runId, record.stream + 1))
    const output = new OutputQueue(
      runId,
      registered?.definition.stream,
      { number: record.stream + 1, next: head?.next ?? (registered === undefined ? 0 : undefined) },
      (cause) => this.#log('warn', 'engine.stream.framing_failed', 'A framing failed.', cause),
    )
    const writer = new JournalWriter(
      {
        services: this.#services,
        ownership: this.#session,
        state: this.#state,
        output,
        lastTime: journal?.lastTime ?? record.updatedAt,
        totals: {
          completedSteps: journal?.completedSteps ?? 0,
          totalSteps: journal?.seed.totalSteps,
          progress: undefined,
          inboxNext: journal?.inboxNext ?? record.inboxReadThrough,
        },
      },
      {
        committed: () => undefined,
        quiet: () => undefined,
        waiting: () => undefined,
        failed: () => undefined,
      },
    )
    const end = await endRun(
      {
        services: this.#services,
        ownership: this.#session,
        state: this.#state,
        writer,
        registered,
      },
      outcome,
      {
        undelivered: [],
        superseded: [],
        inFlight: [],
        children: journal?.openChildren ?? [],
        cancelReason: journal?.cancel?.reason,
      },
    )
    this.ended(end)
  }

  // Failures.

  #afterFailure(error: unknown): void {
    if (this.#phase === 'over') return
    if (isLost(error) || !this.#session.isHeld()) {
      this.stop(ownershipLost(error))
      this.#session.lost(error)
      return
    }
    const { journalNext } = this.#state
    this.#failures = journalNext === this.#journalAtFailure ? this.#failures + 1 : 1
    this.#journalAtFailure = journalNext
    this.#log(
      'error',
      'engine.run.failed_to_execute',
      'A run could not be executed; it is tried again.',
      error,
    )
    this.#phase = 'idle'
    const isHopeless = this.#failures >= failuresBorne && !isPassing(error)
    if (isHopeless && !hasErrorCode(error, ErrorCode.recordFromNewerVersion)) {
      this.#phase = 'loading'
      this.#endWithout({ kind: 'cut', error: internal }, undefined).catch((cause: unknown) => {
        this.#phase = 'idle'
        this.#wakeAfter(backoffMaxMs)
        this.#log('error', 'engine.run.failed_to_end', 'A run could not be ended.', cause)
      })
      return
    }
    this.#wakeAfter(Math.min(backoffMs * 2 ** (this.#failures - 1), backoffMaxMs))
  }

  // Bookkeeping.

  /** What other processes write; what this one writes is told by `nudge`. */
  #watchInbox(isNew: boolean): void {
    const { sessionId, runId } = this.#state
    const { signal } = this.#watch
    const topic = { kind: 'log', sessionId, log: inboxOf(runId) } as const
    let waits = isNew
    void keepWatching(this.#services, topic, signal, async () => {
      // Nobody else knows of a run that was just made: most end before there is anything to read.
      if (waits) await pause(this.#services, newRunMs, signal)
      waits = false
      if (!signal.aborted) this.nudge()
    })
  }

  #learn(stored: StoredRun): void {
    this.#state.record = stored.record
    this.#state.rowRevision = stored.revision
    this.#state.journalNext = stored.journalNext
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

  #source(): Parameters<typeof loadJournal>[1] {
    const { sessionId, runId, record } = this.#state
    const { inboxReadThrough, checkpoint } = record
    return {
      sessionId,
      runId,
      inboxReadThrough,
      ...(checkpoint === undefined ? {} : { checkpoint }),
    }
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

const crashLoop: RunError = {
  code: ErrorCode.crashLoop,
  message: 'The run was taken over again and again without getting any further.',
  retryable: false,
}

const unreadable: RunError = {
  code: ErrorCode.recordCorrupt,
  message: 'The stored input or journal of the run is missing or damaged.',
  retryable: false,
}

const internal: RunError = {
  code: ErrorCode.internal,
  message: 'The run could not be executed.',
  retryable: false,
}

/** Whether an error says that the session, or the store, is not ours any more. */
function isLost(error: unknown): boolean {
  return (
    hasErrorCode(error, ErrorCode.storeFenced) ||
    hasErrorCode(error, ErrorCode.storeClosed) ||
    hasErrorCode(error, ErrorCode.storeReadOnly)
  )
}

function isPassing(error: unknown): boolean {
  return isHoldfastError(error) && error.retryable
}
