/**
 * What the transport takes from the world besides `fetch`: time, chance, and a place for warnings.
 */
export interface TransportSystem {
  /**
   * Milliseconds since 1970. Read to measure how long a connection stood and to read dates of
   * `retry-after`.
   */
  now(): number
  /** A number from 0 up to, not including, 1. */
  random(): number
  /** Calls back once after so many milliseconds, unless the returned function was called before. */
  startTimer(callback: () => void, milliseconds: number): () => void
  /** Tells a developer about something that went on without harm to the chat. Must not throw. */
  warn(message: string, cause?: unknown): void
}

/** The real clock, timers, chance and console of the page or process. */
export const realSystem: TransportSystem = {
  now: () => Date.now(),
  random: () => Math.random(),
  startTimer(callback, milliseconds) {
    const timer = setTimeout(callback, milliseconds)
    return () => {
      clearTimeout(timer)
    }
  },
  warn(message, cause) {
    console.warn(message, ...(cause === undefined ? [] : [cause]))
  },
}

/** Resolves after so many milliseconds, or as soon as the signal is aborted; never rejects. */
export function wait(
  system: TransportSystem,
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve()
      return
    }
    const stopTimer = system.startTimer(done, milliseconds)
    signal.addEventListener('abort', done, { once: true })

    function done(): void {
      stopTimer()
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}
