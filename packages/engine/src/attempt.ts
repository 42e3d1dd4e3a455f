import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { JsonValue, StepContext, StepOutput } from '@holdfast/core'
import { stepIdOf } from '@holdfast/workflow'
import { LazySignal } from './lazy-signal.ts'
import type { OperationHost } from './operation-host.ts'
import { encodeChunks } from './output.ts'

/** One attempt, as its body sees it. Ids and signal are made when they are asked for. */
export class Attempt implements StepContext, StepOutput {
  readonly attempt: number
  readonly hasEarlierChunks: boolean
  cancelTimeout: (() => void) | undefined
  wrote = false
  readonly #host: OperationHost
  readonly #path: string
  readonly #signal = new LazySignal()
  #ended = false

  constructor(host: OperationHost, path: string, attempt: number, hasEarlierChunks: boolean) {
    this.#host = host
    this.#path = path
    this.attempt = attempt
    this.hasEarlierChunks = hasEarlierChunks
  }

  get idempotencyKey(): string {
    return stepIdOf(this.#host.originRunId, this.#host.originOf(this.#path))
  }

  get stepId(): string {
    return stepIdOf(this.#host.runId, this.#path)
  }

  get signal(): AbortSignal {
    return this.#signal.signal
  }

  get output(): StepOutput {
    return this
  }

  async write(chunk: JsonValue): Promise<void> {
    if (this.#ended) {
      throw new HoldfastError(ErrorCode.stepAborted, {
        message: 'The attempt has ended: its output cannot be written any more.',
      })
    }
    const room = this.#host.output.write(encodeChunks(this.#host.originOf(this.#path), [chunk]))
    this.wrote = true
    this.#host.writer.outputQueued()
    if (room !== undefined) await room
  }

  abort(reason: HoldfastError): void {
    this.#signal.abort(reason)
  }

  end(): void {
    this.#ended = true
    this.cancelTimeout?.()
  }
}
