// One run, executed in this process: its definition over its journal.
//
// Owns:  the definition's code while it runs, and the phase that the execution is in.
// Asks:  the writer to journal, the delivery to bring what was journaled, its owner for a slot.
// Never: runs a body while entries of the journal are undelivered or not asked for.
//
// X1. Until everything that was journaled has been delivered and claimed, no operation begins.
// X2. Definition code and bodies run only while a slot is held.
// X3. Once it is over (ended, blocked, lost or evicted), nothing of it has an effect any more.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { JsonObject, JsonValue } from '@holdfast/core'
import { Arrivals } from './arrivals.ts'
import { Cancellation } from './cancellation.ts'
import { DefinitionHost } from './definition-host.ts'
import { Delivery } from './delivery.ts'
import { endExecution } from './ending.ts'
import { fits, storedValueOf } from './entry-of-operation.ts'
import { logRun, outputOf, writerOf } from './execution-parts.ts'
import type { ExecutionOwner, ExecutionParts } from './execution-parts.ts'
import { Inbox } from './inbox.ts'
import type { JournalWriter } from './journal-writer.ts'
import { journalMigration } from './migrating.ts'
import type { Delivered, SettlingEntry } from './operation.ts'
import type { ChildStarter } from './operation-host.ts'
import { returned } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import { restOf } from './rest.ts'
import { ownershipLost } from './run-commit.ts'
import { codeAwaited } from './run-moves.ts'
import { Standstill } from './standstill.ts'
import { decodeValue, tamed } from './stored-values.ts'
import { runIds, timed, workflowLabels } from './telemetry.ts'
import type { Timed } from './telemetry.ts'
import { Watchdog } from './watchdog.ts'

type Phase = 'new' | 'executing' | 'resting' | 'ending' | 'over'

/** One execution of one run. */
export class Execution {
  readonly #parts: ExecutionParts
  readonly #owner: ExecutionOwner
  readonly #writer: JournalWriter
  readonly #host: DefinitionHost
  readonly #children: ChildStarter
  readonly #delivery: Delivery
  readonly #inbox: Inbox
  readonly #arrivals: Arrivals
  readonly #cancellation: Cancellation
  readonly #standstill: Standstill
  readonly #watchdog: Watchdog
  #phase: Phase = 'new'
  #timed: Timed | undefined
  #outcome: Outcome | undefined

  constructor(parts: ExecutionParts, owner: ExecutionOwner) {
    const { services, state, journal } = parts
    const { runId, sessionId } = state
    this.#parts = parts
    this.#owner = owner
    this.#watchdog = new Watchdog(services.system, services.limits.watchdogMs)
    const schedule = (): void => this.#delivery.schedule()
    const failed = (error: unknown): void => this.#fail(error)
    const output = outputOf(parts)
    const writer = writerOf(parts, output, {
      writing: (entry, revision) => journal.ledger.record(entry, revision),
      committed: (entries) => this.#delivery.push(entries),
      quiet: schedule,
      waiting: schedule,
      failed,
    })
    this.#writer = writer
    const host = new DefinitionHost(
      parts,
      { writer, output },
      {
        cancellation: () => this.#cancellation,
        arrivals: () => this.#arrivals,
        children: () => this.#children,
        state: () => this.#stateOfCode(),
        schedule,
        wantsSlot: () => owner.wantsSlot(),
        asked: () => this.#watchdog.stop(),
        unfit: (path) => void this.#block('asked for with another kind', [path]),
      },
    )
    this.#host = host
    const { operations, barrier } = host
    this.#delivery = new Delivery(services.system, {
      mayDeliver: () => this.#phase === 'executing',
      isDone: () => this.#outcome !== undefined,
      isExpected: (entry) => operations.isExpected(entry),
      valueOf: (delivered) => this.#valueOf(delivered),
      deliver: (delivered, entry, value) => this.#deliver(delivered, entry, value),
      delivered: () => this.#cameToRest(),
      starved: () => this.#starved(),
      failed,
    })
    const cleanupOver = (): void => this.#cut()
    this.#cancellation = new Cancellation(
      { services, writer, operations, barrier, schedule, cleanupOver },
      journal,
    )
    this.#arrivals = new Arrivals(
      {
        runId,
        writer,
        cancellation: this.#cancellation,
        isOver: () => this.#phase === 'over',
        childEnd: (childRunId) => owner.childEnd(childRunId),
      },
      journal,
    )
    this.#inbox = new Inbox(
      services.store,
      { sessionId, runId, next: journal.inboxNext },
      (entry, sequence) => this.#arrivals.take(entry, sequence),
      failed,
    )
    this.#standstill = new Standstill({
      services,
      state,
      registered: parts.registered,
      writer,
      cancellation: this.#cancellation,
      watch: (expired) => this.#watch(expired),
      cut: () => this.#cut(),
      rest: () => this.#rest(),
      inboxGrew: () => this.#inbox.poke(),
      schedule,
      failed,
    })
    this.#children = owner.childrenOf(host)
  }

  /** Runs the definition from its beginning, over the journal. A slot is held. */
  start(): void {
    if (this.#phase !== 'new') return
    this.#phase = 'executing'
    const { services, state, registered, journal, input } = this.#parts
    const { definition } = registered
    this.#timed = timed(services, () => ({
      name: 'holdfast.run',
      labels: workflowLabels(state.record),
      ids: runIds(state),
      parent: services.telemetry?.runs.get(state.record.parentRunId ?? ''),
    }))
    if (this.#timed !== undefined) services.telemetry?.runs.set(state.runId, this.#timed.span)
    this.#delivery.push(journal.settling)
    if (journal.pending !== undefined) {
      journalMigration(this.#writer, this.#host, journal.pending)
    }
    this.#host
      .runCode<unknown>(this.#host.root, (context) => definition.run(context, input))
      .then(
        (value) => this.#finished(returned(state.runId, value)),
        (error: unknown) => this.#finished({ kind: 'threw', error: tamed(error) }),
      )
  }

  /** Goes on after a rest: a slot is held again. */
  resume(): void {
    if (this.#phase !== 'resting') return
    this.#phase = 'executing'
    this.#host.resume()
    this.#inbox.poke()
    this.#delivery.schedule()
  }

  /** Something may have reached the run. */
  pokeInbox(): void {
    if (this.#phase === 'resting') this.#owner.wantsSlot()
    else if (this.#phase === 'executing') this.#readInbox()
  }

  /** What reaches a run that is migrated is journaled after the migration, under the new names. */
  #readInbox(): void {
    if (this.#parts.journal.pending === undefined) this.#inbox.poke()
    else this.#host.whenLive(() => this.#inbox.poke())
  }

  /** Whether bodies run, or something is being committed. */
  get isAtWork(): boolean {
    return this.#host.hasBodies || this.#writer.isBusy || this.#phase === 'ending'
  }

  /** Nothing begins any more; what runs may finish. */
  drain(): void {
    this.#host.drain()
  }

  /** Resolves when no commit of it is in flight. */
  idle(): Promise<void> {
    return this.#writer.idle()
  }

  /** Stops at once and in silence: the run goes on elsewhere, or later. */
  drop(reason: HoldfastError): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    this.#told(reason)
    this.#dropOperations(reason)
    this.#writer.stop()
    void this.#inbox.stop()
  }

  // The definition.

  #finished(outcome: Outcome): void {
    if (this.#phase === 'over') return
    this.#outcome ??= outcome
    this.#watchdog.stop()
    this.#wantTurn()
  }

  /** The definition is not waited for any more. */
  #cut(): void {
    this.#outcome ??= { kind: 'cut' }
    this.#wantTurn()
  }

  /** A turn is due: with the slot that is held, or one that is asked for. */
  #wantTurn(): void {
    if (this.#phase === 'resting') this.#owner.wantsSlot()
    else this.#delivery.schedule()
  }

  #valueOf({ entry, value }: Delivered): JsonValue | undefined | Promise<JsonValue | undefined> {
    if (value !== undefined) return value.decoded
    const stored = storedValueOf(entry)
    if (stored === undefined || 'none' in stored) return undefined
    if ('json' in stored) return stored.json
    return decodeValue(this.#parts.services.store, this.#parts.state, stored)
  }

  #deliver(delivered: Delivered, entry: SettlingEntry, value: JsonValue | undefined): void {
    const host = this.#host
    host.deliveredAt = Math.max(host.deliveredAt, entry.at)
    if (entry.kind === 'message-arrived') {
      host.mailbox.deliver({ id: entry.messageId, body: value ?? null })
      return
    }
    if (entry.kind === 'cancel-delivered') {
      this.#cancellation.deliver(entry.reason, entry.at)
      const error = this.#cancellation.error()
      host.takeBack(host.root, error)
      host.abort(error)
      return
    }
    const operation = host.operations.at(entry.path)
    if (operation === undefined) {
      if (entry.kind === 'interrupt-answered') this.#arrivals.cameTooLate(entry.interruptId)
      return
    }
    if (entry.kind === 'loop-checkpoint') {
      host.operations.iterationOver(entry.path, entry.iteration)
      host.reports.iterationOver()
    }
    if (entry.kind === 'loop-ended') host.operations.loopOver(entry.path)
    if (fits(operation, entry)) operation.settle(delivered, value)
    else void this.#block('asked for with another kind', [entry.path])
  }

  // Coming to rest.

  /** Everything is delivered, and the definition has done what it can do for now. */
  #cameToRest(): void {
    if (!this.#host.barrier.isLive) {
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
    if (this.#cancellation.isAsked && this.#cancellation.tell()) return
    if (this.#host.hasBodies || this.#writer.isBusy || this.#inbox.isReading) {
      this.#writer.flush()
      return
    }
    this.#standstill.settle(restOf(this.#host.operations))
  }

  /** The journal is delivered: what has no entry in it may begin. */
  #goLive(): void {
    const { barrier, reports, operations } = this.#host
    this.#watchdog.stop()
    this.#parts.recovery?.end()
    barrier.lift()
    reports.live()
    if (this.#outcome !== undefined) return
    barrier.beginWaiting((operation) => operations.has(operation))
    if (this.#cancellation.isAsked) this.#cancellation.signalBodies()
  }

  #rest(): void {
    this.#phase = 'resting'
    this.#owner.rested()
  }

  #unclaimed(): readonly string[] {
    return this.#host.operations.unclaimed(this.#delivery.pending)
  }

  #starved(): void {
    this.#watch(() => void this.#block('not asked for', this.#unclaimed()))
  }

  #watch(expired: () => void): void {
    this.#watchdog.watch(() => {
      if (this.#phase === 'executing') expired()
    })
  }

  // Ways out.

  async #end(outcome: Outcome): Promise<void> {
    if (this.#phase !== 'executing') return
    this.#phase = 'ending'
    this.#watchdog.stop()
    try {
      await this.#inbox.stop()
      await this.#endNow(outcome)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** The code does not fit the journal: nothing has begun, and nothing will. */
  async #block(what: string, paths: readonly string[]): Promise<void> {
    if (this.#phase !== 'executing') return
    this.#phase = 'ending'
    logRun(this.#parts, {
      level: 'error',
      event: 'engine.run.blocked',
      message: 'A run cannot go on: its definition does not fit what was journaled.',
      fields: { code: ErrorCode.determinism, reason: what, paths: paths.slice(0, 20) },
    })
    this.#dropOperations(
      new HoldfastError(ErrorCode.determinism, { message: 'The run cannot go on with this code.' }),
    )
    try {
      await this.#inbox.stop()
      if (this.#cancellation.reason !== undefined) {
        await this.#endNow({ kind: 'cut' })
        return
      }
      this.#writer.move(codeAwaited, true)
      await this.#writer.quiet()
      if (this.#phase !== 'ending') return
      this.#phase = 'over'
      this.#told(new HoldfastError(ErrorCode.determinism, { message: what }))
      this.#writer.stop()
      this.#owner.blocked()
    } catch (error) {
      this.#fail(error)
    }
  }

  async #endNow(outcome: Outcome): Promise<void> {
    const end = await endExecution(
      {
        ...this.#parts,
        writer: this.#writer,
        operations: this.#host.operations,
        delivery: this.#delivery,
        mailbox: this.#host.mailbox,
        arrivals: this.#arrivals,
        cancellation: this.#cancellation,
        isEnding: () => this.#phase === 'ending',
        dropOperations: (reason) => this.#dropOperations(reason),
      },
      outcome,
    )
    if (end === undefined) return
    this.#phase = 'over'
    this.#told(end.error, { 'holdfast.run.status': end.status })
    this.#writer.stop()
    this.#owner.ended(end)
  }

  /** This execution is over. */
  #told(error?: unknown, attributes?: JsonObject): void {
    const { services, state, recovery } = this.#parts
    recovery?.end(error)
    this.#timed?.end(error, attributes)
    services.telemetry?.runs.delete(state.runId)
  }

  #fail(error: unknown): void {
    if (this.#phase === 'over') return
    this.drop(ownershipLost(error))
    this.#owner.failed(error)
  }

  #dropOperations(reason: HoldfastError): void {
    this.#watchdog.stop()
    this.#cancellation.drop()
    this.#host.operations.drop(reason)
    this.#host.abort(reason)
  }

  #stateOfCode(): 'executing' | 'resting' | 'over' {
    if (this.#phase === 'resting') return 'resting'
    return this.#phase === 'over' || this.#phase === 'ending' ? 'over' : 'executing'
  }
}
