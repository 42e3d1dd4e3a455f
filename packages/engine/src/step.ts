// A step: runs a body at least once, journals what became of it, and gives what was journaled.
//
// S1. A journaled result is given without running the body.
// S2. What a body does after its attempt has ended (a timeout, a loss, a cancel) has no effect here.
// S3. Failed attempts and the time of the next one are journaled before it is waited for.
// S4. `once`: the body runs only after its begin is durable; begun without a known outcome, it runs
//     again only if `verify` or a person says that it was not done.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { JsonValue, StepContext, StepOptions } from '@holdfast/core'
import type { JournalEntry } from '@holdfast/workflow'
import { createDeferred } from './deferred.ts'
import type { Delivered, Operation, Waits } from './operation.ts'
import type { OperationHost } from './operation-host.ts'
import { isNotExecuted, onceQuestion, outcomeOf } from './once.ts'
import { chunkTag } from './output.ts'
import { judgeFailure } from './retry-policy.ts'
import type { Scope } from './scope.ts'
import { RunningBody } from './step-body.ts'
import type { BodyOutcome, BodyRequest } from './step-body.ts'
import { runIds, timed, workflowLabels } from './telemetry.ts'
import type { Timed } from './telemetry.ts'
import { decodeError, encodeError, encodeValue } from './stored-values.ts'

/** A step's body. */
export type StepBody = (context: StepContext) => unknown

/** One step of one run. */
export class StepOperation implements Operation {
  readonly kind = 'step'
  readonly path: string
  readonly scope: Scope
  readonly #host: OperationHost
  readonly #label: string
  readonly #body: StepBody
  readonly #options: StepOptions
  readonly #result = createDeferred<JsonValue | undefined>()
  #claimed: readonly JournalEntry[] = []
  #waits: Waits | undefined
  #cancelAlarm: (() => void) | undefined
  /** The number of the newest attempt. */
  #attempt = 0
  #running: RunningBody | undefined
  #timed: Timed | undefined
  #begun = false
  #over = false
  #wroteEarlier = false
  /** The newest answer to the question what became of the body, not acted on yet. */
  #answer: JsonValue | undefined

  constructor(
    host: OperationHost,
    scope: Scope,
    request: { readonly key: string; readonly body: StepBody; readonly options: StepOptions },
  ) {
    this.#host = host
    this.scope = scope
    this.path = scope.operationPath(request.key)
    this.#label = (request.options.label ?? request.key).slice(0, 512)
    this.#body = request.body
    this.#options = request.options
  }

  get promise(): Promise<JsonValue | undefined> {
    return this.#result.promise
  }

  get waits(): Waits | undefined {
    return this.#waits
  }

  claim(opened: readonly JournalEntry[]): void {
    this.#claimed = opened
  }

  begin(): void {
    this.#begun = true
    let retryAt: number | undefined
    let unknown = false
    let asked = false
    for (const entry of this.#claimed) {
      if (entry.kind === 'step-begun') {
        this.#attempt = entry.attempt
        unknown = true
        asked = false
        retryAt = undefined
      }
      if (entry.kind === 'step-attempted') {
        this.#attempt = entry.attempt
        unknown = false
        retryAt = entry.retryAt
      }
      if (entry.kind === 'interrupt-opened') asked = true
    }
    if (this.#answer !== undefined) this.#acceptAnswer(this.#answer)
    else if (unknown && asked) this.#waits = { for: 'interrupt' }
    else if (unknown) this.#findOut(unknownOutcome(this.#label))
    else if (retryAt !== undefined) this.#waitForRetry(retryAt)
    else this.#start()
  }

  settle({ entry }: Delivered, value: JsonValue | undefined): void {
    if (entry.kind === 'interrupt-answered') {
      this.#answer = value ?? null
      this.#waits = undefined
      if (this.#begun) this.#acceptAnswer(this.#answer)
      return
    }
    this.#end()
    if (entry.kind === 'step-failed') this.#result.reject(decodeError(entry.error))
    else this.#result.resolve(value)
  }

  takeBack(reason: HoldfastError): void {
    this.#end()
    this.#stopBody(reason)
    this.#result.reject(reason)
  }

  wake(): void {
    if (this.#over) return
    this.#waits = undefined
    this.#start()
  }

  drop(reason: HoldfastError): void {
    this.#over = true
    this.#cancelAlarm?.()
    this.#stopBody(reason)
  }

  /** Tells a running body that the run is to be cancelled. It may still finish, and then counts. */
  signalBody(reason: HoldfastError): boolean {
    this.#running?.signal(reason)
    return this.#running !== undefined
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  #start(): void {
    this.#attempt += 1
    if (this.#options.once !== true) {
      this.#run()
      return
    }
    const { writer } = this.#host
    writer.append(
      {
        kind: 'step-begun',
        at: writer.time(),
        path: this.path,
        label: this.#label,
        attempt: this.#attempt,
      },
      {
        committed: () => {
          if (this.#over || this.#host.isCancelling(this.scope)) return
          this.#run()
        },
      },
    )
  }

  #run(): void {
    const { path } = this
    const host = this.#host
    this.#timed = timed(host.services, () => ({
      name: 'holdfast.step',
      labels: workflowLabels({ definition: host.registered }),
      ids: {
        ...runIds(host),
        'holdfast.step.label': this.#label,
        'holdfast.step.attempt': this.#attempt,
      },
      parent: host.services.telemetry?.runs.get(host.runId),
    }))
    const hasEarlierChunks =
      this.#wroteEarlier || this.#host.hasStoredChunks(chunkTag(this.#host.originOf(path)))
    const request = { hasEarlierChunks, timeoutMs: this.#options.timeoutMs, body: this.#body }
    this.#runBody(request, (outcome) => {
      if (outcome.kind === 'returned') {
        this.#timed?.end()
        this.#completed(outcome.value, outcome.wrote)
      } else {
        this.#timed?.end(outcome.error)
        this.#failed(outcome.error, outcome.wrote)
      }
    })
  }

  #runBody(
    request: Pick<BodyRequest, 'hasEarlierChunks' | 'timeoutMs' | 'body'>,
    ended: (outcome: BodyOutcome) => void,
  ): void {
    const running = new RunningBody(
      this.#host,
      { path: this.path, label: this.#label, attempt: this.#attempt, ...request },
      (outcome) => {
        this.#running = undefined
        ended(outcome)
      },
    )
    this.#running = running
    running.run(request.body)
  }

  #completed(result: unknown, wrote: boolean): void {
    const { writer, runId } = this.#host
    try {
      const { stored, blob, value } = encodeValue(runId, result)
      writer.append(
        {
          kind: 'step-completed',
          at: writer.time(),
          path: this.path,
          label: this.#label,
          attempt: this.#attempt,
          value: stored,
        },
        {
          value: { decoded: value },
          carriesChunks: wrote,
          ...(blob === undefined ? {} : { before: [blob] }),
        },
      )
    } catch (error) {
      this.#giveUp(error, false, wrote)
    }
  }

  #failed(error: unknown, wrote: boolean): void {
    this.#wroteEarlier ||= wrote
    if (this.#host.isCancelling(this.scope)) return
    this.#host.services.log.write({
      level: 'warn',
      event: 'engine.step.failed',
      message: 'An attempt of a step failed.',
      fields: { run_id: this.#host.runId, step: this.#label, attempt: this.#attempt },
      cause: error,
    })
    if (this.#options.once === true && !isNotExecuted(error)) this.#findOut(error)
    else this.#tryAgain(error, wrote)
  }

  /** The attempt is known to have failed: another is due, or it was the last. */
  #tryAgain(error: unknown, wrote: boolean): void {
    const { writer, services } = this.#host
    const verdict = judgeFailure(this.#options, this.#attempt, error, services.system)
    if (verdict.kind === 'give-up') {
      this.#giveUp(error, verdict.retryable, wrote)
      return
    }
    const at = writer.time()
    const retryAt = at + verdict.delayMs
    writer.append(
      {
        kind: 'step-attempted',
        at,
        path: this.path,
        label: this.#label,
        attempt: this.#attempt,
        error: encodeError(error, true),
        retryAt,
      },
      { carriesChunks: wrote, committed: () => this.#waitForRetry(retryAt) },
    )
  }

  #giveUp(error: unknown, retryable: boolean, wrote: boolean): void {
    const { writer } = this.#host
    writer.append(
      {
        kind: 'step-failed',
        at: writer.time(),
        path: this.path,
        label: this.#label,
        attempt: this.#attempt,
        error: encodeError(error, retryable),
      },
      { value: { decoded: undefined }, carriesChunks: wrote },
    )
  }

  #waitForRetry(retryAt: number): void {
    if (this.#over) return
    this.#waits = { for: 'retry', wakeAt: retryAt }
    this.#cancelAlarm = this.#host.alarm(this, retryAt)
  }

  /** A `once` body began, and nobody knows what became of it. */
  #findOut(error: unknown): void {
    const { verify } = this.#options
    if (verify === undefined) {
      this.#ask()
      return
    }
    let found: Awaited<ReturnType<typeof verify>> | undefined
    const request = {
      hasEarlierChunks: false,
      timeoutMs: undefined,
      body: async (context: StepContext) => {
        found = await verify(context)
      },
    }
    this.#runBody(request, (outcome) => {
      if (outcome.kind === 'threw') this.#notVerified(outcome.error)
      else if (found?.done === true) this.#completed(found.value, false)
      else if (found?.done === false) this.#tryAgain(error, false)
      else this.#notVerified(undefined)
    })
  }

  #notVerified(cause: unknown): void {
    if (this.#host.isCancelling(this.scope)) return
    this.#host.services.log.write({
      level: 'warn',
      event: 'engine.step.verify_failed',
      message: 'What became of a step could not be found out; a person is asked.',
      fields: { run_id: this.#host.runId, step: this.#label },
      cause,
    })
    this.#ask()
  }

  #ask(): void {
    const { entry, move } = onceQuestion(this.#host, {
      path: this.path,
      label: this.#label,
      attempt: this.#attempt,
    })
    this.#host.questionOpened(entry.interruptId, this.path, this.#label)
    this.#waits = { for: 'interrupt' }
    this.#host.writer.append(entry, { move, canWait: true })
  }

  /** A person has said what became of the body. */
  #acceptAnswer(answer: JsonValue): void {
    this.#answer = undefined
    const outcome = outcomeOf(answer)
    switch (outcome.kind) {
      case 'done':
        this.#completed(outcome.value, false)
        return
      case 'not_done':
        this.#start()
        return
      case 'give_up':
        this.#giveUp(unknownOutcome(this.#label), false, false)
        return
    }
  }

  #stopBody(reason: HoldfastError): void {
    const running = this.#running
    this.#running = undefined
    running?.stop(reason)
    this.#timed?.end(reason)
  }

  #end(): void {
    this.#over = true
    this.#cancelAlarm?.()
    this.#waits = undefined
    this.#host.close(this)
  }
}

function unknownOutcome(label: string): HoldfastError {
  return new HoldfastError(ErrorCode.stepOutcomeUnknown, {
    message: `Step ${label} had begun, and nobody knows what became of it.`,
    details: { step: label },
  })
}
