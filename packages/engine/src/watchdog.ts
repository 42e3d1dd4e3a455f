// Watches over definition code that does nothing.
//
// Owns:  one timer.
// Never: runs two; tells of anything after `stop`.
import type { System } from '@holdfast/core'

/** One watchdog. */
export class Watchdog {
  readonly #system: System
  readonly #boundMs: number
  #cancel: (() => void) | undefined

  constructor(system: System, boundMs: number) {
    this.#system = system
    this.#boundMs = boundMs
  }

  /** Calls back after the bound, unless it is stopped before. While it watches, this changes nothing. */
  watch(expired: () => void): void {
    this.#cancel ??= this.#system.after(this.#boundMs, () => {
      this.#cancel = undefined
      expired()
    })
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}
