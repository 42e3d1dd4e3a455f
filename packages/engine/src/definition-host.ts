// What a definition's code, and the operations that it asks for, can ask of their execution.
//
// Owns:  open operations, alarms that came while the run was at rest, the count of running bodies,
//        the signal of the code.
// Asks:  the barrier whether an operation may begin; the execution for a turn or a slot.
// Never: delivers, commits or ends anything.
//
// U1. Code runs with the context of its own scope, and only until the execution is over.
// U2. An operation that is asked for under a path of the journal has the kind that the journal has.
// U3. What is taken back stays taken back: its entries count as delivered.
import type {
  ArtifactReference,
  HoldfastError,
  JsonValue,
  RegisteredDefinition,
  RunMessage,
  WorkflowContext,
} from '@holdfast/core'
import type { Arrivals } from './arrivals.ts'
import { Barrier } from './barrier.ts'
import type { Cancellation } from './cancellation.ts'
import { ScopeContext } from './context.ts'
import { createDeferred, never } from './deferred.ts'
import type { ExecutionParts } from './execution-parts.ts'
import type { ProgressState } from './journal-totals.ts'
import type { JournalWriter } from './journal-writer.ts'
import { LazySignal } from './lazy-signal.ts'
import { interruptCrosses, iterationOver } from './loop.ts'
import { Mailbox } from './mailbox.ts'
import { originOf } from './migration.ts'
import { OpenOperations } from './open-operations.ts'
import type { Operation } from './operation.ts'
import type { ChildStarter, OperationHost } from './operation-host.ts'
import type { Services } from './options.ts'
import type { OutputQueue } from './output.ts'
import { Reports } from './reports.ts'
import type { RevisionLedger } from './revision-ledger.ts'
import { runIn, Scope } from './scope.ts'

/** How often a definition may ignore that its operations are refused. */
const refusalsBorne = 1_000

/** What the host of a definition asks of its execution. */
export interface HostPort {
  readonly cancellation: () => Cancellation
  readonly arrivals: () => Arrivals
  readonly children: () => ChildStarter
  readonly state: () => 'executing' | 'resting' | 'over'
  /** Sees to a turn of the execution, when it has a slot. */
  schedule(): void
  wantsSlot(): void
  /** Code has asked for something. */
  asked(): void
  /** The journal has another kind under this path. */
  unfit(path: string): void
}

/** The host of one execution's definition. */
export class DefinitionHost implements OperationHost {
  readonly services: Services
  readonly sessionId: string
  readonly runId: string
  readonly originRunId: string
  readonly registered: RegisteredDefinition
  readonly writer: JournalWriter
  readonly output: OutputQueue
  readonly ledger: RevisionLedger
  readonly operations: OpenOperations
  readonly mailbox: Mailbox
  readonly barrier: Barrier
  readonly reports: Reports
  readonly root = new Scope('')
  /** The time of the entry that was delivered last. */
  deliveredAt: number
  readonly #parts: ExecutionParts
  readonly #port: HostPort
  readonly #signal = new LazySignal()
  #due: Operation[] = []
  #bodies = 0
  #refusals = 0
  #draining = false

  constructor(
    parts: ExecutionParts,
    made: { readonly writer: JournalWriter; readonly output: OutputQueue },
    port: HostPort,
  ) {
    const { services, state, registered, journal } = parts
    this.services = services
    this.sessionId = state.sessionId
    this.runId = state.runId
    this.originRunId = parts.originRunId
    this.registered = registered
    this.writer = made.writer
    this.output = made.output
    this.ledger = journal.ledger
    this.deliveredAt = journal.seed.at
    this.operations = new OpenOperations(journal.opening)
    this.mailbox = new Mailbox(this.operations, this.ledger)
    this.barrier = new Barrier((operation) => this.#mayBegin(operation))
    this.reports = new Reports(this.writer, state, this.barrier)
    this.#parts = parts
    this.#port = port
  }

  get children(): ChildStarter {
    return this.#port.children()
  }

  /** Whether bodies run. */
  get hasBodies(): boolean {
    return this.#bodies > 0
  }

  /** No operation begins any more. */
  drain(): void {
    this.#draining = true
  }

  /** A slot is held again: what was due meanwhile is woken. */
  resume(): void {
    for (const operation of this.#due.splice(0)) operation.wake?.()
  }

  /** The code is told to stop, by its signal. */
  abort(reason: HoldfastError): void {
    this.#signal.abort(reason)
  }

  // What operations ask of their host.

  open(operation: Operation): void {
    if (!this.operations.add(operation)) {
      this.#port.unfit(operation.path)
      return
    }
    this.#port.asked()
    if (this.#port.state() === 'resting') this.#port.wantsSlot()
    this.barrier.begin(operation)
    if (!this.barrier.isLive) this.#port.schedule()
  }

  originOf(path: string): string {
    const { migrations } = this.#parts.journal
    return migrations.length === 0 ? path : originOf(migrations, path)
  }

  close(operation: Operation): void {
    this.operations.close(operation)
  }

  bodyStarted(): void {
    this.#bodies += 1
    this.writer.rouse()
  }

  bodyEnded(): void {
    this.#bodies -= 1
    this.#port.schedule()
  }

  whenLive(act: () => void): void {
    this.barrier.whenLive(act)
  }

  isCancelling(scope: Scope): boolean {
    return this.#port.cancellation().isPending(scope)
  }

  alarm(operation: Operation, wakeAt: number): () => void {
    const { system } = this.services
    const due = (): void => {
      const state = this.#port.state()
      if (state === 'executing') operation.wake?.()
      else if (state === 'resting') {
        this.#due.push(operation)
        this.#port.wantsSlot()
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
    return this.mailbox.take(scope)
  }

  questionOpened(interruptId: string, path: string, label: string): void {
    this.#port.arrivals().questionOpened(interruptId, path, label)
  }

  childStarted(runId: string, path: string, label: string): void {
    this.#port.arrivals().childStarted(runId, path, label)
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
      const inside = this.operations.within(scope)
      if (inside.some(({ kind }) => kind === 'interrupt')) throw interruptCrosses()
      const idle = inside.filter(({ kind }) => kind === 'sleep' || kind === 'receive')
      for (const operation of idle) this.operations.takeBack(operation, iterationOver())
      if (idle.length === inside.length) break
      await this.operations.closed()
    }
    this.takeBack(scope, iterationOver())
  }

  // What contexts ask besides.

  /** Runs code of the definition in a scope of its own, with the context of that scope. */
  async runCode<Result>(
    scope: Scope,
    code: (context: WorkflowContext) => Promise<Result> | Result,
  ): Promise<Result> {
    const context = new ScopeContext(this, scope)
    return runIn(scope, async () => code(context))
  }

  get parentRunId(): string | undefined {
    return this.#parts.state.record.parentRunId
  }

  get signal(): AbortSignal {
    return this.#signal.signal
  }

  get isOver(): boolean {
    return this.#port.state() === 'over'
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
    for (const operation of this.operations.within(scope)) {
      if (operation.scope.refusal() !== undefined) this.operations.takeBack(operation, reason)
    }
    this.#port.schedule()
  }

  showProgress(state: ProgressState): void {
    this.reports.progress(state)
  }

  addArtifact(artifact: ArtifactReference): void {
    this.reports.artifact(artifact)
  }

  /** Loops only hold what is in them; they go on while nothing else may begin. */
  #mayBegin(operation: Operation): boolean {
    if (operation.kind === 'loop') return true
    return !this.#draining && !this.isCancelling(operation.scope)
  }
}
