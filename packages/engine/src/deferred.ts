/** A promise that somebody else settles. Nobody has to listen: a rejection is never "unhandled". */
export interface Deferred<Value> {
  readonly promise: Promise<Value>
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
}

/** Makes a promise to be settled from outside. */
export function createDeferred<Value>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<Value>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}

/** A promise that never settles: what code gets whose execution goes on elsewhere, or not at all. */
export function never<Value>(): Promise<Value> {
  return new Promise<Value>(() => undefined)
}
