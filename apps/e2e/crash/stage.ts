import type { Browser } from './browser.ts'
import type { Chat } from './chat.ts'
import type { OrderTables } from './order-tables.ts'
import type { SeededRandom } from './seeded-random.ts'

/** What a scenario plays with. */
export interface Stage {
  /** Names it in problems. */
  readonly name: string
  readonly browser: Browser
  /** A chat in which nothing is going on; it may have a past. */
  readonly chat: Chat
  readonly orders: OrderTables
  readonly random: SeededRandom
  /** Holds the only counter of the browser: the demo model answers the newest one it finds. */
  readonly counterTurn: Turnstile
}

/** Something that a person does, and its expectations. Records what it was promised, and rejects when it cannot go on. */
export type Scenario = (stage: Stage) => Promise<void>

/** Lets one through at a time, in the order in which they came. */
export class Turnstile {
  #last: Promise<unknown> = Promise.resolve()

  async pass<Value>(action: () => Promise<Value>): Promise<Value> {
    const before = this.#last
    const mine = before.then(action)
    this.#last = mine.catch(() => undefined)
    return await mine
  }
}
