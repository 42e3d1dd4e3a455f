// A run of another definition, started by this one and waited for.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { JsonValue } from '@holdfast/core'
import type { JournalEntry } from '@holdfast/workflow'
import { createDeferred } from './deferred.ts'
import type { Delivered, Operation, Waits } from './operation.ts'
import type { OperationHost } from './operation-host.ts'
import type { Scope } from './scope.ts'

/**
 * One child. Its row, its seed and the entry that says so are one commit; its result comes by the
 * parent's inbox.
 */
export class ChildOperation implements Operation {
  readonly kind = 'child'
  readonly path: string
  readonly scope: Scope
  readonly #host: OperationHost
  readonly #label: string
  readonly #request: {
    readonly definition: { readonly name: string; readonly version: string }
    readonly input: unknown
  }
  readonly #result = createDeferred<JsonValue | undefined>()
  #childRunId: string | undefined
  #waits: Waits | undefined

  constructor(
    host: OperationHost,
    scope: Scope,
    request: {
      readonly key: string
      readonly definition: { readonly name: string; readonly version: string }
      readonly input: unknown
    },
  ) {
    this.#host = host
    this.scope = scope
    this.path = scope.operationPath(request.key)
    this.#label = request.key.slice(0, 512)
    this.#request = request
  }

  get promise(): Promise<JsonValue | undefined> {
    return this.#result.promise
  }

  get waits(): Waits | undefined {
    return this.#waits
  }

  claim(opened: readonly JournalEntry[]): void {
    const started = opened.find((entry) => entry.kind === 'child-started')
    this.#childRunId = started?.runId
  }

  begin(): void {
    if (this.#childRunId !== undefined) {
      this.#waits = { for: 'child' }
      return
    }
    const { definition, input } = this.#request
    const { writer, children } = this.#host
    const prepared = children.prepare({ path: this.path, label: this.#label, definition, input })
    if (prepared.kind === 'ready') {
      this.#childRunId = prepared.runId
      this.#waits = { for: 'child' }
      prepared.start()
      return
    }
    const { code, message, retryable } = prepared.error
    writer.append(
      {
        kind: 'child-ended',
        at: writer.time(),
        path: this.path,
        label: this.#label,
        runId: prepared.runId,
        status: 'failed',
        error: { code, message, retryable },
      },
      { value: { decoded: undefined } },
    )
  }

  settle({ entry }: Delivered, value: JsonValue | undefined): void {
    this.#host.close(this)
    if (entry.kind !== 'child-ended' || entry.status === 'completed') this.#result.resolve(value)
    else this.#result.reject(childError(entry))
  }

  takeBack(reason: HoldfastError): void {
    this.#host.close(this)
    const childRunId = this.#childRunId
    if (childRunId !== undefined) this.#host.whenLive(() => this.#host.children.cancel(childRunId))
    this.#result.reject(reason)
  }

  drop(): void {
    // It goes on by itself.
  }

  /** The child that has not ended, if it was started. */
  get childRunId(): string | undefined {
    return this.#childRunId
  }
}

/** What a parent's code gets when its child did not complete. */
function childError(entry: Extract<JournalEntry, { readonly kind: 'child-ended' }>): HoldfastError {
  const { runId, status, error } = entry
  const cancelled = status === 'cancelled'
  return new HoldfastError(cancelled ? ErrorCode.runCancelled : ErrorCode.runFailed, {
    message: cancelled ? `Child run ${runId} was cancelled.` : `Child run ${runId} failed.`,
    retryable: error?.retryable ?? false,
    details: {
      run_id: runId,
      ...(error === undefined ? {} : { code: error.code, message: error.message }),
    },
  })
}
