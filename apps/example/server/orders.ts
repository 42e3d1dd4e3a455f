import { DatabaseSync } from 'node:sqlite'
import { HoldfastError } from '@holdfast/core'

/** An order of the desk. Amounts are whole euros. */
export interface Order {
  readonly id: string
  readonly item: string
  readonly total: number
  readonly status: 'open' | 'refunded' | 'cancelled'
}

/** One effect that really happened, as the order desk's own books show it. */
export interface Effect {
  readonly kind: 'refund' | 'cancellation'
  readonly orderId: string
  readonly amount: number
  readonly idempotencyKey: string
}

/** Above this many euros a person decides about a refund. */
export const refundLimit = 100

const seeded: readonly Omit<Order, 'status'>[] = [
  { id: '1001', item: 'Tide clock', total: 40 },
  { id: '1002', item: 'Sea chart, framed', total: 240 },
  { id: '1003', item: 'Rope, 30 m', total: 60 },
]

/**
 * The order desk's books: a SQLite file of the application's own, apart from Holdfast's.
 *
 * An effect is recorded once per idempotency key, as a payment provider would; nothing else keeps
 * it from being recorded again, so that an effect that ran twice can be seen.
 */
export class OrderBook {
  readonly #database: DatabaseSync

  /** Opens the books, or begins new ones. @throws `store_unavailable` */
  constructor(path: string) {
    let database: DatabaseSync | undefined
    try {
      database = new DatabaseSync(path)
      this.#database = database
      this.#open()
    } catch (cause) {
      database?.close()
      throw new HoldfastError('store_unavailable', {
        message: `${path} cannot be opened: is it a database, and may it be written?`,
        cause,
      })
    }
  }

  #open(): void {
    this.#database.exec(`
      PRAGMA busy_timeout = 2000;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      CREATE TABLE IF NOT EXISTS orders (
        id TEXT PRIMARY KEY, item TEXT NOT NULL, total INTEGER NOT NULL,
        status TEXT NOT NULL DEFAULT 'open');
      CREATE TABLE IF NOT EXISTS effects (
        number INTEGER PRIMARY KEY, kind TEXT NOT NULL, order_id TEXT NOT NULL,
        amount INTEGER NOT NULL, idempotency_key TEXT NOT NULL UNIQUE);
    `)
    for (const order of seeded) this.add(order)
  }

  /** Adds an open order; one that is there already stays as it is. */
  add(order: Omit<Order, 'status'>): void {
    this.#database
      .prepare('INSERT OR IGNORE INTO orders (id, item, total) VALUES (?, ?, ?)')
      .run(order.id, order.item, order.total)
  }

  find(id: string): Order | undefined {
    const row = this.#database
      .prepare('SELECT id, item, total, status FROM orders WHERE id = ?')
      .get(id)
    return row === undefined ? undefined : (row as unknown as Order)
  }

  /** Pays an order's amount back. Repeating it with the same key changes nothing. */
  refund(order: Pick<Order, 'id' | 'total'>, idempotencyKey: string): void {
    this.#record('refund', 'refunded', order, idempotencyKey)
  }

  /** Cancels an order. Repeating it with the same key changes nothing. */
  cancel(order: Pick<Order, 'id' | 'total'>, idempotencyKey: string): void {
    this.#record('cancellation', 'cancelled', order, idempotencyKey)
  }

  /** Whether an effect with this key has happened. */
  has(idempotencyKey: string): boolean {
    return (
      this.#database
        .prepare('SELECT 1 FROM effects WHERE idempotency_key = ?')
        .get(idempotencyKey) !== undefined
    )
  }

  /** Every effect in the order in which it happened. */
  effects(): readonly Effect[] {
    return this.#database
      .prepare(
        `SELECT kind, order_id AS orderId, amount, idempotency_key AS idempotencyKey
         FROM effects ORDER BY number`,
      )
      .all() as unknown as readonly Effect[]
  }

  close(): void {
    this.#database.close()
  }

  #record(
    kind: Effect['kind'],
    status: Order['status'],
    order: Pick<Order, 'id' | 'total'>,
    idempotencyKey: string,
  ): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const { changes } = this.#database
        .prepare(
          'INSERT OR IGNORE INTO effects (kind, order_id, amount, idempotency_key) VALUES (?, ?, ?, ?)',
        )
        .run(kind, order.id, order.total, idempotencyKey)
      if (changes > 0) {
        this.#database.prepare('UPDATE orders SET status = ? WHERE id = ?').run(status, order.id)
      }
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error
    }
  }
}
