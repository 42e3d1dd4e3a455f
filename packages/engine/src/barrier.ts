// What waits until a run's journal has been delivered and asked for: the code is known to fit.
//
// Owns:  whether the execution is live; operations and acts that wait for it.
// Asks:  whether an operation may begin at all.
// Never: begins an operation while the journal is being replayed.
//
// B1. Acts come before operations, both in the order in which they came.
// B2. An operation that may not begin, though live, waits for good: nothing of it becomes durable.
import type { Operation } from './operation.ts'

/** The barrier of one execution. */
export class Barrier {
  readonly #mayBegin: (operation: Operation) => boolean
  #live = false
  #waiting: Operation[] = []
  #acts: (() => void)[] = []

  constructor(mayBegin: (operation: Operation) => boolean) {
    this.#mayBegin = mayBegin
  }

  get isLive(): boolean {
    return this.#live
  }

  /** Begins the operation now or once live. */
  begin(operation: Operation): void {
    if (this.#live && this.#mayBegin(operation)) operation.begin()
    else this.#waiting.push(operation)
  }

  /** Acts now, or once live. */
  whenLive(act: () => void): void {
    if (this.#live) act()
    else this.#acts.push(act)
  }

  /** The journal is delivered: what waited to act acts. */
  lift(): void {
    this.#live = true
    for (const act of this.#acts.splice(0)) act()
  }

  /** Operations that waited, and are still wanted, begin. */
  beginWaiting(isWanted: (operation: Operation) => boolean): void {
    for (const operation of this.#waiting.splice(0)) if (isWanted(operation)) this.begin(operation)
  }
}
