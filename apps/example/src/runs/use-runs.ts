import { useCallback, useEffect, useRef, useState } from 'react'
import { usePageVisible } from '../shell/use-page-visible.ts'
import { followHistory } from './history-feed.ts'
import { loadRuns } from './run-api.ts'
import { isActive, type RunView } from './run-view.ts'

/** The runs as the panel shows them. */
export interface Runs {
  readonly runs: readonly RunView[]
  readonly isLoading: boolean
  /** They cannot be read at the moment: what is shown may be old. */
  readonly isStale: boolean
  /** Reads them anew now. */
  readonly refresh: () => void
}

const activePauseMs = 2_000
const idlePauseMs = 15_000
const longestPauseMs = 30_000
/** While the server cannot be reached. */
const longestRetryMs = 5_000
/** Between two readings, whatever happens. */
const shortestPauseMs = 250

/**
 * The session's runs, live while the page is seen.
 *
 * They are read again when the newest active one tells of something, when asked for, and from time to time; less and less
 * often while nothing changes or the server cannot be reached. Nothing is asked while the page is hidden.
 */
export function useRuns(): Runs {
  const [runs, setRuns] = useState<readonly RunView[]>([])
  const [isLoading, setIsLoading] = useState(true)
  const [isStale, setIsStale] = useState(false)
  const isVisible = usePageVisible()
  const wake = useRef<() => void>(() => undefined)

  useEffect(() => {
    if (!isVisible) return
    const leaving = new AbortController()
    const { signal } = leaving
    let quietReadings = 0
    let before = ''

    async function read(): Promise<number> {
      try {
        const loaded = await loadRuns(signal)
        const now = JSON.stringify(loaded)
        quietReadings = now === before ? quietReadings + 1 : 0
        if (now !== before) setRuns(loaded)
        before = now
        setIsStale(false)
        setIsLoading(false)
        return pauseAfter(loaded.some(isActive) ? activePauseMs : idlePauseMs, quietReadings)
      } catch {
        if (signal.aborted) return 0
        quietReadings += 1
        setIsStale(true)
        setIsLoading(false)
        return Math.min(longestRetryMs, pauseAfter(activePauseMs, quietReadings))
      }
    }

    async function readAgainAndAgain(): Promise<void> {
      while (!signal.aborted) {
        let isWoken = false
        let interrupt: () => void = () => undefined
        wake.current = () => {
          isWoken = true
          quietReadings = 0
          interrupt()
        }
        const pause = await read()
        await sleep(shortestPauseMs, signal)
        if (isWoken) continue
        await sleep(pause, signal, (wakeUp) => {
          interrupt = wakeUp
        })
      }
    }

    void readAgainAndAgain()
    return () => leaving.abort()
  }, [isVisible])

  const refresh = useCallback(() => wake.current(), [])

  const newestActive = runs.find(isActive)?.id
  useEffect(() => {
    // Only one is followed: a browser has six connections to a server for all its tabs.
    if (!isVisible || newestActive === undefined) return
    return followHistory(newestActive, () => wake.current())
  }, [newestActive, isVisible])

  return { runs, isLoading, isStale, refresh }
}

function pauseAfter(pauseMs: number, quietReadings: number): number {
  return Math.min(longestPauseMs, pauseMs * 1.5 ** Math.min(20, quietReadings))
}

/** Waits, at most until it is aborted or woken. */
function sleep(
  delayMs: number,
  signal: AbortSignal,
  onBegin?: (wakeUp: () => void) => void,
): Promise<void> {
  return new Promise((resolve) => {
    function end(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, delayMs)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    onBegin?.(end)
  })
}
