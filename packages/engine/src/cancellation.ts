// A run's way from the wish to stop to the moment at which its code learns of it.
//
// Owns:  how far the cancel has come, the grace of running bodies, the time limit of cleanup.
// Asks:  the writer to journal it; bodies to stop; the execution to take everything back.
// Never: ends the run; that is for the definition, or for the time limit.
//
// K1. The wish is journaled when it is read; bodies are told once the code is known to fit.
// K2. It is delivered once bodies have settled or their grace is over; their results come first.
// K3. The time for cleanup counts from the delivery's entry, also across crashes.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { Barrier } from './barrier.ts'
import type { JournalWriter } from './journal-writer.ts'
import type { OpenOperations } from './open-operations.ts'
import type { Services } from './options.ts'
import type { LoadedJournal } from './replay.ts'
import { cancelSeen } from './run-moves.ts'
import type { Scope } from './scope.ts'

interface Cancel {
  readonly reason: string
  /** `asked`: read; `told`: its delivery is being journaled; `delivered`. */
  readonly state: 'asked' | 'told' | 'delivered'
}

/** What a cancellation asks of its execution. */
export interface CancellationPort {
  readonly services: Services
  readonly writer: JournalWriter
  readonly operations: OpenOperations
  readonly barrier: Barrier
  /** Sees to a turn of the execution, when it has a slot. */
  readonly schedule: () => void
  /** The time for cleanup is over. */
  readonly cleanupOver: () => void
}

/** The cancellation of one execution. */
export class Cancellation {
  readonly #port: CancellationPort
  readonly #stopTimers: (() => void)[] = []
  #cancel: Cancel | undefined
  #graceIsOver = false
  #cleanupUntil: number | undefined

  constructor(port: CancellationPort, journal: LoadedJournal) {
    this.#port = port
    if (journal.cancel === undefined) return
    const isTold = journal.settling.some(({ entry }) => entry.kind === 'cancel-delivered')
    this.#cancel = { reason: journal.cancel.reason, state: isTold ? 'told' : 'asked' }
  }

  /** Why the run is to stop; `undefined`: it is not. */
  get reason(): string | undefined {
    return this.#cancel?.reason
  }

  get isAsked(): boolean {
    return this.#cancel?.state === 'asked'
  }

  get isDelivered(): boolean {
    return this.#cancel?.state === 'delivered'
  }

  /** When cleanup must be over, once the cancel is delivered. */
  get cleanupUntil(): number | undefined {
    return this.#cleanupUntil
  }

  /** Whether it has been read and not delivered, for code of a scope. */
  isPending(scope: Scope): boolean {
    return this.#cancel !== undefined && this.#cancel.state !== 'delivered' && !scope.isCleanup()
  }

  error(): HoldfastError {
    return new HoldfastError(ErrorCode.cancelled, {
      message: this.#cancel?.reason ?? 'cancel requested',
    })
  }

  /** The wish was read from the inbox. The first counts. */
  ask(reason: string, inbox: number): void {
    if (this.#cancel !== undefined) return
    const { writer, barrier } = this.#port
    this.#cancel = { reason, state: 'asked' }
    writer.append(
      { kind: 'cancel-requested', at: writer.time(), reason, inbox },
      { move: cancelSeen },
    )
    if (barrier.isLive) this.signalBodies()
  }

  /** Tells running bodies, save those of cleanups, and gives them the grace. */
  signalBodies(): void {
    const { services, schedule } = this.#port
    const reason = this.error()
    let running = 0
    for (const step of this.#running()) if (step.signalBody(reason)) running += 1
    if (running > 0) {
      this.#later(services.limits.cancelGraceMs, () => {
        this.#graceIsOver = true
        schedule()
      })
    }
    schedule()
  }

  /** Journals the delivery, once bodies have settled. True if it has begun to. */
  tell(): boolean {
    const cancel = this.#cancel
    if (cancel === undefined) return false
    const running = this.#running()
    if (running.length > 0 && !this.#graceIsOver) return false
    this.#cancel = { ...cancel, state: 'told' }
    const { writer } = this.#port
    writer.append(
      {
        kind: 'cancel-delivered',
        at: writer.time(),
        reason: cancel.reason,
        abandoned: running.map(({ path }) => path),
      },
      { value: { decoded: undefined } },
    )
    return true
  }

  /** Its entry is delivered. */
  deliver(reason: string, at: number): void {
    const { system, limits } = this.#port.services
    this.#cancel = { reason, state: 'delivered' }
    this.#cleanupUntil = at + limits.cleanupMs
    this.#later(this.#cleanupUntil - system.now(), () => this.#port.cleanupOver())
  }

  drop(): void {
    for (const stop of this.#stopTimers.splice(0)) stop()
  }

  #running() {
    return this.#port.operations.running().filter(({ scope }) => !scope.isCleanup())
  }

  #later(delayMs: number, run: () => void): void {
    this.#stopTimers.push(this.#port.services.system.after(Math.max(0, delayMs), run))
  }
}
