// Chunks that the definition itself puts in its run's stream.
import type { HoldfastError, JsonValue, StreamChunk } from '@holdfast/core'
import { createDeferred } from './deferred.ts'
import type { Delivered, Operation } from './operation.ts'
import type { OperationHost } from './operation-host.ts'
import { encodeChunks } from './output.ts'
import type { Scope } from './scope.ts'

/** Stores chunks once: the entry that says so is in the commit that stores them. */
export class OutputOperation implements Operation {
  readonly kind = 'output'
  readonly path: string
  readonly scope: Scope
  readonly waits = undefined
  readonly #host: OperationHost
  readonly #chunks: readonly StreamChunk[]
  readonly #stored = createDeferred<void>()

  /** @throws `json_unsupported_value` and its like, `limit_exceeded` */
  constructor(
    host: OperationHost,
    scope: Scope,
    request: { readonly key: string; readonly chunks: readonly JsonValue[] },
  ) {
    this.#host = host
    this.scope = scope
    this.path = scope.operationPath(request.key)
    this.#chunks = encodeChunks(this.path, request.chunks)
  }

  get promise(): Promise<void> {
    return this.#stored.promise
  }

  claim(): void {
    // It has no opening entry.
  }

  begin(): void {
    const { writer, output } = this.#host
    void output.write(this.#chunks)
    writer.append(
      { kind: 'output-written', at: writer.time(), path: this.path, chunks: this.#chunks.length },
      { value: { decoded: undefined }, carriesChunks: true },
    )
  }

  settle(_delivered: Delivered): void {
    this.#host.close(this)
    this.#stored.resolve()
  }

  takeBack(reason: HoldfastError): void {
    this.#host.close(this)
    this.#stored.reject(reason)
  }

  drop(): void {
    // Nothing of it runs.
  }
}
