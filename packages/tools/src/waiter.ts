// A bounded wait for a run to change.
//
// Owns:  the watch and the timer of one wait; both are gone when it returns.
// Never: writes, or outlives its bound or its caller's signal.
//
// W1. Watch, read, wait: a change between two reads is never missed.
// W2. At the bound the newest state is read and returned; that is no error.
// W3. A watch that ends or fails ends the wait, with the state last read.
import { aborted } from '@holdfast/core'
import type { RunId, SessionId, Timers, Watcher } from '@holdfast/core'

/** One wait. */
export interface WaitRequest<State> {
  readonly runId: RunId
  /** Milliseconds. */
  readonly waitMs: number
  readonly signal?: AbortSignal
  readonly read: () => Promise<State>
  /** Whether there is nothing more to wait for. */
  readonly isDone: (state: State) => boolean | Promise<boolean>
}

/** Waits for runs of one session. */
export interface Waiter {
  /** Resolves with the first state that is done, or with the newest one at the bound. @throws `aborted` */
  wait<State>(request: WaitRequest<State>): Promise<State>
}

/** The longest wait that a model may ask for, in milliseconds. */
export const longestWaitMs = 30_000

/** Makes a waiter over a store's watch. */
export function createWaiter(sessionId: SessionId, watcher: Watcher, timers: Timers): Waiter {
  return {
    async wait({ runId, waitMs, signal, read, isDone }) {
      const stop = new AbortController()
      const stopped = new Promise<'stopped'>((resolve) => {
        stop.signal.addEventListener('abort', () => resolve('stopped'), { once: true })
      })
      const end = (): void => stop.abort()
      const cancelTimer = timers.after(waitMs, end)
      signal?.addEventListener('abort', end, { once: true })
      const changes = watcher
        .watch({ kind: 'run', sessionId, runId }, stop.signal)
        [Symbol.asyncIterator]()
      try {
        for (;;) {
          const woken = await Promise.race([stopped, nextChange(changes)])
          if (signal?.aborted === true) throw aborted(signal, 'The wait')
          const state = await read()
          if (woken !== 'changed' || (await isDone(state))) return state
        }
      } finally {
        cancelTimer()
        signal?.removeEventListener('abort', end)
        stop.abort()
      }
    },
  }
}

async function nextChange(changes: AsyncIterator<void>): Promise<'changed' | 'ended'> {
  try {
    const { done } = await changes.next()
    return done === true ? 'ended' : 'changed'
  } catch {
    return 'ended'
  }
}
