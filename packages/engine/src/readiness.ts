// When a run that nothing executes is to be taken up.
import { cancelKey, isTerminal } from '@holdfast/core'
import type { StoredRun } from '@holdfast/core'

/** What is to be done with a run. */
export type Readiness =
  | { readonly kind: 'ended' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'at'; readonly wakeAt: number }
  /** Until something reaches it. */
  | { readonly kind: 'waits' }

/** Judges a run by its row. `isStuck`: this process has tried, and its code does not fit. */
export function readinessOf(stored: StoredRun, isStuck: boolean, now: number): Readiness {
  const { record, unread } = stored
  const { status, parked, wakeAt, waitingFor } = record
  if (isTerminal(status)) return { kind: 'ended' }
  if (waitingFor === 'code' && isStuck) {
    return unread.includes(cancelKey) ? { kind: 'ready' } : { kind: 'waits' }
  }
  const isActive = !parked && status !== 'interrupted'
  if (isActive || waitingFor === 'code' || unread.length > 0) return { kind: 'ready' }
  if (wakeAt === undefined) return { kind: 'waits' }
  return wakeAt <= now ? { kind: 'ready' } : { kind: 'at', wakeAt }
}
