import type { Store, System } from '@holdfast/core'

/** What a store can do beyond the port, by which the suite chooses its tests. */
export interface StoreCapabilities {
  /** Whether what was written is there again after every handle was closed. */
  readonly durable: boolean
  /** How many nodes may own sessions of one database at once. */
  readonly owners: 'one' | 'many'
}

/** How a database of the suite is made. */
export interface StoreDatabaseOptions {
  readonly system?: System
  readonly tombstoneMs?: number
  readonly queueCommits?: number
}

/** One database under test, opened as often as the suite likes. */
export interface StoreDatabase {
  /** Opens it as a node that can own sessions. With one owner at a time: when there is none. */
  open(): Promise<Store>
  /** Opens it as a client, beside whatever owns it. */
  openClient(): Promise<Store>
  /**
   * The node of this store stops renewing its lease without a goodbye, as one that is paused does,
   * and another node opens the database. The old handle still works, and does not know.
   */
  takeOver(store: Store): Promise<Store>
  /** Closes what is open and removes everything. */
  destroy(): Promise<void>
}

/** A store under test. */
export interface StoreTarget {
  readonly capabilities: StoreCapabilities
  /** How long one test may take. Milliseconds. Default 120,000. */
  readonly testMs?: number
  create(options?: StoreDatabaseOptions): Promise<StoreDatabase>
}
