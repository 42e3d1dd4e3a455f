// The operations of one execution that are asked for and not settled, against what its journal has.
//
// Owns:  open operations by path; opening entries that nobody has asked for yet; what was taken back;
//        the iteration that each loop is in.
// Asks:  an operation to claim its entries, to be taken back, to be dropped.
// Never: begins or settles an operation.
//
// Q1. An operation is given the opening entries of its path once, when it is asked for.
// Q2. An entry can be delivered when its operation is open, was taken back, or lies in an iteration
//     that is over.
import type { HoldfastError } from '@holdfast/core'
import type { JournalEntry } from '@holdfast/workflow'
import { fits } from './entry-of-operation.ts'
import { iterationsOf } from './loop-path.ts'
import type { Operation, SettlingEntry } from './operation.ts'
import type { Scope } from './scope.ts'
import { StepOperation } from './step.ts'

/** What one execution has open. */
export class OpenOperations implements Iterable<Operation> {
  readonly #open = new Map<string, Operation>()
  readonly #opening: Map<string, readonly JournalEntry[]>
  readonly #takenBack = new Set<string>()
  readonly #iterations = new Map<string, number>()
  #closed: (() => void)[] = []

  constructor(opening: ReadonlyMap<string, readonly JournalEntry[]>) {
    this.#opening = new Map(opening)
  }

  [Symbol.iterator](): Iterator<Operation> {
    return this.#open.values()
  }

  /** Adds an operation. False, and nothing done, when the journal has another kind under its path. */
  add(operation: Operation): boolean {
    const { path } = operation
    const opened = this.#opening.get(path)
    if (opened !== undefined) {
      this.#opening.delete(path)
      if (opened.some((entry) => !fits(operation, entry))) return false
      operation.claim(opened)
    }
    this.#open.set(path, operation)
    return true
  }

  /** The open operation with this path. */
  at(path: string): Operation | undefined {
    return this.#open.get(path)
  }

  /** Whether this very operation is open. */
  has(operation: Operation): boolean {
    return this.#open.get(operation.path) === operation
  }

  within(scope: Scope): readonly Operation[] {
    return [...this.#open.values()].filter((operation) => operation.scope.isWithin(scope))
  }

  /** Steps whose bodies run. */
  running(): readonly StepOperation[] {
    return [...this.#open.values()].filter(
      (operation): operation is StepOperation =>
        operation instanceof StepOperation && operation.isRunning,
    )
  }

  close(operation: Operation): void {
    this.#open.delete(operation.path)
    const closed = this.#closed
    this.#closed = []
    for (const tell of closed) tell()
  }

  /** Resolves when some operation has been closed. */
  closed(): Promise<void> {
    return new Promise((resolve) => {
      this.#closed.push(resolve)
    })
  }

  /** What was journaled of this path counts as delivered. */
  forgive(path: string): void {
    this.#takenBack.add(path)
  }

  takeBack(operation: Operation, reason: HoldfastError): void {
    this.#takenBack.add(operation.path)
    this.#open.delete(operation.path)
    operation.takeBack(reason)
  }

  /** An iteration is over; what was taken back in it need not be remembered. */
  iterationOver(loop: string, iteration: number): void {
    this.#iterations.set(loop, iteration + 1)
    const prefix = `${loop}:${iteration}/`
    for (const path of this.#takenBack) if (path.startsWith(prefix)) this.#takenBack.delete(path)
  }

  loopOver(loop: string): void {
    this.#iterations.set(loop, Infinity)
  }

  isExpected(entry: SettlingEntry): boolean {
    if (!('path' in entry)) return true
    if (this.#open.has(entry.path) || this.#takenBack.has(entry.path)) return true
    return iterationsOf(entry.path).some(
      ({ loop, number }) => number < (this.#iterations.get(loop) ?? 0),
    )
  }

  /** Paths that the journal has, in opening entries or in `pending` ones, and nobody has asked for. */
  unclaimed(pending: readonly SettlingEntry[]): readonly string[] {
    const missing = new Set(this.#opening.keys())
    for (const entry of pending) {
      if ('path' in entry && !this.isExpected(entry)) missing.add(entry.path)
    }
    return [...missing]
  }

  drop(reason: HoldfastError): void {
    for (const operation of this.#open.values()) operation.drop(reason)
  }
}
