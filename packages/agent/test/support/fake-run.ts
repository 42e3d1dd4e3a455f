// A small durable run over the port: enough of an engine to cut an agent's run at every commit. It has one scope, and keeps what an
// engine promises: entries are delivered in journal order, a macrotask each; bodies start only when all were delivered;
// what was not committed at a crash never was.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type {
  AnyWorkflowDefinition,
  InterruptRequest,
  JsonValue,
  RunMessage,
  StepContext,
  StreamEnd,
  WorkflowContext,
} from '@holdfast/core'
import { createCatalog } from '@holdfast/workflow'

type Entry =
  | {
      readonly kind: 'step' | 'output' | 'answer' | 'opened'
      readonly path: string
      readonly value: string
    }
  | { readonly kind: 'failed'; readonly path: string; readonly error: HoldfastError }
  | { readonly kind: 'message'; readonly message: RunMessage }
  | { readonly kind: 'cancel' }

interface Pending {
  readonly resolve: (value: JsonValue | undefined) => void
  readonly reject: (error: unknown) => void
  readonly start: () => void
  started: boolean
}

/** How a run is driven from outside. */
export interface FakeRunOptions {
  /** Answers an interrupt; may take its time. Absent or `undefined`: it stays open. */
  readonly answer?: (id: string, request: InterruptRequest) => Promise<JsonValue | undefined>
  /** Called after each commit, with how many there were. */
  readonly committed?: (count: number, run: FakeRun) => void
  readonly runId?: string
}

/** What one execution came to. */
export type Outcome =
  | { readonly kind: 'crashed' }
  | { readonly kind: 'completed'; readonly output: JsonValue }
  | { readonly kind: 'cancelled'; readonly output: JsonValue | undefined }
  | { readonly kind: 'failed'; readonly error: unknown }

const interruptPrefix = 'interrupt:'
const macrotask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export class FakeRun {
  readonly journal: Entry[] = []
  readonly chunks: { readonly tag: string; readonly chunk: JsonValue }[] = []
  readonly openInterrupts = new Map<string, InterruptRequest>()
  readonly bodies: string[] = []
  commits = 0
  private readonly options: FakeRunOptions
  private execution: Execution | undefined
  readonly runId: string

  constructor(options: FakeRunOptions = {}) {
    this.options = options
    this.runId = options.runId ?? '01890000-0000-7000-8000-000000000001'
  }

  /** Executes until the end, or dies instead of doing commit number `crashAt` (from 1) of this run's life. */
  async execute(
    definition: AnyWorkflowDefinition,
    input: JsonValue,
    crashAt = Number.POSITIVE_INFINITY,
  ): Promise<Outcome> {
    createCatalog([definition])
    const execution = new Execution(this, this.options, crashAt)
    this.execution = execution
    return execution.run(definition, input)
  }

  send(message: RunMessage): void {
    this.execution?.append({ kind: 'message', message })
  }

  cancel(): void {
    this.execution?.cancel()
  }

  /** All chunks as a reader of the whole run gets them. */
  stream(definition: AnyWorkflowDefinition, outcome: Outcome): readonly JsonValue[] {
    const moment = { runId: this.runId, number: 1 }
    if (outcome.kind === 'crashed') throw new Error('A run that crashed has no end.')
    const end: StreamEnd = outcome.kind
    const output = 'output' in outcome ? outcome.output : undefined
    const failure = outcome.kind === 'failed' && outcome.error instanceof HoldfastError
    return [
      ...(definition.stream?.opening?.(moment) ?? []),
      ...this.chunks.map(({ chunk }) => chunk),
      ...(definition.stream?.closing?.({
        ...moment,
        end,
        opened: true,
        ...(output === undefined ? {} : { output }),
        ...(failure
          ? {
              error: { code: outcome.error.code, message: outcome.error.message, retryable: false },
            }
          : {}),
      }) ?? []),
    ]
  }
}

class Execution {
  private readonly owner: FakeRun
  private readonly options: FakeRunOptions
  private readonly crashAt: number
  private readonly pending = new Map<string, Pending>()
  private readonly occurrences = new Map<string, number>()
  private readonly inbox: RunMessage[] = []
  private readonly running = new Map<string, AbortController>()
  private readonly buffer: { tag: string; chunk: JsonValue }[] = []
  private delivered = 0
  private crashed = false
  private cancelling = false
  private isCancelled = false
  private cleaning = false

  constructor(run: FakeRun, options: FakeRunOptions, crashAt: number) {
    this.owner = run
    this.options = options
    this.crashAt = crashAt
  }

  async run(definition: AnyWorkflowDefinition, input: JsonValue): Promise<Outcome> {
    let end: Outcome | undefined
    const reach = async (): Promise<void> => {
      end = await this.end(definition, input)
    }
    const settled = reach()
    for (let idle = 0; end === undefined && !this.crashed; idle += 1) {
      await macrotask()
      if (this.deliverNext() || this.running.size > 0) idle = 0
      if (idle > 2_000) throw new Error(`The run waits for ${[...this.pending.keys()].join(', ')}.`)
    }
    if (this.crashed) return { kind: 'crashed' }
    await settled
    this.commit([])
    return this.crashed || end === undefined ? { kind: 'crashed' } : end
  }

  private async end(definition: AnyWorkflowDefinition, input: JsonValue): Promise<Outcome> {
    try {
      const returned: unknown = await definition.run(this.context(), input)
      const output = JSON.parse(JSON.stringify(returned)) as JsonValue
      return this.isCancelled ? { kind: 'cancelled', output } : { kind: 'completed', output }
    } catch (error) {
      return this.isCancelled ? { kind: 'cancelled', output: undefined } : { kind: 'failed', error }
    }
  }

  append(entry: Entry): void {
    if (!this.crashed) this.owner.journal.push(entry)
  }

  cancel(): void {
    this.cancelling = true
    for (const controller of this.running.values()) controller.abort(cancelled())
  }

  private deliverNext(): boolean {
    const entry = this.owner.journal[this.delivered]
    if (entry === undefined) {
      if (this.cancelling && !this.isCancelled) {
        // Nothing new begins once a cancel is asked for; bodies that run may settle first.
        if (this.running.size === 0) this.commit([{ kind: 'cancel' }])
        return true
      }
      for (const operation of this.pending.values()) {
        if (operation.started) continue
        operation.started = true
        operation.start()
      }
      return false
    }
    this.delivered += 1
    switch (entry.kind) {
      case 'message':
        this.inbox.push(entry.message)
        return true
      case 'opened':
        return true
      case 'cancel': {
        this.isCancelled = true
        for (const operation of this.pending.values()) operation.reject(cancelled())
        this.pending.clear()
        return true
      }
      case 'failed':
        this.settle(entry.path).reject(entry.error)
        return true
      case 'step':
      case 'output':
      case 'answer':
        this.settle(entry.path).resolve(
          entry.value === '' ? undefined : (JSON.parse(entry.value) as JsonValue),
        )
        return true
    }
  }

  private settle(path: string): Pending {
    const operation = this.pending.get(path)
    if (operation === undefined) throw new Error(`Determinism: nothing asked for ${path}.`)
    this.pending.delete(path)
    return operation
  }

  private commit(entries: readonly Entry[]): void {
    if (this.crashed) return
    if (this.owner.commits + 1 >= this.crashAt) {
      this.crashed = true
      for (const controller of this.running.values()) controller.abort(new Error('crashed'))
      return
    }
    this.owner.commits += 1
    this.owner.chunks.push(...this.buffer.splice(0))
    this.owner.journal.push(...entries)
    this.options.committed?.(this.owner.commits, this.owner)
  }

  private path(kind: string, key: string): string {
    const base = `${kind}:${key}`
    const count = (this.occurrences.get(base) ?? 0) + 1
    this.occurrences.set(base, count)
    return count === 1 ? base : `${base}#${count}`
  }

  private ask(path: string, start: () => void): Promise<JsonValue | undefined> {
    if (this.isCancelled && !this.cleaning) return Promise.reject(cancelled())
    return new Promise((resolve, reject) => {
      this.pending.set(path, { resolve, reject, start, started: false })
    })
  }

  private async runBody(path: string, body: (context: StepContext) => unknown): Promise<void> {
    const controller = new AbortController()
    this.running.set(path, controller)
    this.owner.bodies.push(path)
    let over = false
    const step: StepContext = {
      idempotencyKey: `${this.owner.runId}/${path}`,
      stepId: path,
      attempt: 1,
      signal: controller.signal,
      output: {
        hasEarlierChunks: this.owner.chunks.some(({ tag }) => tag === path),
        write: async (chunk) => {
          if (over || this.crashed)
            throw new HoldfastError(ErrorCode.stepAborted, { message: 'over' })
          this.buffer.push({ tag: path, chunk: JSON.parse(JSON.stringify(chunk)) as JsonValue })
          if (this.buffer.length >= 3) this.commit([])
        },
      },
    }
    try {
      const value = await body(step)
      over = true
      this.running.delete(path)
      this.commit([{ kind: 'step', path, value: value === undefined ? '' : JSON.stringify(value) }])
    } catch (error) {
      over = true
      this.running.delete(path)
      const failure =
        error instanceof HoldfastError
          ? error
          : new HoldfastError(ErrorCode.stepFailed, { message: 'The step failed.', cause: error })
      this.commit([{ kind: 'failed', path, error: failure }])
    }
  }

  private context(): WorkflowContext {
    const unsupported = (): never => {
      throw new Error('The fake run has no such operation.')
    }
    const self: WorkflowContext = {
      run: {
        id: this.owner.runId,
        sessionId: '01890000-0000-7000-8000-00000000000a',
        definition: { name: 'fake', version: 'v1' },
      },
      step: (key, body) => {
        const path = this.path('step', key)
        return this.ask(path, () => void this.runBody(path, body)) as Promise<never>
      },
      interrupt: (key, request = {}) => {
        const path = this.path('interrupt', key)
        const id = `${interruptPrefix}${path}`
        const chunks = request.output?.(id) ?? []
        return this.ask(path, () => this.open(path, id, request, chunks)) as Promise<never>
      },
      output: async (key, chunks) => {
        const path = this.path('output', key)
        await this.ask(path, () => {
          this.buffer.push(...chunks.map((chunk) => ({ tag: path, chunk })))
          this.commit([{ kind: 'output', path, value: '' }])
        })
      },
      messages: () => this.inbox.splice(0),
      cleanup: async (body) => {
        this.cleaning = true
        const result = await body(self)
        this.cleaning = false
        return result
      },
      now: () => 1_000,
      random: () => 0.5,
      uuid: () => '00000000-0000-4000-8000-000000000001',
      progress: () => undefined,
      artifact: () => undefined,
      signal: new AbortController().signal,
      sleep: unsupported,
      child: unsupported,
      loop: unsupported,
      receive: unsupported,
      all: unsupported,
      race: unsupported,
      any: unsupported,
    }
    return self
  }

  private open(
    path: string,
    id: string,
    request: InterruptRequest,
    chunks: readonly JsonValue[],
  ): void {
    const isOpen = this.owner.journal.some(
      (entry) => entry.kind === 'opened' && entry.path === path,
    )
    if (!isOpen) {
      this.buffer.push(...chunks.map((chunk) => ({ tag: path, chunk })))
      this.commit([{ kind: 'opened', path, value: '' }])
    }
    this.owner.openInterrupts.set(id, request)
    void this.askFor(path, id, request)
  }

  private async askFor(path: string, id: string, request: InterruptRequest): Promise<void> {
    const value = await this.options.answer?.(id, request)
    if (value === undefined || this.crashed) return
    this.owner.openInterrupts.delete(id)
    this.commit([{ kind: 'answer', path, value: JSON.stringify(value) }])
  }
}

function cancelled(): HoldfastError {
  return new HoldfastError(ErrorCode.cancelled, { message: 'The run was cancelled.' })
}
