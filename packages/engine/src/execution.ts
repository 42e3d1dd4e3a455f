// One run, executed in this process: its definition over its journal.
//
// Owns:  the definition's code while it runs, its open operations, what was delivered to it.
// Asks:  the writer to journal, the delivery to bring what was journaled, its owner for a slot.
// Never: runs a body while entries of the journal are undelivered or not asked for.
//
// X1. Until everything that was journaled has been delivered and claimed, no operation begins.
// X2. Definition code and bodies run only while a slot is held.
// X3. A cancel is delivered once bodies have settled or their grace is over; their results come first.
// X4. Once it is over (ended, blocked, lost or evicted), nothing of it has an effect any more.
import {
  ErrorCode,
  HoldfastError,
  type ArtifactReference,
  type JsonValue,
  type RegisteredDefinition,
  type RunMessage,
  type Span,
  type WorkflowContext,
} from '@holdfast/core'
import type { InboxEntry, JournalEntry } from '@holdfast/workflow'
import { ScopeContext } from './context.ts'
import { createDeferred, never } from './deferred.ts'
import { Delivery } from './delivery.ts'
import { ChildOperation } from './child-run.ts'
import { fits, storedValueOf } from './entry-of-operation.ts'
import { Inbox } from './inbox.ts'
import { inboxUnchanged, JournalWriter } from './journal-writer.ts'
import type { Delivered, Operation, SettlingEntry } from './operation.ts'
import type { ChildStarter, OperationHost } from './operation-host.ts'
import type { Services } from './options.ts'
import { OutputQueue } from './output.ts'
import { ReceiveOperation } from './receive.ts'
import { iterationsOf } from './loop-path.ts'
import { interruptCrosses, iterationOver } from './loop.ts'
import { artifactKey } from './replay.ts'
import type { LoadedJournal } from './replay.ts'
import { restOf } from './rest.ts'
import type { RevisionLedger } from './revision-ledger.ts'
import { ownershipLost } from './run-commit.ts'
import type { Ownership, RunState } from './run-commit.ts'
import { endRun, returned } from './run-end.ts'
import type { EndedRun, Outcome } from './run-end.ts'
import { artifactAdded, cancelSeen, interruptClosed, interrupted, parked } from './run-moves.ts'
import { runIn, Scope } from './scope.ts'
import { StepOperation } from './step.ts'
import { decodeValue, encodeValue } from './stored-values.ts'

/** What an execution is made of. */
export interface ExecutionParts {
  readonly services: Services
  readonly ownership: Ownership
  readonly state: RunState
  readonly registered: RegisteredDefinition
  readonly input: JsonValue
  readonly journal: LoadedJournal
  /** Chunks of the open stream; absent: there is none. */
  readonly streamNext: number | undefined
  /** Marks of operations with chunks in the open stream, from earlier processes. */
  readonly storedWriters: ReadonlySet<string>
  readonly originRunId: string
}

/** Whom an execution tells. */
export interface ExecutionOwner {
  /** It stands still, and its row says so: the slot is given back. */
  rested(): void
  /** It wants to go on: `resume` follows when there is a slot. */
  wantsSlot(): void
  ended(end: EndedRun): void
  /** It cannot go on with this code; its row says so. */
  blocked(): void
  /** A commit failed for good. */
  failed(error: unknown): void
  /** How its children are started; made for this execution. */
  childrenOf(execution: Execution): ChildStarter
  /** Reads how a child of the session ended. */
  childEnd(runId: string): Promise<{ readonly output?: JsonValue }>
}

type Phase = 'new' | 'executing' | 'resting' | 'ending' | 'over'

interface Cancel {
  readonly reason: string
  /** `asked`: read; `told`: its delivery is being journaled; `delivered`. */
  state: 'asked' | 'told' | 'delivered'
}

/** How often a definition may ignore that its operations are refused. */
const refusalsBorne = 1_000

/** One execution of one run. */
export class Execution implements OperationHost {
  readonly services: Services
  readonly sessionId: string
  readonly runId: string
  readonly originRunId: string
  readonly registered: RegisteredDefinition
  readonly writer: JournalWriter
  readonly output: OutputQueue
  readonly ledger: RevisionLedger
  readonly children: ChildStarter
  readonly #parts: ExecutionParts
  readonly #owner: ExecutionOwner
  readonly #delivery: Delivery
  readonly #inbox: Inbox
  readonly #root = new Scope('')
  readonly #open = new Map<string, Operation>()
  /** Paths of operations that were taken back: what was journaled of them counts as delivered. */
  readonly #takenBack = new Set<string>()
  readonly #opening: Map<string, readonly JournalEntry[]>
  readonly #questions = new Map<string, { readonly path: string; readonly label: string }>()
  readonly #messages: RunMessage[] = []
  readonly #superseded: string[]
  #controller: AbortController | undefined
  #abortReason: HoldfastError | undefined
  #waiting: Operation[] = []
  #onLive: (() => void)[] = []
  /** Who waits for an operation to be closed. */
  readonly #closed: (() => void)[] = []
  /** The iteration that each loop is in; what is journaled of earlier ones counts as delivered. */
  readonly #iterations = new Map<string, number>()
  #due: Operation[] = []
  #phase: Phase = 'new'
  #span: Span | undefined
  #live = false
  #bodies = 0
  #now: number
  #refusals = 0
  #outcome: Outcome | undefined
  #cancel: Cancel | undefined
  #graceIsOver = false
  #draining = false
  /** From the cancel's delivery on: when cleanup must be over. */
  #cleanupUntil: number | undefined
  #stopTimers: (() => void)[] = []
  #cancelWatchdog: (() => void) | undefined
  #quiet: (() => void) | undefined
  #progress:
    | { readonly completed: number; readonly total?: number; readonly message?: string }
    | undefined
  readonly #artifacts = new Map<string, ArtifactReference>()

  constructor(parts: ExecutionParts, owner: ExecutionOwner) {
    const { services, state, registered, journal } = parts
    this.services = services
    this.sessionId = state.sessionId
    this.runId = state.runId
    this.originRunId = parts.originRunId
    this.registered = registered
    this.#parts = parts
    this.#owner = owner
    this.#opening = new Map(journal.opening)
    this.ledger = journal.ledger
    this.#superseded = [...journal.superseded]
    this.#now = journal.seed.at
    for (const entry of [...journal.opening.values()].flat()) this.#knowQuestion(entry)
    if (journal.cancel !== undefined) {
      this.#cancel = { reason: journal.cancel.reason, state: 'asked' }
      if (journal.settling.some(({ entry }) => entry.kind === 'cancel-delivered')) {
        this.#cancel.state = 'told'
      }
    }
    this.output = new OutputQueue(
      this.runId,
      registered.definition.stream,
      { number: state.record.stream + 1, next: parts.streamNext },
      (cause) => this.#log('warn', 'engine.stream.framing_failed', 'A framing failed.', cause),
    )
    const { progress } = journal
    this.writer = new JournalWriter(
      {
        services,
        ownership: parts.ownership,
        state,
        output: this.output,
        lastTime: journal.lastTime,
        totals: {
          completedSteps: journal.completedSteps,
          totalSteps: journal.seed.totalSteps,
          inboxNext: journal.inboxNext,
          progress: undefined,
        },
      },
      {
        writing: (entry, revision) => this.ledger.record(entry, revision),
        committed: (entries) => this.#delivery.push(entries),
        quiet: () => {
          this.#quiet?.()
          this.#delivery.schedule()
        },
        waiting: () => this.#delivery.schedule(),
        failed: (error) => this.#fail(error),
      },
    )
    if (progress !== undefined) this.writer.knownProgress(progress)
    this.#delivery = new Delivery(services.system, {
      mayDeliver: () => this.#phase === 'executing',
      isDone: () => this.#outcome !== undefined,
      isExpected: (entry) => this.#isExpected(entry),
      valueOf: (delivered) => this.#valueOf(delivered),
      deliver: (delivered, entry, value) => this.#deliver(delivered, entry, value),
      delivered: () => this.#cameToRest(),
      starved: () => this.#starved(),
      failed: (error) => this.#fail(error),
    })
    this.#inbox = new Inbox(
      services.store,
      { sessionId: this.sessionId, runId: this.runId, next: journal.inboxNext },
      (entry, sequence) => this.#arrived(entry, sequence),
      (error) => this.#fail(error),
    )
    this.children = owner.childrenOf(this)
  }

  /** Runs the definition from its beginning, over the journal. A slot is held. */
  start(): void {
    if (this.#phase !== 'new') return
    this.#phase = 'executing'
    const { name, version } = this.registered
    this.#span = this.services.telemetry?.startSpan('holdfast.run', {
      'holdfast.run.id': this.runId,
      'holdfast.definition': `${name}@${version}`,
    })
    this.#delivery.push(this.#parts.journal.settling)
    const { definition } = this.registered
    this.runCode<unknown>(this.#root, (context) => definition.run(context, this.#parts.input)).then(
      (value) => this.#finished(returned(this.runId, value)),
      (error: unknown) => this.#finished({ kind: 'threw', error }),
    )
  }

  /** Goes on after a rest: a slot is held again. */
  resume(): void {
    if (this.#phase !== 'resting') return
    this.#phase = 'executing'
    for (const operation of this.#due.splice(0)) operation.wake?.()
    this.#inbox.poke()
    this.#delivery.schedule()
  }

  /** Something may have reached the run. */
  pokeInbox(): void {
    if (this.#phase === 'resting') this.#owner.wantsSlot()
    else if (this.#phase === 'executing') this.#inbox.poke()
  }

  get isResting(): boolean {
    return this.#phase === 'resting'
  }

  /** Whether bodies run, or something is being committed. */
  get isAtWork(): boolean {
    return this.#bodies > 0 || this.writer.isBusy || this.#phase === 'ending'
  }

  /** Nothing begins any more; what runs may finish. */
  drain(): void {
    this.#draining = true
  }

  /** Resolves when no commit of it is in flight. */
  idle(): Promise<void> {
    return this.writer.idle()
  }

  /** Stops at once and in silence: the run goes on elsewhere, or later. */
  drop(reason: HoldfastError): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    this.#span?.end(reason)
    this.#dropOperations(reason)
    this.writer.stop()
    void this.#inbox.stop()
    this.#quiet?.()
  }

  // What operations ask of their host.

  get operations(): Iterable<Operation> {
    return this.#open.values()
  }

  open(operation: Operation): void {
    const { path } = operation
    const opened = this.#opening.get(path)
    if (opened !== undefined) {
      this.#opening.delete(path)
      const foreign = opened.find((entry) => !fits(operation, entry))
      if (foreign !== undefined) {
        void this.#block('asked for with another kind', [path])
        return
      }
      operation.claim(opened)
    }
    this.#open.set(path, operation)
    this.#stopWatching()
    if (this.#phase === 'resting') this.#owner.wantsSlot()
    if (!this.#live || !this.#mayBegin(operation)) this.#waiting.push(operation)
    else operation.begin()
    if (!this.#live) this.#delivery.schedule()
  }

  /** Loops only hold what is in them; they go on while nothing else may begin. */
  #mayBegin(operation: Operation): boolean {
    if (operation.kind === 'loop') return true
    return !this.#draining && !this.isCancelling(operation.scope)
  }

  close(operation: Operation): void {
    this.#open.delete(operation.path)
    for (const closed of this.#closed.splice(0)) closed()
  }

  bodyStarted(): void {
    this.#bodies += 1
    this.writer.rouse()
  }

  bodyEnded(): void {
    this.#bodies -= 1
    this.#delivery.schedule()
  }

  whenLive(act: () => void): void {
    if (this.#live) act()
    else this.#onLive.push(act)
  }

  isCancelling(scope: Scope): boolean {
    return this.#cancel !== undefined && this.#cancel.state !== 'delivered' && !scope.isCleanup()
  }

  alarm(operation: Operation, wakeAt: number): () => void {
    const { system } = this.services
    const due = (): void => {
      if (this.#phase === 'executing') operation.wake?.()
      else if (this.#phase === 'resting') {
        this.#due.push(operation)
        this.#owner.wantsSlot()
      }
    }
    const delayMs = wakeAt - system.now()
    if (delayMs > 0) return system.after(delayMs, due)
    let isWanted = true
    system.macrotask(() => {
      if (isWanted) due()
    })
    return () => {
      isWanted = false
    }
  }

  hasStoredChunks(tag: string): boolean {
    return this.#parts.storedWriters.has(tag)
  }

  takeMessage(scope: Scope): RunMessage | undefined {
    const message = this.#messages.shift()
    if (message !== undefined) this.ledger.messageTaken(message.id, scope.path)
    return message
  }

  /** Runs code of the definition in a scope of its own, with the context of that scope. */
  async runCode<Result>(
    scope: Scope,
    code: (context: WorkflowContext) => Promise<Result> | Result,
  ): Promise<Result> {
    const context = new ScopeContext(this, scope)
    return runIn(scope, async () => code(context))
  }

  // What loops ask.

  /** What the journal has of a loop: it goes on, or ends, when that is delivered. */
  knownLoop(path: string): { readonly items: readonly JsonValue[] } | undefined {
    return this.#parts.journal.loops.get(path)
  }

  /**
   * Resolves when nothing of an iteration is open any more: sleeps and receives are taken back, the
   * rest is waited for.
   *
   * @throws `scope_misuse` while a question of it is open
   */
  async finishIteration(scope: Scope): Promise<void> {
    for (;;) {
      const inside = [...this.#open.values()].filter((operation) => operation.scope.isWithin(scope))
      if (inside.some(({ kind }) => kind === 'interrupt')) throw interruptCrosses()
      const idle = inside.filter(({ kind }) => kind === 'sleep' || kind === 'receive')
      for (const operation of idle) this.#takeBack(operation, iterationOver())
      if (idle.length === inside.length) break
      await new Promise<void>((resolve) => this.#closed.push(resolve))
    }
    this.takeBack(scope, iterationOver())
  }

  questionOpened(interruptId: string, path: string, label: string): void {
    this.#questions.set(interruptId, { path, label })
  }

  // What contexts ask besides.

  /** The time of the entry that was delivered last. */
  get deliveredAt(): number {
    return this.#now
  }

  get parentRunId(): string | undefined {
    return this.#parts.state.record.parentRunId
  }

  /** Made when it is asked for: most definitions never look. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason)
    }
    return this.#controller.signal
  }

  get isOver(): boolean {
    return this.#phase === 'over' || this.#phase === 'ending'
  }

  /** An operation is refused. Code that asks on for ever gets no more answers. */
  refuse<Value>(reason: HoldfastError): Promise<Value> {
    this.#refusals += 1
    if (this.#refusals > refusalsBorne) return never()
    const refused = createDeferred<Value>()
    refused.reject(reason)
    return refused.promise
  }

  /** Takes back everything in a scope. */
  takeBack(scope: Scope, reason: HoldfastError): void {
    scope.takeBack(reason)
    const inside = [...this.#open.values()].filter(
      (operation) => operation.scope.isWithin(scope) && operation.scope.refusal() !== undefined,
    )
    for (const operation of inside) this.#takeBack(operation, reason)
    this.#delivery.schedule()
  }

  showProgress(state: {
    readonly completed: number
    readonly total?: number
    readonly message?: string
  }): void {
    this.#progress = state
    if (this.#live) this.#journalProgress()
  }

  addArtifact(artifact: ArtifactReference): void {
    this.#artifacts.set(artifactKey(artifact), artifact)
    if (this.#live) this.#journalArtifacts()
  }

  // The definition.

  #finished(outcome: Outcome): void {
    if (this.#phase === 'over') return
    this.#outcome ??= outcome
    this.#stopWatching()
    if (this.#phase === 'resting') this.#owner.wantsSlot()
    this.#delivery.schedule()
  }

  #isExpected(entry: SettlingEntry): boolean {
    if (!('path' in entry)) return true
    if (this.#open.has(entry.path) || this.#takenBack.has(entry.path)) return true
    return iterationsOf(entry.path).some(
      ({ loop, number }) => number < (this.#iterations.get(loop) ?? 0),
    )
  }

  #valueOf({ entry, value }: Delivered): JsonValue | undefined | Promise<JsonValue | undefined> {
    if (value !== undefined) return value.decoded
    const stored = storedValueOf(entry)
    if (stored === undefined || 'none' in stored) return undefined
    if ('json' in stored) return stored.json
    return decodeValue(this.services.store, this, stored)
  }

  #deliver(delivered: Delivered, entry: SettlingEntry, value: JsonValue | undefined): void {
    this.#now = Math.max(this.#now, entry.at)
    if (entry.kind === 'message-arrived') {
      this.#offer({ id: entry.messageId, body: value ?? null })
      return
    }
    if (entry.kind === 'cancel-delivered') {
      this.#deliverCancel(entry.reason, entry.at)
      return
    }
    const operation = this.#open.get(entry.path)
    if (operation === undefined) {
      if (entry.kind === 'interrupt-answered') this.#superseded.push(entry.interruptId)
      return
    }
    if (entry.kind === 'loop-checkpoint') this.#iterationEnds(entry.path, entry.iteration)
    if (entry.kind === 'loop-ended') this.#iterations.set(entry.path, Infinity)
    if (fits(operation, entry)) operation.settle(delivered, value)
    else void this.#block('asked for with another kind', [entry.path])
  }

  #offer(message: RunMessage): void {
    for (const operation of this.#open.values()) {
      if (operation instanceof ReceiveOperation) {
        if (operation.isTimed) this.#takenBack.add(operation.path)
        this.ledger.messageTaken(message.id, operation.scope.path)
        operation.take(message)
        return
      }
    }
    this.#messages.push(message)
  }

  /** What was taken back in an iteration need not be remembered once it is over. */
  #iterationEnds(loop: string, iteration: number): void {
    this.#iterations.set(loop, iteration + 1)
    const prefix = `${loop}:${iteration}/`
    for (const path of this.#takenBack) if (path.startsWith(prefix)) this.#takenBack.delete(path)
    // What was said of progress before it is in the journal, if it was to be.
    if (!this.#live) this.#progress = undefined
  }

  #takeBack(operation: Operation, reason: HoldfastError): void {
    this.#takenBack.add(operation.path)
    this.#open.delete(operation.path)
    operation.takeBack(reason)
  }

  // Coming to rest.

  /** Everything is delivered, and the definition has done what it can do for now. */
  #cameToRest(): void {
    if (!this.#live) {
      if (this.#unclaimed().length > 0) {
        this.#starved()
        return
      }
      this.#goLive()
    }
    if (this.#outcome !== undefined) {
      void this.#end(this.#outcome)
      return
    }
    if (this.#cancel?.state === 'asked' && this.#tellCancel()) return
    if (this.#bodies > 0 || this.writer.isBusy || this.#inbox.isReading) {
      this.writer.flush()
      return
    }
    const rest = restOf(this.#open.values())
    switch (rest.kind) {
      case 'none':
        this.writer.flush()
        return
      case 'foreign':
        this.#watchForeign()
        return
      case 'interrupted':
        if (this.#cleanupUntil === undefined) this.#interrupt()
        else this.#park('message', this.#cleanupUntil)
        return
      case 'waiting':
        this.#park(rest.for, earlier(rest.wakeAt, this.#cleanupUntil))
        return
    }
  }

  /** The journal is delivered: what has no entry in it may begin. */
  #goLive(): void {
    this.#stopWatching()
    this.#live = true
    for (const act of this.#onLive.splice(0)) act()
    this.#journalProgress()
    this.#journalArtifacts()
    if (this.#outcome !== undefined) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const operation of waiting) {
      if (!this.#open.has(operation.path)) continue
      if (this.#mayBegin(operation)) operation.begin()
      else this.#waiting.push(operation)
    }
    if (this.#cancel?.state === 'asked') this.#signalBodies()
  }

  #interrupt(): void {
    const { record } = this.#parts.state
    const { inboxNext } = this.writer.totals
    if (
      record.status === 'interrupted' &&
      record.inboxReadThrough === inboxNext &&
      !this.writer.hasWaiting
    ) {
      this.#rest()
      return
    }
    const entries: JournalEntry[] =
      this.writer.record.status === 'interrupted'
        ? []
        : [
            {
              kind: 'run-interrupted',
              at: this.writer.time(),
              interrupts: this.writer.record.interrupts.map(({ id }) => id),
            },
          ]
    this.writer
      .conclude({
        entries,
        moves: [interrupted],
        after: [inboxUnchanged(this.runId, inboxNext)],
        ...(entries.length === 0 ? {} : { closing: { end: 'interrupted' } }),
      })
      .then(
        (committed) => {
          if (!committed) this.#inbox.poke()
          this.#delivery.schedule()
        },
        (error: unknown) => this.#fail(error),
      )
  }

  #park(
    waitingFor: 'sleep' | 'message' | 'child' | 'retry' | 'code',
    wakeAt: number | undefined,
  ): void {
    const { system, limits } = this.services
    if (wakeAt !== undefined && wakeAt - system.now() <= limits.parkAfterMs) {
      this.writer.flush()
      return
    }
    const { record } = this.#parts.state
    if (
      record.status === 'running' &&
      record.parked &&
      record.waitingFor === waitingFor &&
      record.wakeAt === wakeAt &&
      record.inboxReadThrough === this.writer.totals.inboxNext &&
      !this.writer.hasWaiting
    ) {
      this.#rest()
      return
    }
    this.writer.move(parked(waitingFor, wakeAt), true)
  }

  #rest(): void {
    this.#phase = 'resting'
    this.#owner.rested()
  }

  // The watchdog.

  #starved(): void {
    this.#watch(() => void this.#block('not asked for', this.#unclaimed()))
  }

  /** Operations that the journal has and the definition has not asked for. */
  #unclaimed(): readonly string[] {
    const missing = new Set(this.#opening.keys())
    for (const entry of this.#delivery.pending) {
      if ('path' in entry && !this.#isExpected(entry)) missing.add(entry.path)
    }
    return [...missing]
  }

  #watchForeign(): void {
    this.writer.flush()
    if (this.#cancel?.state === 'delivered') {
      this.#watch(() => {
        this.#outcome ??= { kind: 'cut' }
        this.#delivery.schedule()
      })
      return
    }
    const { record } = this.#parts.state
    if (record.waitingFor === 'code') {
      this.#park('code', undefined)
      return
    }
    this.#watch(() => {
      this.#log(
        'error',
        'engine.run.foreign_await',
        'A definition awaits something that is not of its context, outside a step.',
        undefined,
        { code: ErrorCode.foreignAwait },
      )
      this.#park('code', undefined)
    })
  }

  #watch(expired: () => void): void {
    this.#cancelWatchdog ??= this.services.system.after(this.services.limits.watchdogMs, () => {
      this.#cancelWatchdog = undefined
      if (this.#phase === 'executing') expired()
    })
  }

  #stopWatching(): void {
    this.#cancelWatchdog?.()
    this.#cancelWatchdog = undefined
  }

  /** The code does not fit the journal: nothing has begun, and nothing will. */
  async #block(what: string, paths: readonly string[]): Promise<void> {
    if (this.#phase !== 'executing') return
    this.#phase = 'ending'
    this.#log(
      'error',
      'engine.run.blocked',
      'A run cannot go on: its definition does not fit what was journaled.',
      undefined,
      { code: ErrorCode.determinism, reason: what, paths: paths.slice(0, 20) },
    )
    this.#dropOperations(
      new HoldfastError(ErrorCode.determinism, { message: 'The run cannot go on with this code.' }),
    )
    try {
      await this.#inbox.stop()
      if (this.#cancel !== undefined) {
        await this.#endNow({ kind: 'cut' })
        return
      }
      this.writer.move(parked('code', undefined), true)
      await this.#whenQuiet()
      if (this.#phase !== 'ending') return
      this.#phase = 'over'
      this.writer.stop()
      this.#owner.blocked()
    } catch (error) {
      this.#fail(error)
    }
  }

  // The inbox.

  async #arrived(entry: InboxEntry, inbox: number): Promise<void> {
    if (this.#phase === 'over') return
    const { writer } = this
    writer.totals.inboxNext = inbox + 1
    switch (entry.kind) {
      case 'message': {
        const { stored, blob, value } = encodeValue(this.runId, entry.body)
        writer.append(
          { kind: 'message-arrived', at: writer.time(), messageId: entry.id, body: stored, inbox },
          { value: { decoded: value }, ...(blob === undefined ? {} : { before: [blob] }) },
        )
        return
      }
      case 'cancel':
        if (this.#cancel !== undefined) return
        this.#cancel = { reason: entry.reason, state: 'asked' }
        writer.append(
          { kind: 'cancel-requested', at: writer.time(), reason: entry.reason, inbox },
          { move: cancelSeen },
        )
        if (this.#live) this.#signalBodies()
        return
      case 'answer': {
        const { interruptId, payload, by } = entry
        const question = this.#questions.get(interruptId)
        if (question === undefined) {
          this.#superseded.push(interruptId)
          return
        }
        const { stored, blob, value } = encodeValue(this.runId, payload)
        writer.append(
          {
            kind: 'interrupt-answered',
            at: writer.time(),
            ...question,
            interruptId,
            value: stored,
            by,
            inbox,
          },
          {
            value: { decoded: value },
            move: interruptClosed(interruptId),
            ...(blob === undefined ? {} : { before: [blob] }),
          },
        )
        return
      }
      case 'child': {
        const path = this.#childPath(entry.runId)
        const { output } = await this.#owner.childEnd(entry.runId)
        if (path === undefined) return
        const encoded = output === undefined ? undefined : encodeValue(this.runId, output)
        writer.append(
          {
            kind: 'child-ended',
            at: writer.time(),
            ...path,
            runId: entry.runId,
            status: entry.status,
            ...(encoded === undefined ? {} : { output: encoded.stored }),
            ...(entry.error === undefined ? {} : { error: entry.error }),
            inbox,
          },
          {
            value: { decoded: encoded?.value },
            ...(encoded?.blob === undefined ? {} : { before: [encoded.blob] }),
          },
        )
      }
    }
  }

  #childPath(runId: string): { readonly path: string; readonly label: string } | undefined {
    return this.#childPaths.get(runId)
  }

  readonly #childPaths = new Map<string, { readonly path: string; readonly label: string }>()

  /** A child was started, or is known from the journal. */
  knowChild(runId: string, path: string, label: string): void {
    this.#childPaths.set(runId, { path, label })
  }

  #knowQuestion(entry: JournalEntry): void {
    if (entry.kind === 'interrupt-opened') {
      this.#questions.set(entry.interruptId, { path: entry.path, label: entry.label })
    }
    if (entry.kind === 'child-started') this.knowChild(entry.runId, entry.path, entry.label)
  }

  // Cancel.

  #signalBodies(): void {
    const reason = this.#cancelledError()
    let running = 0
    for (const operation of this.#open.values()) {
      if (!(operation instanceof StepOperation) || operation.scope.isCleanup()) continue
      if (operation.signalBody(reason)) running += 1
    }
    if (running > 0) {
      this.#later(this.services.limits.cancelGraceMs, () => {
        this.#graceIsOver = true
        this.#delivery.schedule()
      })
    }
    this.#delivery.schedule()
  }

  /** Journals that the cancel is delivered, once bodies have settled. True if it has begun to. */
  #tellCancel(): boolean {
    const cancel = this.#cancel
    if (cancel === undefined) return false
    const running = this.#running((step) => !step.scope.isCleanup())
    if (running.length > 0 && !this.#graceIsOver) return false
    cancel.state = 'told'
    this.writer.append(
      {
        kind: 'cancel-delivered',
        at: this.writer.time(),
        reason: cancel.reason,
        abandoned: running.map(({ path }) => path),
      },
      { value: { decoded: undefined } },
    )
    return true
  }

  #deliverCancel(reason: string, at: number): void {
    const { system, limits } = this.services
    this.#cancel = { reason, state: 'delivered' }
    const error = this.#cancelledError()
    this.#cleanupUntil = at + limits.cleanupMs
    this.#later(this.#cleanupUntil - system.now(), () => {
      this.#outcome ??= { kind: 'cut' }
      this.#wantTurn()
    })
    this.takeBack(this.#root, error)
    this.#abort(error)
  }

  /** A turn is due: with the slot that is held, or one that is asked for. */
  #wantTurn(): void {
    if (this.#phase === 'resting') this.#owner.wantsSlot()
    else this.#delivery.schedule()
  }

  #cancelledError(): HoldfastError {
    return new HoldfastError(ErrorCode.cancelled, {
      message: this.#cancel?.reason ?? 'cancel requested',
    })
  }

  #running(which: (step: StepOperation) => boolean): readonly StepOperation[] {
    return [...this.#open.values()].filter(
      (operation): operation is StepOperation =>
        operation instanceof StepOperation && operation.isRunning && which(operation),
    )
  }

  // The end.

  async #end(outcome: Outcome): Promise<void> {
    if (this.#phase !== 'executing') return
    this.#phase = 'ending'
    this.#stopWatching()
    try {
      await this.#inbox.stop()
      await this.#endNow(outcome)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #endNow(outcome: Outcome): Promise<void> {
    const inFlight = await this.#settleBodies()
    const children = [...this.#open.values()].flatMap((operation) =>
      operation instanceof ChildOperation && operation.childRunId !== undefined
        ? [operation.childRunId]
        : [],
    )
    this.#dropOperations(this.#endedError())
    await this.#whenQuiet()
    if (this.#phase !== 'ending') return
    const { services, ownership, state } = this.#parts
    const end = await endRun(
      { services, ownership, state, writer: this.writer, registered: this.registered },
      outcome,
      {
        undelivered: [...this.#messages.map(({ id }) => id), ...this.#pendingMessages()],
        superseded: [...this.#superseded, ...this.#pendingAnswers()],
        inFlight,
        children,
        cancelReason: this.#cancel?.reason,
      },
    )
    if (this.#phase !== 'ending') return
    this.#phase = 'over'
    this.#span?.setAttributes({ 'holdfast.run.status': end.status })
    this.#span?.end()
    this.services.telemetry?.count('holdfast.runs.ended', 1, { 'holdfast.run.status': end.status })
    this.writer.stop()
    this.#owner.ended(end)
  }

  /** Tells bodies that run to stop, and waits for them or the grace. Gives the paths of those that ran. */
  async #settleBodies(): Promise<readonly string[]> {
    const running = this.#running(() => true)
    if (running.length === 0) return []
    const reason = this.#endedError()
    for (const step of running) step.signalBody(reason)
    await new Promise<void>((resolve) => {
      const cancel = this.services.system.after(this.services.limits.cancelGraceMs, resolve)
      const check = (): void => {
        if (this.#phase !== 'over' && running.some((step) => step.isRunning)) {
          this.services.system.after(1, check)
          return
        }
        cancel()
        resolve()
      }
      check()
    })
    return running.map(({ path }) => path)
  }

  #endedError(): HoldfastError {
    return new HoldfastError(ErrorCode.stepAborted, { message: 'The run has ended.' })
  }

  #pendingMessages(): readonly string[] {
    return this.#delivery.pending.flatMap((entry) =>
      entry.kind === 'message-arrived' ? [entry.messageId] : [],
    )
  }

  #pendingAnswers(): readonly string[] {
    return this.#delivery.pending.flatMap((entry) =>
      entry.kind === 'interrupt-answered' ? [entry.interruptId] : [],
    )
  }

  async #whenQuiet(): Promise<void> {
    while (this.writer.isBusy && this.#phase === 'ending') {
      await new Promise<void>((resolve) => {
        this.#quiet = resolve
      })
    }
  }

  // Progress.

  #journalProgress(): void {
    const state = this.#progress
    if (state === undefined || this.writer.showsProgress(state)) return
    this.writer.append(
      { kind: 'progress-made', at: this.writer.time(), ...state },
      { canWait: true },
    )
  }

  #journalArtifacts(): void {
    for (const [key, artifact] of this.#artifacts) {
      this.#artifacts.delete(key)
      const { artifacts } = this.#parts.state.record
      if (artifacts.some((known) => artifactKey(known) === key)) continue
      this.writer.append(
        { kind: 'artifact-added', at: this.writer.time(), artifact },
        { canWait: true, move: artifactAdded(artifact) },
      )
    }
  }

  // Ways out.

  #fail(error: unknown): void {
    if (this.#phase === 'over') return
    this.drop(ownershipLost(error))
    this.#owner.failed(error)
  }

  #dropOperations(reason: HoldfastError): void {
    this.#stopWatching()
    for (const stop of this.#stopTimers.splice(0)) stop()
    for (const operation of this.#open.values()) operation.drop(reason)
    this.#abort(reason)
  }

  #abort(reason: HoldfastError): void {
    this.#abortReason ??= reason
    this.#controller?.abort(this.#abortReason)
  }

  #later(delayMs: number, run: () => void): void {
    this.#stopTimers.push(this.services.system.after(Math.max(0, delayMs), run))
  }

  #log(
    level: 'warn' | 'error',
    event: string,
    message: string,
    cause: unknown,
    fields: Readonly<Record<string, JsonValue>> = {},
  ): void {
    const { name, version } = this.registered
    this.services.log.write({
      level,
      event,
      message,
      fields: { run_id: this.runId, definition: `${name}@${version}`, ...fields },
      cause,
    })
  }
}

function earlier(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right
  return Math.min(left, right)
}
