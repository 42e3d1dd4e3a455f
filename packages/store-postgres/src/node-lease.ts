// This process as an owner: one lease, by the database's clock.
//
// Owns:  the node's row, the timer that renews it and the one that ends it.
// Asks:  the server for the time, by letting it add the lease to its own.
// Never: judges a write: a fence compares epochs alone.
//
// N1. A lease that has run out is never renewed: whoever has taken over must not be disputed.
// N2. The node declares itself lost a margin before its lease can have run out. The bound is a timer
//     that was started before the renewal was asked for, so that no clock needs to agree with another.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { Log, System } from '@holdfast/core'
import type { Database } from './database.ts'
import { sql } from './sql-text.ts'

/** A node's lease. */
export class NodeLease {
  readonly id: string
  readonly lost = new AbortController()
  readonly #database: Database
  readonly #system: System
  readonly #log: Log
  #cancelRenewal: (() => void) | undefined
  #cancelEnd: (() => void) | undefined
  #ended = false

  constructor(database: Database) {
    const { system, log } = database.settings
    this.id = system.uuid()
    this.#database = database
    this.#system = system
    this.#log = log
  }

  /** Registers the node. */
  async begin(): Promise<void> {
    const { schema, settings } = this.#database
    const cancelEnd = this.#endLater()
    try {
      await this.#database.run(
        'control',
        sql`insert into ${schema}.node (id, lease_until)
          values (${this.id}, clock_timestamp() + ${settings.leaseMs} * interval '1 millisecond')
          on conflict (id) do update set lease_until = excluded.lease_until`,
      )
    } catch (error) {
      cancelEnd()
      throw error
    }
    this.#cancelEnd = cancelEnd
    this.#renewLater()
  }

  /** Ends the lease at once, so that sessions are free for others. */
  async end(): Promise<void> {
    this.#stop()
    const { schema } = this.#database
    try {
      await this.#database.run(
        'control',
        sql`update ${schema}.session set owner = null
            where owner = (select key from ${schema}.node where id = ${this.id});
          delete from ${schema}.node where id = ${this.id}`,
      )
    } catch (error) {
      // A node that could not sign off is free once its lease has run out.
      this.#log.write({
        level: 'warn',
        event: 'store.node.not_signed_off',
        message: 'The node could not end its lease; it will run out.',
        fields: { node: this.id },
        cause: error,
      })
    }
  }

  /** Renews the lease now: also what the timer does. */
  async renew(): Promise<void> {
    const { schema, settings } = this.#database
    const cancelEnd = this.#endLater()
    try {
      const rows = await this.#database.run(
        'control',
        sql`update ${schema}.node
          set lease_until = clock_timestamp() + ${settings.leaseMs} * interval '1 millisecond'
          where id = ${this.id} and lease_until > clock_timestamp() returning key`,
      )
      if (this.#ended) {
        cancelEnd()
        return
      }
      if (rows.length === 0) {
        cancelEnd()
        this.#lose('Its lease had run out before it was renewed.')
        return
      }
      this.#cancelEnd?.()
      this.#cancelEnd = cancelEnd
    } catch {
      // The lease that is held goes on to its end; until then it is tried again.
      cancelEnd()
    }
    this.#renewLater()
  }

  #renewLater(): void {
    if (this.#ended) return
    this.#cancelRenewal?.()
    this.#cancelRenewal = this.#system.after(
      this.#database.settings.renewMs,
      () => void this.renew(),
    )
  }

  #endLater(): () => void {
    const { leaseMs } = this.#database.settings
    // A tenth, so that what the timer's holder does next is done while the lease holds.
    return this.#system.after(leaseMs - Math.ceil(leaseMs / 10), () => {
      this.#lose('Its lease could not be renewed in time.')
    })
  }

  #lose(reason: string): void {
    if (this.#ended) return
    this.#stop()
    const error = new HoldfastError(ErrorCode.storeUnavailable, {
      message: `Node ${this.id} has lost its lease. ${reason}`,
    })
    this.#log.write({
      level: 'error',
      event: 'store.node.lost',
      message: error.message,
      fields: { node: this.id },
    })
    this.lost.abort(error)
  }

  #stop(): void {
    this.#ended = true
    this.#cancelRenewal?.()
    this.#cancelEnd?.()
  }
}
