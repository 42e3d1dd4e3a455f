// Where keys live: the root, a loop's iteration, a branch of a combinator, a cleanup.
//
// P1. An operation's path is its scope's path and its key, counted when it occurs again. Marks that
//     paths are made of are escaped in keys, so that two operations never share a path.
// P2. A scope that was taken back refuses operations, save in a cleanup within it.
// P3. Using a context where another scope's code runs, or in a step's body, is `scope_misuse`.
import { AsyncLocalStorage } from 'node:async_hooks'
import { ErrorCode, HoldfastError } from '@holdfast/core'
import { utf8Length } from '@holdfast/json'

const keyBytes = 256
const pathLength = 2_048

/** What the code that runs now belongs to: a scope of a definition, or a step's body. */
export type Place = Scope | BodyMark

/** Marks the code of a step's body. */
export interface BodyMark {
  readonly body: true
}

/** The mark that all bodies run under. */
export const bodyMark: BodyMark = { body: true }

const places = new AsyncLocalStorage<Place>()

/** Runs code as belonging to a place. */
export function runIn<Result>(place: Place, code: () => Result): Result {
  return places.run(place, code)
}

/** One place where keys live. */
export class Scope {
  readonly path: string
  readonly parent: Scope | undefined
  /** A cleanup: what was taken back around it does not stop it. */
  readonly exempt: boolean
  #takenBack: HoldfastError | undefined
  readonly #occurrences = new Map<string, number>()
  #draws = 0

  constructor(path: string, parent?: Scope, exempt = false) {
    this.path = path
    this.parent = parent
    this.exempt = exempt
  }

  /** The path of the next operation with this key. @throws `arguments_invalid`, `limit_exceeded` */
  operationPath(key: string): string {
    return this.#next('', escapeKey(key))
  }

  /** The scope of the next branch with this name. */
  branch(name: string): Scope {
    return new Scope(this.#next('/', escapeKey(name)), this)
  }

  /** The scope of the next cleanup. */
  cleanup(): Scope {
    return new Scope(this.#next(':', 'cleanup::'), this, true)
  }

  /** The scope of an iteration of a loop with this path. */
  iteration(loopPath: string, number: number): Scope {
    return new Scope(`${loopPath}:${number}`, this)
  }

  /** A number for the next random value of this scope. */
  draw(): number {
    this.#draws += 1
    return this.#draws
  }

  /** Takes back everything in this scope. The first reason counts. */
  takeBack(reason: HoldfastError): void {
    this.#takenBack ??= reason
  }

  /** Why operations are refused here, if they are. */
  refusal(): HoldfastError | undefined {
    if (this.#takenBack !== undefined) return this.#takenBack
    return this.exempt ? undefined : this.parent?.refusal()
  }

  /** Whether a cancel of the run does not stop what happens here. */
  isCleanup(): boolean {
    return this.exempt || (this.parent?.isCleanup() ?? false)
  }

  /** Whether this is the given scope or lies in it. */
  isWithin(scope: Scope): boolean {
    return this === scope || (this.parent?.isWithin(scope) ?? false)
  }

  /** Checks that the code that runs now belongs to this scope. @throws `scope_misuse` */
  assertCurrent(operation: string): void {
    const place = places.getStore()
    if (place === undefined || place === this) return
    throw new HoldfastError(ErrorCode.scopeMisuse, {
      message:
        place instanceof Scope
          ? `${operation}: use the context that the branch, iteration or cleanup was given.`
          : `${operation}: a context cannot be used in the body of a step.`,
      details: { scope: this.path },
    })
  }

  #next(family: string, name: string): string {
    const counted = `${family}${name}`
    const occurrence = (this.#occurrences.get(counted) ?? 0) + 1
    this.#occurrences.set(counted, occurrence)
    const suffix = occurrence === 1 ? '' : `#${occurrence}`
    const path = `${this.path}${this.path === '' ? '' : '/'}${name}${suffix}`
    if (path.length <= pathLength) return path
    throw new HoldfastError(ErrorCode.limitExceeded, {
      message: `An operation's path has more than ${pathLength} characters.`,
      details: { limit: 'path' },
    })
  }
}

/** A key as part of a path: the marks that paths are made of are escaped. */
function escapeKey(key: string): string {
  if (typeof key !== 'string' || key === '' || utf8Length(key) > keyBytes) {
    throw new HoldfastError(ErrorCode.argumentsInvalid, {
      message: `A key must be a text of 1 to ${keyBytes} bytes.`,
    })
  }
  return key.replaceAll(/[%/#:]/g, (mark) => encodeURIComponent(mark))
}
