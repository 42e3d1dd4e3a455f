// A durable sleep.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { JournalEntry } from '@holdfast/workflow'
import { createDeferred } from './deferred.ts'
import type { Delivered, Operation, Waits } from './operation.ts'
import type { OperationHost } from './operation-host.ts'
import type { Scope } from './scope.ts'

/** One sleep. Its end is fixed when it begins, and holds across crashes. */
export class SleepOperation implements Operation {
  readonly kind = 'sleep'
  readonly path: string
  readonly scope: Scope
  readonly #host: OperationHost
  readonly #label: string
  readonly #durationMs: number
  readonly #done = createDeferred<void>()
  #claimed: readonly JournalEntry[] = []
  #waits: Waits | undefined
  #cancelAlarm: (() => void) | undefined

  /** @throws `arguments_invalid` for a duration that is not a number from 0 up */
  constructor(
    host: OperationHost,
    scope: Scope,
    request: { readonly key: string; readonly durationMs: number },
  ) {
    this.#host = host
    this.scope = scope
    this.path = scope.operationPath(request.key)
    this.#label = request.key.slice(0, 512)
    this.#durationMs = checkedDuration(request.durationMs)
  }

  get promise(): Promise<void> {
    return this.#done.promise
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
      this.#wait(set.wakeAt)
      return
    }
    const { writer } = this.#host
    const at = writer.time()
    const wakeAt = at + this.#durationMs
    this.#wait(wakeAt)
    writer.append(
      { kind: 'timer-set', at, path: this.path, label: this.#label, wakeAt, for: 'sleep' },
      { canWait: true },
    )
  }

  wake(): void {
    const { writer } = this.#host
    this.#waits = undefined
    writer.append(
      { kind: 'timer-fired', at: writer.time(), path: this.path },
      { value: { decoded: undefined } },
    )
  }

  settle(_delivered: Delivered): void {
    this.drop()
    this.#host.close(this)
    this.#done.resolve()
  }

  takeBack(reason: HoldfastError): void {
    this.drop()
    this.#host.close(this)
    this.#done.reject(reason)
  }

  drop(): void {
    this.#cancelAlarm?.()
    this.#cancelAlarm = undefined
  }

  #wait(wakeAt: number): void {
    this.#waits = { for: 'sleep', wakeAt }
    this.#cancelAlarm = this.#host.alarm(this, wakeAt)
  }
}

/** @throws `arguments_invalid` */
export function checkedDuration(durationMs: number): number {
  if (Number.isFinite(durationMs) && durationMs >= 0) return durationMs
  throw new HoldfastError(ErrorCode.argumentsInvalid, {
    message: 'A duration must be a number of milliseconds from 0 up.',
  })
}
