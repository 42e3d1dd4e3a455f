// Messages that were delivered to a run, in the order of its journal.
//
// Owns:  messages that nobody has taken yet.
// Asks:  the ledger to note who took one.
// Never: gives a message twice, or out of order.
import type { RunMessage } from '@holdfast/core'
import type { OpenOperations } from './open-operations.ts'
import { ReceiveOperation } from './receive.ts'
import type { RevisionLedger } from './revision-ledger.ts'
import type { Scope } from './scope.ts'

/** The messages of one execution. */
export class Mailbox {
  readonly #operations: OpenOperations
  readonly #ledger: RevisionLedger
  readonly #messages: RunMessage[] = []

  constructor(operations: OpenOperations, ledger: RevisionLedger) {
    this.#operations = operations
    this.#ledger = ledger
  }

  /** A message is delivered: to the first receive that waits, else kept. */
  deliver(message: RunMessage): void {
    for (const operation of this.#operations) {
      if (!(operation instanceof ReceiveOperation)) continue
      // Its time limit may still be journaled.
      if (operation.isTimed) this.#operations.forgive(operation.path)
      this.#ledger.messageTaken(message.id, operation.scope.path)
      operation.take(message)
      return
    }
    this.#messages.push(message)
  }

  /** Takes the oldest message for code of a scope. */
  take(scope: Scope): RunMessage | undefined {
    const message = this.#messages.shift()
    if (message !== undefined) this.#ledger.messageTaken(message.id, scope.path)
    return message
  }

  /** Ids of what nobody has taken. */
  get ids(): readonly string[] {
    return this.#messages.map(({ id }) => id)
  }
}
