// Several branches at once, each in a scope of its own.
//
// B1. Deliveries are turns of their own, so the first branch to settle is the first in journal order.
// B2. When a combinator has settled, what is still open in its branches is taken back.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { Branch, JsonValue } from '@holdfast/core'
import { createDeferred } from './deferred.ts'
import type { Scope } from './scope.ts'

/** What a combinator asks of the context that it belongs to. */
export interface BranchRunner {
  readonly scope: Scope
  run(scope: Scope, branch: Branch<JsonValue, unknown>): Promise<unknown>
  takeBack(scope: Scope, reason: HoldfastError): void
}

/** Branches by name. */
export type Branches = Readonly<Record<string, Branch<JsonValue, unknown>>>

interface Running {
  readonly name: string
  readonly scope: Scope
  readonly result: Promise<unknown>
}

/** Resolves with all results by name; rejects with the first failure. */
export function runAll(runner: BranchRunner, branches: Branches): Promise<Record<string, unknown>> {
  const running = startAll(runner, branches)
  const settled = createDeferred<Record<string, unknown>>()
  const results = new Map<string, unknown>()
  for (const { name, result } of running) {
    result.then(
      (value) => {
        results.set(name, value)
        if (results.size < running.length) return
        takeBackAll(runner, running)
        settled.resolve(byName(running, results))
      },
      (error: unknown) => {
        takeBackAll(runner, running)
        settled.reject(error)
      },
    )
  }
  if (running.length === 0) settled.resolve({})
  return settled.promise
}

/** Settles as the first branch to settle. */
export function runRace(runner: BranchRunner, branches: Branches): Promise<unknown> {
  const running = startAll(runner, branches)
  const settled = createDeferred<unknown>()
  for (const { result } of running) {
    result.then(
      (value) => {
        takeBackAll(runner, running)
        settled.resolve(value)
      },
      (error: unknown) => {
        takeBackAll(runner, running)
        settled.reject(error)
      },
    )
  }
  if (running.length === 0) settled.reject(noBranches())
  return settled.promise
}

/** Resolves with the first branch to succeed; rejects with the last failure when none does. */
export function runAny(runner: BranchRunner, branches: Branches): Promise<unknown> {
  const running = startAll(runner, branches)
  const settled = createDeferred<unknown>()
  let failures = 0
  for (const { result } of running) {
    result.then(
      (value) => {
        takeBackAll(runner, running)
        settled.resolve(value)
      },
      (error: unknown) => {
        failures += 1
        if (failures === running.length) settled.reject(error)
      },
    )
  }
  if (running.length === 0) settled.reject(noBranches())
  return settled.promise
}

function startAll(runner: BranchRunner, branches: Branches): readonly Running[] {
  const scopes = Object.entries(branches).map(([name, branch]) => ({
    name,
    branch,
    scope: runner.scope.branch(name),
  }))
  return scopes.map(({ name, branch, scope }) => ({
    name,
    scope,
    result: runner.run(scope, branch),
  }))
}

function takeBackAll(runner: BranchRunner, running: readonly Running[]): void {
  const reason = new HoldfastError(ErrorCode.cancelled, {
    message: 'Another branch has settled first.',
  })
  for (const { scope } of running) runner.takeBack(scope, reason)
}

function byName(
  running: readonly Running[],
  results: ReadonlyMap<string, unknown>,
): Record<string, unknown> {
  return Object.fromEntries(running.map(({ name }) => [name, results.get(name)]))
}

function noBranches(): HoldfastError {
  return new HoldfastError(ErrorCode.argumentsInvalid, {
    message: 'A combinator needs at least one branch.',
  })
}
