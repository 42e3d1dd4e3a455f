// A loop whose history does not grow.
//
// L1. Each iteration's end is a checkpoint: its state, the items that it appended, and the revisions
//     still needed. A process that takes the run up reads those and what came after.
// L2. An iteration begins when the checkpoint before it is delivered, live and on replay.
// L3. Nothing crosses an iteration's end: steps and children are waited for, sleeps and receives
//     taken back; an interrupt that is open then is an error.
import { ErrorCode, HoldfastError, Limits } from '@holdfast/core'
import type { BlobPut, JsonValue, LoopTurn, WorkflowContext } from '@holdfast/core'
import { checkJsonValue, utf8Length } from '@holdfast/json'
import type { StoredValue } from '@holdfast/workflow'
import { createDeferred } from './deferred.ts'
import type { DefinitionHost } from './definition-host.ts'
import type { Delivered, Operation } from './operation.ts'
import { checkpointed } from './run-moves.ts'
import type { Scope } from './scope.ts'
import { encodeValue } from './stored-values.ts'

/** What a loop's body is told of its iteration. */
export interface LoopIteration {
  readonly state: JsonValue
  readonly iteration: number
  readonly items: readonly JsonValue[]
  append(item: JsonValue): void
}

/** What a loop is asked for with. */
export interface LoopRequest {
  readonly key: string
  readonly initial: { readonly state: JsonValue; readonly items?: readonly JsonValue[] }
  readonly body: (
    context: WorkflowContext,
    turn: LoopIteration,
  ) => Promise<LoopTurn<JsonValue, JsonValue | void>>
}

/** One loop. */
export class LoopOperation implements Operation {
  readonly kind = 'loop'
  readonly path: string
  readonly scope: Scope
  readonly waits = undefined
  readonly #host: DefinitionHost
  readonly #body: LoopRequest['body']
  readonly #items: JsonValue[]
  readonly #initial: JsonValue
  readonly #result = createDeferred<JsonValue | undefined>()
  /** Appended since the last checkpoint. */
  #appended: { readonly stored: StoredValue; readonly blob?: BlobPut }[] = []
  #itemCount = 0
  #over = false

  /** @throws `json_unsupported_value` and its like, `limit_exceeded` for a state over 64 KiB */
  constructor(host: DefinitionHost, scope: Scope, request: LoopRequest) {
    this.#host = host
    this.scope = scope
    this.path = scope.operationPath(request.key)
    this.#body = request.body
    this.#initial = checkedState(request.initial.state)
    this.#items = (request.initial.items ?? []).map((item) => checkJsonValue(item))
  }

  get promise(): Promise<JsonValue | undefined> {
    return this.#result.promise
  }

  claim(): void {
    // Its entries are delivered, not claimed.
  }

  begin(): void {
    // It begins when it is asked for.
  }

  /** Begins with the first iteration, unless the journal has a later one or the end. */
  start(): void {
    const known = this.#host.knownLoop(this.path)
    if (known === undefined) this.#iterate(0, this.#initial)
    else for (const item of known.items) this.#add(item)
  }

  settle({ entry }: Delivered, value: JsonValue | undefined): void {
    if (entry.kind === 'loop-checkpoint') {
      this.#iterate(entry.iteration + 1, value ?? null)
      return
    }
    this.#end()
    this.#result.resolve(value)
  }

  takeBack(reason: HoldfastError): void {
    this.#end()
    this.#result.reject(reason)
  }

  drop(): void {
    this.#over = true
  }

  #iterate(iteration: number, state: JsonValue): void {
    const scope = this.scope.iteration(this.path, iteration)
    const turn: LoopIteration = {
      state,
      iteration,
      items: this.#items,
      append: (item) => {
        const { stored, blob, value } = encodeValue(this.#host.runId, item)
        this.#appended.push(blob === undefined ? { stored } : { stored, blob })
        this.#items.push(value ?? null)
      },
    }
    const run = async (): Promise<void> => {
      const next = await this.#host.runCode(scope, (context) => this.#body(context, turn))
      await this.#host.finishIteration(scope)
      if (this.#over) return
      if ('done' in next) this.#finish(next.result)
      else this.#checkpoint(iteration, checkedState(next.state))
    }
    run().catch((error: unknown) => {
      if (this.#over) return
      this.#host.takeBack(scope, iterationOver())
      this.#end()
      this.#result.reject(error)
    })
  }

  #checkpoint(iteration: number, state: JsonValue): void {
    const appended = this.#appended
    this.#appended = []
    this.#itemCount += appended.length
    const itemCount = this.#itemCount
    this.#host.whenLive(() => {
      if (this.#over) return
      const { writer, ledger } = this.#host
      const entry = {
        kind: 'loop-checkpoint',
        at: writer.time(),
        path: this.path,
        iteration,
        state: { json: state },
        items: appended.map(({ stored }) => stored),
        itemCount,
        completedSteps: writer.totals.completedSteps,
      } as const
      writer.append(
        { ...entry, keep: [] },
        {
          complete(revision) {
            const { keep, taken } = ledger.checkpoint(entry.path, revision)
            return {
              ...entry,
              keep: keep.map(([first, last]) => [first, last]),
              ...(taken.length === 0 ? {} : { taken: [...taken] }),
            }
          },
          value: { decoded: state },
          before: appended.flatMap(({ blob }) => (blob === undefined ? [] : [blob])),
          move: checkpointed,
        },
      )
    })
  }

  #finish(result: JsonValue | void): void {
    const { stored, blob, value } = encodeValue(this.#host.runId, result)
    this.#host.whenLive(() => {
      if (this.#over) return
      const { writer, ledger } = this.#host
      const taken = ledger.loopEnded(this.path)
      writer.append(
        {
          kind: 'loop-ended',
          at: writer.time(),
          path: this.path,
          value: stored,
          ...(taken.length === 0 ? {} : { taken: [...taken] }),
        },
        { value: { decoded: value }, ...(blob === undefined ? {} : { before: [blob] }) },
      )
    })
  }

  #add(item: JsonValue): void {
    this.#items.push(item)
    this.#itemCount += 1
  }

  #end(): void {
    this.#over = true
    this.#host.close(this)
  }
}

/** Why what an iteration has left open is taken back. */
export function iterationOver(): HoldfastError {
  return new HoldfastError(ErrorCode.cancelled, { message: 'The iteration is over.' })
}

/** Questions may not outlive the iteration that put them. */
export function interruptCrosses(): HoldfastError {
  return new HoldfastError(ErrorCode.scopeMisuse, {
    message: "An interrupt was still open at its iteration's end: await it, or race it.",
  })
}

function checkedState(state: JsonValue): JsonValue {
  const copy = checkJsonValue(state)
  const text = JSON.stringify(copy)
  if (text.length * 3 > Limits.loopStateBytes && utf8Length(text) > Limits.loopStateBytes) {
    throw new HoldfastError(ErrorCode.limitExceeded, {
      message: `A loop's state can have ${Limits.loopStateBytes} bytes; append items for what grows.`,
      details: { limit: 'loopStateBytes' },
    })
  }
  return copy
}
