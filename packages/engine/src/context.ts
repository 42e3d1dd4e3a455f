// The context that a definition gets, one for each scope.
import type {
  ArtifactReference,
  Branch,
  BranchResults,
  InterruptRequest,
  JsonValue,
  LoopTurn,
  MustBeJson,
  RunMessage,
  StepContext,
  StepOptions,
  WorkflowContext,
  WorkflowDefinition,
} from '@holdfast/core'
import { sha256Hex } from '@holdfast/json'
import { stepIdOf } from '@holdfast/workflow'
import { ChildOperation } from './child-run.ts'
import { runAll, runAny, runRace } from './combinators.ts'
import { createDeferred, never } from './deferred.ts'
import type { DefinitionHost } from './definition-host.ts'
import { InterruptOperation } from './interrupt.ts'
import { LoopOperation } from './loop.ts'
import type { LoopRequest } from './loop.ts'
import type { Operation } from './operation.ts'
import { checkedArtifact, checkedProgress } from './progress.ts'
import { ReceiveOperation } from './receive.ts'
import type { Scope } from './scope.ts'
import { StepOperation } from './step.ts'
import { SleepOperation } from './timer.ts'
import { OutputOperation } from './written-output.ts'

const encoder = new TextEncoder()

/** An operation with what it promises. */
type Asked<Value> = Operation & { readonly promise: Promise<Value> }

/** A definition's context in one scope. */
export class ScopeContext implements WorkflowContext {
  readonly #host: DefinitionHost
  readonly #scope: Scope

  constructor(host: DefinitionHost, scope: Scope) {
    this.#host = host
    this.#scope = scope
  }

  get run(): WorkflowContext['run'] {
    const { runId, sessionId, registered, parentRunId } = this.#host
    return {
      id: runId,
      sessionId,
      definition: { name: registered.name, version: registered.version },
      ...(parentRunId === undefined ? {} : { parentRunId }),
    }
  }

  get signal(): AbortSignal {
    return this.#host.signal
  }

  step<Result extends JsonValue | void>(
    key: string,
    body: (context: StepContext) => Promise<Result> | Result,
    options: StepOptions = {},
  ): Promise<Result> {
    return this.#ask<Result>(
      'step',
      () => new StepOperation(this.#host, this.#scope, { key, body, options }),
    )
  }

  interrupt<Answer = JsonValue>(key: string, request: InterruptRequest = {}): Promise<Answer> {
    return this.#ask<Answer>(
      'interrupt',
      () => new InterruptOperation(this.#host, this.#scope, { key, request }),
    )
  }

  sleep(key: string, durationMs: number): Promise<void> {
    return this.#ask(
      'sleep',
      () => new SleepOperation(this.#host, this.#scope, { key, durationMs }),
    )
  }

  child<Input, ChildResume, Output>(
    key: string,
    definition: WorkflowDefinition<Input, ChildResume, Output>,
    input: Input,
  ): Promise<Output> {
    const { name, version } = definition
    return this.#ask<Output>(
      'child',
      () =>
        new ChildOperation(this.#host, this.#scope, {
          key,
          definition: { name, version },
          input,
        }),
    )
  }

  receive(key: string, options: { readonly timeoutMs: number }): Promise<RunMessage | undefined>
  receive(key: string): Promise<RunMessage>
  receive(key: string, options?: { readonly timeoutMs: number }): Promise<RunMessage | undefined> {
    return this.#guarded('receive', () => {
      const operation = new ReceiveOperation(this.#host, this.#scope, {
        key,
        timeoutMs: options?.timeoutMs,
      })
      const message = this.#host.takeMessage(this.#scope)
      if (message !== undefined) return Promise.resolve(message)
      this.#host.open(operation)
      return operation.promise
    })
  }

  messages(): readonly RunMessage[] {
    this.#scope.assertCurrent('messages')
    const taken: RunMessage[] = []
    for (;;) {
      const message = this.#host.takeMessage(this.#scope)
      if (message === undefined) return taken
      taken.push(message)
    }
  }

  loop<State, Result extends JsonValue | void, Item extends JsonValue = JsonValue>(
    key: string,
    initial: { readonly state: State & MustBeJson<State>; readonly items?: readonly Item[] },
    body: (
      context: WorkflowContext,
      turn: {
        readonly state: State
        readonly iteration: number
        readonly items: readonly Item[]
        append(item: Item): void
      },
    ) => Promise<LoopTurn<State, Result>>,
  ): Promise<Result> {
    return this.#guarded('loop', () => {
      // What a body gets is the decoding of what it gave before: its own types hold.
      const request = { key, initial, body } as unknown as LoopRequest
      const operation = new LoopOperation(this.#host, this.#scope, request)
      this.#host.open(operation)
      operation.start()
      return operation.promise as Promise<Result>
    })
  }

  all<Branches_ extends Readonly<Record<string, Branch<JsonValue, unknown>>>>(
    branches: Branches_,
  ): Promise<BranchResults<Branches_>> {
    return this.#guarded(
      'all',
      () => runAll(this.#runner(), branches) as Promise<BranchResults<Branches_>>,
    )
  }

  race<Result>(branches: Readonly<Record<string, Branch<JsonValue, Result>>>): Promise<Result> {
    return this.#guarded('race', () => runRace(this.#runner(), branches) as Promise<Result>)
  }

  any<Result>(branches: Readonly<Record<string, Branch<JsonValue, Result>>>): Promise<Result> {
    return this.#guarded('any', () => runAny(this.#runner(), branches) as Promise<Result>)
  }

  cleanup<Result>(body: (context: WorkflowContext) => Promise<Result>): Promise<Result> {
    try {
      this.#scope.assertCurrent('cleanup')
      if (this.#host.isOver) return never()
      return this.#host.runCode(this.#scope.cleanup(), body)
    } catch (error) {
      return rejected(error)
    }
  }

  now(): number {
    return this.#host.deliveredAt
  }

  random(): number {
    this.#scope.assertCurrent('random')
    const source = `${this.#host.originRunId} ${this.#origin()} ${this.#scope.draw()}`
    return Number.parseInt(sha256Hex(encoder.encode(source)).slice(0, 13), 16) / 2 ** 52
  }

  uuid(): string {
    this.#scope.assertCurrent('uuid')
    return stepIdOf(this.#host.originRunId, `uuid ${this.#origin()} ${this.#scope.draw()}`)
  }

  progress(state: {
    readonly completed: number
    readonly total?: number
    readonly message?: string
  }): void {
    this.#scope.assertCurrent('progress')
    if (this.#host.isOver) return
    this.#host.showProgress(checkedProgress(state))
  }

  artifact(reference: ArtifactReference): void {
    this.#scope.assertCurrent('artifact')
    if (this.#host.isOver) return
    this.#host.addArtifact(checkedArtifact(reference))
  }

  output(key: string, chunks: readonly JsonValue[]): Promise<void> {
    return this.#ask('output', () => new OutputOperation(this.#host, this.#scope, { key, chunks }))
  }

  #origin(): string {
    return this.#host.originOf(this.#scope.path)
  }

  /** Asks for an operation. What it gives was encoded by the same code's own types before. */
  #ask<Value>(name: string, make: () => Asked<unknown>): Promise<Value> {
    return this.#guarded(name, () => {
      const operation = make()
      this.#host.open(operation)
      return operation.promise as Promise<Value>
    })
  }

  /** Refuses what may not be asked for here and now. */
  #guarded<Value>(name: string, ask: () => Promise<Value>): Promise<Value> {
    try {
      this.#scope.assertCurrent(name)
      if (this.#host.isOver) return never()
      const refusal = this.#scope.refusal()
      return refusal === undefined ? ask() : this.#host.refuse(refusal)
    } catch (error) {
      return rejected(error)
    }
  }

  #runner(): Parameters<typeof runAll>[0] {
    const host = this.#host
    return {
      scope: this.#scope,
      run: (scope, branch) => host.runCode(scope, branch),
      takeBack: (scope, reason) => host.takeBack(scope, reason),
    }
  }
}

function rejected<Value>(error: unknown): Promise<Value> {
  const deferred = createDeferred<Value>()
  deferred.reject(error)
  return deferred.promise
}
