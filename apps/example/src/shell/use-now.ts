import { useSyncExternalStore } from 'react'

const stepMs = 20_000

/** The time in milliseconds since the epoch, told anew now and then: good for "3 min ago". */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => Math.ceil(Date.now() / stepMs) * stepMs)
}

function subscribe(onChange: () => void): () => void {
  const timer = setInterval(onChange, stepMs)
  return () => clearInterval(timer)
}
