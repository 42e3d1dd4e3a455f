// One run of a step's body, or of its `verify`.
//
// Owns:  the attempt's handle, its time limit, its span.
// Asks:  the host to count the body; its step what becomes of the outcome.
// Never: tells of an outcome after the attempt has ended: a timeout, a loss, a cancel.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { StepContext } from '@holdfast/core'
import { Attempt } from './attempt.ts'
import type { OperationHost } from './operation-host.ts'
import { bodyMark, runIn } from './scope.ts'
import { tamed } from './stored-values.ts'

/** How a body ended. `wrote`: it has put chunks in the run's stream. */
export type BodyOutcome =
  | { readonly kind: 'returned'; readonly value: unknown; readonly wrote: boolean }
  | { readonly kind: 'threw'; readonly error: unknown; readonly wrote: boolean }

/** What is run. */
export interface BodyRequest {
  readonly path: string
  readonly label: string
  readonly attempt: number
  readonly hasEarlierChunks: boolean
  readonly timeoutMs: number | undefined
  readonly body: (context: StepContext) => unknown
}

/** A body that runs. */
export class RunningBody {
  readonly #host: OperationHost
  readonly #attempt: Attempt
  readonly #ended: (outcome: BodyOutcome) => void
  #isOver = false

  /** Runs it at once; `ended` is called once, at once or later, unless it is stopped before. */
  constructor(host: OperationHost, request: BodyRequest, ended: (outcome: BodyOutcome) => void) {
    const { path, attempt, hasEarlierChunks } = request
    this.#host = host
    this.#attempt = new Attempt(host, path, attempt, hasEarlierChunks)
    this.#ended = ended
    host.bodyStarted()
    this.#limit(request)
  }

  /** Runs the body. Apart from construction, so that its step knows of it before it can end. */
  run(body: BodyRequest['body']): void {
    const attempt = this.#attempt
    const returned = (value: unknown): void =>
      this.#end({ kind: 'returned', value, wrote: attempt.wrote })
    const threw = (error: unknown): void =>
      this.#end({ kind: 'threw', error: tamed(error), wrote: attempt.wrote })
    try {
      const result: unknown = runIn(bodyMark, () => body(attempt))
      if (isThenable(result)) result.then(returned, threw)
      else returned(result)
    } catch (error) {
      threw(error)
    }
  }

  /** Tells the body by its signal. It may still finish, and then counts. */
  signal(reason: HoldfastError): void {
    this.#attempt.abort(reason)
  }

  /** It does not count any more, whatever it does. */
  stop(reason: HoldfastError): void {
    if (this.#isOver) return
    this.#leave()
    this.#attempt.abort(reason)
  }

  #limit({ timeoutMs, label }: BodyRequest): void {
    if (timeoutMs === undefined) return
    this.#attempt.cancelTimeout = this.#host.services.system.after(timeoutMs, () => {
      const error = new HoldfastError(ErrorCode.stepTimeout, {
        message: `Step ${label} took longer than ${timeoutMs} ms.`,
        details: { step: label },
      })
      const { wrote } = this.#attempt
      if (this.#isOver) return
      this.stop(error)
      this.#ended({ kind: 'threw', error, wrote })
    })
  }

  #end(outcome: BodyOutcome): void {
    if (this.#isOver) return
    this.#leave()
    this.#ended(outcome)
  }

  #leave(): void {
    this.#isOver = true
    this.#attempt.end()
    this.#host.bodyEnded()
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  )
}
