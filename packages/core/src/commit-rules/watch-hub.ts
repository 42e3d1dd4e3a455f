// Watches of one store handle, in this process.
//
// Owns:  who waits for which topic.
// Asks:  the store to call `fire` once a change can be read, and `fireAll` after a reconnect.
// Never: reads, polls, or holds a change back.
//
// W1. A watch counts from the call of `watch`, not from its first `next()`.
// W2. The first `next()` resolves at once; a later one resolves if anything was fired since the
//     one before it did, else when something is.
// W3. An aborted watch ends; a watch of a closed store rejects with `store_closed`.
import { ErrorCode } from '../error-codes.ts'
import { HoldfastError } from '../error.ts'
import type { WatchTopic } from '../store.ts'
import { topicKey } from './topics.ts'

/** The watches of one store handle. */
export interface WatchHub {
  watch(topic: WatchTopic, signal: AbortSignal): AsyncIterable<void>
  /** Tells the watches of these topics, by {@link topicKey}. */
  fire(keys: Iterable<string>): void
  /** Tells every watch: something may have been missed. */
  fireAll(): void
  /** Whether anybody watches. */
  readonly active: boolean
  /** The topics that are watched now, one a key. */
  topics(): IterableIterator<WatchTopic>
  close(): void
}

interface Watch {
  wake(): void
  fail(error: HoldfastError): void
}

/** Makes a hub. `changed` is called when a topic's first watch begins, and after its last has ended. */
export function createWatchHub(
  changed: (topic: WatchTopic, watched: boolean) => void = () => undefined,
): WatchHub {
  const watched = new Map<string, { readonly topic: WatchTopic; readonly watches: Set<Watch> }>()
  let closed = false

  return {
    watch(topic, signal) {
      return watchTopic(topic, signal)
    },
    fire(keys) {
      for (const key of keys) {
        for (const watch of watched.get(key)?.watches ?? []) watch.wake()
      }
    },
    fireAll() {
      for (const { watches } of watched.values()) for (const watch of watches) watch.wake()
    },
    get active() {
      return watched.size > 0
    },
    *topics() {
      for (const { topic } of watched.values()) yield topic
    },
    close() {
      closed = true
      const entries = [...watched.values()]
      watched.clear()
      for (const { topic, watches } of entries) {
        for (const watch of watches) watch.fail(storeClosed())
        changed(topic, false)
      }
    },
  }

  function watchTopic(topic: WatchTopic, signal: AbortSignal): AsyncIterableIterator<void> {
    const key = topicKey(topic)
    let state: 'open' | 'ended' | HoldfastError = closed ? storeClosed() : 'open'
    let due = true
    let waiters: PromiseWithResolvers<IteratorResult<void>>[] = []

    const release = (): void => {
      signal.removeEventListener('abort', end)
      const entry = watched.get(key)
      if (entry?.watches.delete(watch) === true && entry.watches.size === 0) {
        watched.delete(key)
        changed(topic, false)
      }
    }
    const end = (): void => {
      if (state !== 'open') return
      state = 'ended'
      release()
      for (const waiter of take()) waiter.resolve({ done: true, value: undefined })
    }
    const watch: Watch = {
      wake() {
        if (waiters.length === 0) due = true
        else for (const waiter of take()) waiter.resolve({ done: false, value: undefined })
      },
      fail(error) {
        if (state !== 'open') return
        state = error
        signal.removeEventListener('abort', end)
        for (const waiter of take()) waiter.reject(error)
      },
    }
    const take = (): PromiseWithResolvers<IteratorResult<void>>[] => {
      const taken = waiters
      waiters = []
      return taken
    }

    if (signal.aborted) state = 'ended'
    if (state === 'open') {
      signal.addEventListener('abort', end, { once: true })
      const entry = watched.get(key)
      if (entry !== undefined) entry.watches.add(watch)
      else {
        watched.set(key, { topic, watches: new Set([watch]) })
        changed(topic, true)
      }
    }

    return {
      next() {
        if (state === 'ended') return Promise.resolve({ done: true, value: undefined })
        if (state !== 'open') return Promise.reject(state)
        if (due) {
          due = false
          return Promise.resolve({ done: false, value: undefined })
        }
        const waiter = withResolvers<IteratorResult<void>>()
        waiters.push(waiter)
        return waiter.promise
      },
      return() {
        end()
        return Promise.resolve({ done: true, value: undefined })
      },
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }
}

interface PromiseWithResolvers<Value> {
  readonly promise: Promise<Value>
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
}

/** `Promise.withResolvers`, which ES2023 lacks. */
function withResolvers<Value>(): PromiseWithResolvers<Value> {
  let resolve: (value: Value) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<Value>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  return { promise, resolve, reject }
}

function storeClosed(): HoldfastError {
  return new HoldfastError(ErrorCode.storeClosed, { message: 'The store is closed.' })
}
