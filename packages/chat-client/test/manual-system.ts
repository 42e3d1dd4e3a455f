import type { TransportSystem } from '../src/index.ts'

/** Time that stands still unless told, or jumps over every pause at once. */
export interface ManualSystem extends TransportSystem {
  /** Milliseconds of every pause between requests, in order. */
  readonly pauses: number[]
  readonly warnings: string[]
  /** Lets time pass; timers that are due fire in order. */
  advance(milliseconds: number): void
}

interface Timer {
  readonly due: number
  readonly callback: () => void
}

/** Silence is watched by timers this long; shorter ones are pauses. */
const watchMs = 60_000

/**
 * Creates one. `pauses: 'skip'` fires the timer of a pause as soon as it is set, and moves the
 * clock.
 */
export function createManualSystem({
  pauses: mode = 'skip',
}: { readonly pauses?: 'skip' | 'hold' } = {}): ManualSystem {
  const timers = new Set<Timer>()
  const pauses: number[] = []
  const warnings: string[] = []
  let time = 1_700_000_000_000

  return {
    pauses,
    warnings,
    now: () => time,
    random: () => 0.5,
    warn: (message) => warnings.push(message),
    startTimer(callback, milliseconds) {
      const timer = { due: time + milliseconds, callback }
      timers.add(timer)
      if (milliseconds < watchMs) {
        pauses.push(milliseconds)
        if (mode === 'skip') {
          queueMicrotask(() => {
            if (!timers.delete(timer)) return
            time = Math.max(time, timer.due)
            callback()
          })
        }
      }
      return () => {
        timers.delete(timer)
      }
    },
    advance(milliseconds) {
      time += milliseconds
      for (const timer of [...timers].toSorted((a, b) => a.due - b.due)) {
        if (timer.due > time || !timers.delete(timer)) continue
        timer.callback()
      }
    },
  }
}
