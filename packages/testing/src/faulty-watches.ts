// Watches that a test can tear, end, fire and hold.
//
// Owns:  the watches that are open, and until when they tell nothing.
// Asks:  the store behind them for what is to be told.
// Never: loses what it did not tear or end: a held watch tells later, a spurious fire swallows none.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { Watcher, WatchTopic } from '@holdfast/core'

/** Watches of one store, with what may happen to all that are open. */
export interface FaultyWatches extends Watcher {
  /** They end with `store_unavailable`. */
  tear(): void
  /** They end as if aborted. */
  end(): void
  /** They fire. */
  fire(): void
  /** They, and later ones, tell nothing before this has resolved. */
  hold(until: Promise<void>): void
}

type Told = 'changed' | 'spurious' | 'stopped'

interface OpenWatch {
  stop(state: 'torn' | 'ended'): void
  fire(): void
}

/** Wraps the watches of a store. */
export function faultyWatches(store: Watcher): FaultyWatches {
  const open = new Set<OpenWatch>()
  let held: Promise<void> = Promise.resolve()

  return {
    watch: (topic, signal) => watch(topic, signal),
    tear() {
      for (const one of open) one.stop('torn')
    },
    end() {
      for (const one of open) one.stop('ended')
    },
    fire() {
      for (const one of open) one.fire()
    },
    hold(until) {
      held = Promise.all([held, until]).then(() => undefined)
    },
  }

  function watch(topic: WatchTopic, signal: AbortSignal): AsyncIterableIterator<void> {
    const stopper = new AbortController()
    const inner = store
      .watch(topic, AbortSignal.any([signal, stopper.signal]))
      [Symbol.asyncIterator]()
    let state: 'open' | 'torn' | 'ended' = 'open'
    /** A spurious fire that nobody has heard yet. */
    let isDue = false
    let asked: Promise<IteratorResult<void>> | undefined
    let wakers: ((told: Told) => void)[] = []

    const wake = (told: Told): void => {
      const waiting = wakers
      wakers = []
      for (const waker of waiting) waker(told)
    }
    const self: OpenWatch = {
      stop(reason) {
        if (state !== 'open') return
        state = reason
        open.delete(self)
        wake('stopped')
        stopper.abort()
      },
      fire() {
        if (wakers.length === 0) isDue = true
        else wake('spurious')
      },
    }
    open.add(self)
    if (signal.aborted) self.stop('ended')
    else signal.addEventListener('abort', () => self.stop('ended'), { once: true })

    const askInner = (): Promise<IteratorResult<void>> => {
      if (asked === undefined) {
        asked = inner.next()
        // Told to whoever waits; a watch that fails while nobody does fails at its next `next`.
        asked.catch(() => undefined)
      }
      return asked
    }

    /** What this call of `next` is told first; a change only once nothing is held. */
    const toldBy = async (changed: Promise<unknown>): Promise<Told> => {
      let waker: (told: Told) => void = () => undefined
      const woken = new Promise<Told>((resolve) => {
        waker = resolve
      })
      wakers.push(waker)
      try {
        const told = await Promise.race([changed.then((): Told => 'changed'), woken])
        if (told !== 'changed') return told
        return await Promise.race([held.then((): Told => 'changed'), woken])
      } finally {
        wakers = wakers.filter((other) => other !== waker)
      }
    }

    const next = async (): Promise<IteratorResult<void>> => {
      if (state === 'torn') throw torn()
      if (state === 'ended') return { done: true, value: undefined }
      if (isDue) {
        isDue = false
        return { done: false, value: undefined }
      }
      const changed = askInner()
      const told = await toldBy(changed)
      switch (told) {
        case 'stopped':
          return next()
        case 'spurious':
          return { done: false, value: undefined }
        case 'changed':
          if (asked === changed) asked = undefined
          return changed
      }
    }

    return {
      next,
      async return() {
        self.stop('ended')
        await inner.return?.()
        return { done: true, value: undefined }
      },
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }
}

function torn(): HoldfastError {
  return new HoldfastError(ErrorCode.storeUnavailable, {
    message: 'The watch was torn, as planned.',
  })
}
