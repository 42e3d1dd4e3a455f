import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import type { Effect } from './evidence.ts'

/** An order of the desk, made for one intent of one scenario. */
export interface TestOrder {
  readonly id: string
  readonly item: string
  readonly total: number
}

/** Above this many euros a person decides about a refund. */
export const refundLimit = 100

const firstNumber = 500_001

/**
 * The order desk's tables, seen by somebody else than the desk.
 *
 * It knows the tables and nothing of the code that writes them, so that what it says of effects is
 * a second opinion.
 */
export class OrderTables {
  readonly #database: DatabaseSync
  #next = firstNumber

  /** The desk must have made the tables. */
  constructor(path: string) {
    this.#database = new DatabaseSync(path)
    this.#database.exec('PRAGMA busy_timeout = 10000')
  }

  /** Adds an open order that nobody else has. */
  add(total: number): TestOrder {
    const id = String(this.#next)
    this.#next += 1
    const item = `Thing ${id}`
    this.#database
      .prepare('INSERT INTO orders (id, item, total) VALUES (?, ?, ?)')
      .run(id, item, total)
    return { id, item, total }
  }

  /** Every effect in the order in which it happened. */
  effects(): readonly Effect[] {
    return this.#database
      .prepare('SELECT kind, order_id, amount FROM effects ORDER BY number')
      .all()
      .map((row) => ({
        kind: String(row['kind']),
        orderId: String(row['order_id']),
        amount: Number(row['amount']),
      }))
  }

  /** Resolves as soon as one more effect has happened, or after so many milliseconds. */
  async nextEffect(withinMs: number): Promise<void> {
    const count = this.#database.prepare('SELECT count(*) AS effects FROM effects')
    const before = count.get()?.['effects']
    const until = performance.now() + withinMs
    while (count.get()?.['effects'] === before && performance.now() < until) await pause(1)
  }

  close(): void {
    this.#database.close()
  }
}
