/** The time, as a port: nothing outside `system` reads the real clock. */
export interface Clock {
  /** Milliseconds since the epoch, UTC. May stand still or go back; callers clamp. */
  now(): number
}

/** Timers, as a port. */
export interface Timers {
  /** Calls `run` once, no earlier than `delayMs` from now. The returned function cancels it. */
  after(delayMs: number, run: () => void): () => void
  /** Calls `run` in a macrotask of its own, after the microtasks that are queued now. */
  macrotask(run: () => void): void
}

/** Randomness, as a port. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
}

/** Ids, as a port. */
export interface Ids {
  /** A fresh run id (UUIDv7), ascending in this process. */
  runId(): string
  /** A fresh random UUID (v4). */
  uuid(): string
  /** A fresh short id for messages, parts and approvals. */
  shortId(): string
}

/** All that touches the outside of a program, in one port. `@holdfast/core/system` has the real one. */
export interface System extends Clock, Timers, Random, Ids {}
