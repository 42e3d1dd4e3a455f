// Waiting for a message that is sent to the run.
import type { HoldfastError, JsonValue, RunMessage } from '@holdfast/core'
import type { JournalEntry } from '@holdfast/workflow'
import { createDeferred } from './deferred.ts'
import type { Delivered, Operation, Waits } from './operation.ts'
import type { OperationHost } from './operation-host.ts'
import type { Scope } from './scope.ts'
import { checkedDuration } from './timer.ts'

/**
 * Waits for the next message not yet taken.
 *
 * A message that was delivered before is taken at once; that needs no entry, for whether there is
 * one follows from what was delivered before the receive was asked for.
 */
export class ReceiveOperation implements Operation {
  readonly kind = 'receive'
  readonly path: string
  readonly scope: Scope
  readonly #host: OperationHost
  readonly #label: string
  readonly #timeoutMs: number | undefined
  readonly #message = createDeferred<RunMessage | undefined>()
  #claimed: readonly JournalEntry[] = []
  #waits: Waits | undefined
  #cancelAlarm: (() => void) | undefined

  /** @throws `arguments_invalid` */
  constructor(
    host: OperationHost,
    scope: Scope,
    request: { readonly key: string; readonly timeoutMs: number | undefined },
  ) {
    this.#host = host
    this.scope = scope
    this.path = scope.operationPath(request.key)
    this.#label = request.key.slice(0, 512)
    this.#timeoutMs =
      request.timeoutMs === undefined ? undefined : checkedDuration(request.timeoutMs)
  }

  get promise(): Promise<RunMessage | undefined> {
    return this.#message.promise
  }

  get waits(): Waits | undefined {
    return this.#waits
  }

  claim(opened: readonly JournalEntry[]): void {
    this.#claimed = opened
  }

  begin(): void {
    const set = this.#claimed.find((entry) => entry.kind === 'timer-set')
    if (set !== undefined) {
      this.#waitUntil(set.wakeAt)
      return
    }
    if (this.#timeoutMs === undefined) this.#waits = { for: 'message' }
    if (this.#claimed.length > 0) return
    const { writer } = this.#host
    const at = writer.time()
    if (this.#timeoutMs === undefined) {
      writer.append(
        { kind: 'receive-opened', at, path: this.path, label: this.#label },
        { canWait: true },
      )
      return
    }
    const wakeAt = at + this.#timeoutMs
    this.#waitUntil(wakeAt)
    writer.append(
      { kind: 'timer-set', at, path: this.path, label: this.#label, wakeAt, for: 'receive' },
      { canWait: true },
    )
  }

  /** Whether its time limit may still be journaled after it was settled. */
  get isTimed(): boolean {
    return this.#timeoutMs !== undefined
  }

  /** Gives it a message: it is settled. */
  take(message: RunMessage): void {
    this.drop()
    this.#host.close(this)
    this.#message.resolve(message)
  }

  wake(): void {
    const { writer } = this.#host
    this.#waits = undefined
    writer.append(
      { kind: 'timer-fired', at: writer.time(), path: this.path },
      { value: { decoded: undefined } },
    )
  }

  settle(_delivered: Delivered, _value: JsonValue | undefined): void {
    this.drop()
    this.#host.close(this)
    this.#message.resolve(undefined)
  }

  takeBack(reason: HoldfastError): void {
    this.drop()
    this.#host.close(this)
    this.#message.reject(reason)
  }

  drop(): void {
    this.#cancelAlarm?.()
    this.#cancelAlarm = undefined
  }

  #waitUntil(wakeAt: number): void {
    this.#waits = { for: 'message', wakeAt }
    this.#cancelAlarm = this.#host.alarm(this, wakeAt)
  }
}
