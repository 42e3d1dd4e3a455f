// One session of an engine, typed for the host's own code.
import { ErrorCode, HoldfastError, hasErrorCode, isTerminal, runNotFound } from '@holdfast/core'
import type {
  ActivityPage,
  ActivityPageRequest,
  Actor,
  CancelAcknowledgement,
  JsonValue,
  ResumeAcknowledgement,
  RunMessage,
  RunPageRequest,
  StartOptions,
  StoredRun,
  Supervisor,
  WorkflowDefinition,
} from '@holdfast/core'
import { canonicalBytes } from '@holdfast/json'
import type { EmbeddedEngine } from './engine.ts'
import { retryRun } from './retry.ts'
import type { EndedRun } from './run-end.ts'
import { EmbeddedSupervisor } from './supervisor.ts'
import { pause } from './watching.ts'

const host: Actor = { kind: 'host' }
const localPauseMs = 1_000
/** Why watches of a handle end; made once, for errors are dear. */
const watchOver = new HoldfastError(ErrorCode.aborted, { message: 'Nobody waits any more.' })

/** The runs of one session. */
export class EngineSession {
  readonly sessionId: string
  /** The port that tools and pages use. */
  readonly supervisor: Supervisor
  readonly #engine: EmbeddedEngine

  constructor(engine: EmbeddedEngine, sessionId: string) {
    this.#engine = engine
    this.sessionId = sessionId
    this.supervisor = new EmbeddedSupervisor(engine, sessionId)
  }

  /**
   * Starts a run. Resolves once its input, row and seed are durable; the run goes on by itself.
   *
   * @throws as {@link Supervisor.start}
   */
  async start<Input, Resume, Output>(
    definition: WorkflowDefinition<Input, Resume, Output>,
    input: Input,
    options: StartOptions & { readonly runId?: string; readonly parentRunId?: string } = {},
  ): Promise<RunHandle<Output>> {
    const { runId, parentRunId, ...rest } = options
    const { name, version } = definition
    const draft = {
      id: runId ?? this.#engine.services.system.runId(),
      definition: { name, version },
      ...(parentRunId === undefined ? {} : { parentRunId }),
    }
    const { run } = await this.supervisor.start(draft, canonicalBytes(input), rest)
    return new RunHandle<Output>(this.#engine, this, run.record.id)
  }

  /** A run by its id. Whether it exists shows when something is asked of it. */
  run<Output = JsonValue>(runId: string): RunHandle<Output> {
    return new RunHandle<Output>(this.#engine, this, runId)
  }

  /** The session's runs, a page at a time. */
  async runs(
    request: RunPageRequest = {},
  ): ReturnType<EmbeddedEngine['services']['store']['runs']> {
    return this.#engine.services.store.runs(this.sessionId, request)
  }
}

/** One run, as the host that started it sees it. */
export class RunHandle<Output = JsonValue> {
  readonly id: string
  readonly #engine: EmbeddedEngine
  readonly #session: EngineSession

  constructor(engine: EmbeddedEngine, session: EngineSession, runId: string) {
    this.#engine = engine
    this.#session = session
    this.id = runId
  }

  /** The run as it is recorded. @throws `run_not_found` */
  async status(): Promise<StoredRun> {
    const run = await this.#engine.services.store.run(this.#session.sessionId, this.id)
    if (run === undefined) throw runNotFound(this.id)
    return run
  }

  /**
   * Resolves with the run's output once it has completed, however long that takes.
   *
   * @throws `run_failed`, `run_cancelled`, `run_not_found`, `aborted` when the signal fires
   */
  async result(options: { readonly signal?: AbortSignal } = {}): Promise<Output> {
    const end = await this.#end(options.signal)
    switch (end.status) {
      case 'completed':
        return end.output as Output
      case 'cancelled':
        throw new HoldfastError(ErrorCode.runCancelled, {
          message: `Run ${this.id} was cancelled.`,
          details: { run_id: this.id },
        })
      case 'failed':
        throw new HoldfastError(ErrorCode.runFailed, {
          message: `Run ${this.id} failed: ${end.error?.message ?? 'for an unknown reason.'}`,
          retryable: end.error?.retryable ?? false,
          details: { run_id: this.id, code: end.error?.code ?? ErrorCode.runFailed },
        })
    }
  }

  /** The run each time it has changed, until it has ended or the signal fires. The first at once. */
  async *watch(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<StoredRun, void> {
    const { store } = this.#engine.services
    const topic = { kind: 'run', sessionId: this.#session.sessionId, runId: this.id } as const
    const stop = new AbortController()
    const signal =
      options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal])
    try {
      for await (const _ of store.watch(topic, signal)) {
        const run = await this.status()
        yield run
        if (isTerminal(run.record.status)) return
      }
    } finally {
      stop.abort(watchOver)
    }
  }

  /** Sends a message; its id makes a repeat harmless. */
  send(message: RunMessage): Promise<StoredRun> {
    return this.#session.supervisor.send({ runId: this.id, message })
  }

  /** Answers an open interrupt; without an id there must be exactly one. */
  resume(
    payload: JsonValue,
    options: {
      readonly interruptId?: string
      readonly by?: Actor
      readonly idempotencyKey?: string
    } = {},
  ): Promise<ResumeAcknowledgement> {
    const { by = { kind: 'person' }, ...rest } = options
    return this.#session.supervisor.resume({ runId: this.id, payload, by, ...rest })
  }

  /** Asks the run to stop. */
  cancel(reason?: string): Promise<CancelAcknowledgement> {
    return this.#session.supervisor.cancel({
      runId: this.id,
      by: host,
      ...(reason === undefined ? {} : { reason }),
    })
  }

  /**
   * Starts a new run that begins with what this failed one had done, up to its failure. This one
   * stays failed.
   *
   * @throws `run_not_found`, `run_conflict` when it has not failed
   */
  async retry(): Promise<RunHandle<Output>> {
    const runId = await retryRun(this.#engine, this.#session.sessionId, this.id)
    return new RunHandle<Output>(this.#engine, this.#session, runId)
  }

  /** What has happened in the run, a page at a time. */
  history(request: ActivityPageRequest = {}): Promise<ActivityPage> {
    return this.#session.supervisor.history(this.id, request)
  }

  /** How the run ended: told by this process if it ends here, else by the store. */
  async #end(signal: AbortSignal | undefined): Promise<EndedRun> {
    if (signal?.aborted === true) throw waitAborted(signal)
    const stop = new AbortController()
    return new Promise<EndedRun>((resolve, reject) => {
      const forget = this.#engine.onEnd(this.id, (end) => settle(() => resolve(end)))
      const abort = (): void => {
        if (signal !== undefined) settle(() => reject(waitAborted(signal)))
      }
      const settle = (act: () => void): void => {
        forget()
        stop.abort(watchOver)
        signal?.removeEventListener('abort', abort)
        act()
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#storedEnd(stop.signal).then(
        (end) => {
          if (end !== undefined) settle(() => resolve(end))
        },
        (error: unknown) => settle(() => reject(error)),
      )
    })
  }

  /** As it is stored, however often the store fails in passing. */
  async #storedEnd(signal: AbortSignal): Promise<EndedRun | undefined> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await this.#watchedEnd(signal)
      } catch (error) {
        if (signal.aborted) return undefined
        if (!hasErrorCode(error, ErrorCode.storeUnavailable)) throw error
        await pause(this.#engine.services, Math.min(100 * 2 ** failures, 5_000), signal)
      }
    }
  }

  async #watchedEnd(signal: AbortSignal): Promise<EndedRun | undefined> {
    for await (const run of this.watch({ signal })) {
      const { status, error } = run.record
      if (status !== 'completed' && status !== 'cancelled' && status !== 'failed') {
        // An end in this process is told at once; the store need not be asked at each commit.
        const isHere = this.#engine.owned(this.#session.sessionId) !== undefined
        if (isHere) await pause(this.#engine.services, localPauseMs, signal)
        continue
      }
      const output = await this.#session.supervisor.output(this.id)
      return {
        status,
        ...(output === undefined ? {} : { output }),
        ...(error === undefined ? {} : { error }),
      }
    }
    if (signal.aborted) return undefined
    throw new HoldfastError(ErrorCode.storeClosed, { message: 'The store was closed.' })
  }
}

/** A caller has given up waiting. */
function waitAborted(signal: AbortSignal): HoldfastError {
  return new HoldfastError(ErrorCode.aborted, {
    message: 'Waiting was aborted.',
    cause: signal.reason,
  })
}
