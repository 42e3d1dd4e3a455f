// Brings what was journaled to the definition, in the journal's order.
//
// Owns:  the entries that are journaled and not delivered yet.
// Asks:  whether an entry's operation has been asked for; to deliver one.
// Never: delivers two entries in one turn, or one before its predecessor.
//
// D1. Each delivery is a macrotask of its own, so that the definition has done all it can do with
//     the one before: the order in which it sees results is the journal's, live and on replay.
// D2. An entry whose operation has not been asked for yet is waited for; everything behind it, too.
import type { JsonValue, System } from '@holdfast/core'
import { isSettling } from './operation.ts'
import type { Delivered, SettlingEntry } from './operation.ts'

/** What the delivery asks of the execution. */
export interface DeliveryPort {
  /** False while nothing may be delivered: no slot is held, or the run is over. */
  mayDeliver(): boolean
  /** Whether the definition has ended: nothing is delivered to it any more. */
  isDone(): boolean
  /** Whether the entry can be delivered now. */
  isExpected(entry: SettlingEntry): boolean
  /** The entry's value: at once where it is at hand. */
  valueOf(delivered: Delivered): JsonValue | undefined | Promise<JsonValue | undefined>
  deliver(delivered: Delivered, entry: SettlingEntry, value: JsonValue | undefined): void
  /** Everything was delivered that can be, and the definition has done what it could. */
  delivered(): void
  /** The next entry's operation has not been asked for, though the definition has done what it could. */
  starved(entry: SettlingEntry): void
  failed(error: unknown): void
}

interface Queued {
  readonly delivered: Delivered
  readonly entry: SettlingEntry
}

/** The queue of one execution. */
export class Delivery {
  readonly #system: System
  readonly #port: DeliveryPort
  #queue: Queued[] = []
  #head = 0
  #scheduled = false
  #reading = false

  constructor(system: System, port: DeliveryPort) {
    this.#system = system
    this.#port = port
  }

  /** How many entries wait. */
  get length(): number {
    return this.#queue.length - this.#head
  }

  /** Whether a turn is due. */
  get isBusy(): boolean {
    return this.#scheduled || this.#reading || this.length > 0
  }

  /** What waits, oldest first. */
  get pending(): readonly SettlingEntry[] {
    return this.#queue.slice(this.#head).map(({ entry }) => entry)
  }

  /** Queues journaled entries; those that settle nothing are passed over. */
  push(entries: readonly Delivered[]): void {
    for (const delivered of entries) {
      const { entry } = delivered
      if (isSettling(entry)) this.#queue.push({ delivered, entry })
    }
    this.schedule()
  }

  /** Sees to it that there is a turn soon, after the microtasks that are queued now. */
  schedule(): void {
    if (this.#scheduled || this.#reading) return
    this.#scheduled = true
    this.#system.macrotask(() => {
      this.#scheduled = false
      this.#turn()
    })
  }

  #turn(): void {
    const port = this.#port
    if (!port.mayDeliver()) return
    const next = port.isDone() ? undefined : this.#queue[this.#head]
    if (next === undefined) {
      port.delivered()
      return
    }
    if (!port.isExpected(next.entry)) {
      port.starved(next.entry)
      return
    }
    let value: JsonValue | undefined | Promise<JsonValue | undefined>
    try {
      value = port.valueOf(next.delivered)
    } catch (error) {
      port.failed(error)
      return
    }
    if (!(value instanceof Promise)) {
      this.#deliver(next, value)
      return
    }
    this.#reading = true
    value.then(
      (read) =>
        this.#system.macrotask(() => {
          this.#reading = false
          if (port.mayDeliver() && !port.isDone()) this.#deliver(next, read)
          else this.schedule()
        }),
      (error: unknown) => {
        this.#reading = false
        port.failed(error)
      },
    )
  }

  #deliver(queued: Queued, value: JsonValue | undefined): void {
    this.#head += 1
    if (this.#head === this.#queue.length) {
      this.#queue.length = 0
      this.#head = 0
    } else if (this.#head > 1_024) {
      this.#queue = this.#queue.slice(this.#head)
      this.#head = 0
    }
    this.#port.deliver(queued.delivered, queued.entry, value)
    this.schedule()
  }
}
