// A question to a person or another program.
import { ErrorCode, HoldfastError, Limits } from '@holdfast/core'
import type { InterruptRequest, JsonObject, JsonValue, StreamChunk } from '@holdfast/core'
import { assertClosedSchema, truncateUtf8 } from '@holdfast/json'
import { interruptIdOf } from '@holdfast/workflow'
import type { JournalEntry } from '@holdfast/workflow'
import { createDeferred } from './deferred.ts'
import type { Delivered, Operation, Waits } from './operation.ts'
import type { OperationHost } from './operation-host.ts'
import { encodeChunks } from './output.ts'
import { interruptClosed, interruptOpened } from './run-moves.ts'
import type { Scope } from './scope.ts'
import { encodeValue } from './stored-values.ts'
import type { EncodedValue } from './stored-values.ts'
import { runIds, timed, workflowLabels } from './telemetry.ts'
import type { Timed } from './telemetry.ts'

const reasonBytes = 1_024

/**
 * One question. Its id comes from the run and the operation's path, so that asking again after a
 * crash is the same question.
 */
export class InterruptOperation implements Operation {
  readonly kind = 'interrupt'
  readonly path: string
  readonly scope: Scope
  readonly interruptId: string
  readonly #host: OperationHost
  readonly #label: string
  readonly #request: InterruptRequest
  readonly #schema: JsonObject | undefined
  readonly #payload: EncodedValue | undefined
  readonly #chunks: readonly StreamChunk[]
  readonly #answer = createDeferred<JsonValue | undefined>()
  #state: 'new' | 'open' | 'withdrawn' = 'new'
  #openedAt: number | undefined
  #timed: Timed | undefined

  /** @throws `schema_invalid`, `json_unsupported_value` and its like, `limit_exceeded` */
  constructor(
    host: OperationHost,
    scope: Scope,
    question: { readonly key: string; readonly request: InterruptRequest },
  ) {
    const { key, request } = question
    this.#host = host
    this.scope = scope
    this.path = scope.operationPath(key)
    this.interruptId = interruptIdOf(host.runId, host.originOf(this.path))
    this.#label = key.slice(0, 512)
    this.#request = request
    this.#schema = request.schema === undefined ? undefined : assertClosedSchema(request.schema)
    this.#payload =
      request.payload === undefined ? undefined : encodeValue(host.runId, request.payload)
    // Asked on replay, too, though its chunks are stored: so the definition learns the interrupt's id.
    this.#chunks = encodeChunks(this.path, request.output?.(this.interruptId) ?? [])
    assertRoom(host)
  }

  get promise(): Promise<JsonValue | undefined> {
    return this.#answer.promise
  }

  readonly waits: Waits = { for: 'interrupt' }

  claim(opened: readonly JournalEntry[]): void {
    this.#state = opened.some(({ kind }) => kind === 'interrupt-withdrawn') ? 'withdrawn' : 'open'
    this.#openedAt = opened.find(({ kind }) => kind === 'interrupt-opened')?.at
  }

  begin(): void {
    if (this.#state !== 'new') {
      this.#time(this.#openedAt)
      return
    }
    this.#state = 'open'
    const { writer, output } = this.#host
    const at = writer.time()
    this.#time(at)
    const answer = this.#request.answer ?? 'person'
    const reason =
      this.#request.reason === undefined
        ? undefined
        : truncateUtf8(this.#request.reason, reasonBytes)
    const chunks = this.#chunks
    if (chunks.length > 0) void output.write(chunks)
    const payload = this.#payload
    this.#host.questionOpened(this.interruptId, this.path, this.#label)
    writer.append(
      {
        kind: 'interrupt-opened',
        at,
        path: this.path,
        label: this.#label,
        interruptId: this.interruptId,
        answer,
        ...(reason === undefined ? {} : { reason }),
        ...(this.#schema === undefined ? {} : { schema: this.#schema }),
        ...(payload === undefined ? {} : { payload: payload.stored }),
      },
      {
        canWait: true,
        carriesChunks: chunks.length > 0,
        ...(payload?.blob === undefined ? {} : { before: [payload.blob] }),
        move: interruptOpened({
          id: this.interruptId,
          key: this.#label,
          answer,
          ...(reason === undefined ? {} : { reason }),
          ...(this.#schema === undefined ? {} : { schema: this.#schema }),
          ...(payload === undefined || payload.blob !== undefined
            ? {}
            : { payload: payload.value }),
          openedAt: at,
        }),
      },
    )
  }

  settle({ entry }: Delivered, value: JsonValue | undefined): void {
    if (entry.kind === 'interrupt-answered') {
      this.#timed?.end(undefined, { 'holdfast.interrupt.answered_by': entry.by })
    }
    this.#host.close(this)
    this.#answer.resolve(value)
  }

  takeBack(reason: HoldfastError): void {
    const { writer } = this.#host
    this.#timed?.end(reason)
    this.#host.close(this)
    if (this.#state === 'open') {
      this.#host.whenLive(() =>
        writer.append(
          {
            kind: 'interrupt-withdrawn',
            at: writer.time(),
            path: this.path,
            interruptId: this.interruptId,
          },
          { canWait: true, move: interruptClosed(this.interruptId) },
        ),
      )
    }
    this.#answer.reject(reason)
  }

  /** The question stays open: its wait is told of by the process that gets the answer. */
  drop(): void {
    this.#timed = undefined
  }

  #time(since: number | undefined): void {
    const host = this.#host
    this.#timed = timed(host.services, () => ({
      name: 'holdfast.interrupt',
      labels: workflowLabels({ definition: host.registered }),
      ids: { ...runIds(host), 'holdfast.interrupt.id': this.interruptId },
      parent: host.services.telemetry?.runs.get(host.runId),
      ...(since === undefined ? {} : { since }),
    }))
  }
}

/** @throws `limit_exceeded` at 64 open questions */
function assertRoom(host: OperationHost): void {
  let open = 0
  for (const operation of host.operations) if (operation.kind === 'interrupt') open += 1
  if (open < Limits.openInterrupts) return
  throw new HoldfastError(ErrorCode.limitExceeded, {
    message: `A run can have ${Limits.openInterrupts} open interrupts.`,
    details: { limit: 'openInterrupts' },
  })
}
