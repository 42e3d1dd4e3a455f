import type { HoldfastError } from '@holdfast/core'

/** A signal that is made when somebody asks for it: most code never looks. The first reason counts. */
export class LazySignal {
  #controller: AbortController | undefined
  #reason: HoldfastError | undefined

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  abort(reason: HoldfastError): void {
    this.#reason ??= reason
    this.#controller?.abort(this.#reason)
  }
}
