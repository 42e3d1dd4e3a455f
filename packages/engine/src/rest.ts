// What a run is waiting for when nothing of it executes.
import type { WaitingFor } from '@holdfast/core'
import type { Operation } from './operation.ts'

/** How a run stands still, from its open operations. */
export type Rest =
  /** Something of it is under way. */
  | { readonly kind: 'none' }
  /** Nothing is open: the definition awaits something that its context does not know. */
  | { readonly kind: 'foreign' }
  /** Only answers, or messages besides, would let it go on. */
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'waiting'; readonly for: WaitingFor; readonly wakeAt: number | undefined }

/** Which of several reasons is shown, first to last. */
const order: readonly WaitingFor[] = ['child', 'sleep', 'retry', 'message']

/** Judges the open operations of a run whose definition has done what it can. */
export function restOf(operations: Iterable<Operation>): Rest {
  let questions = 0
  let count = 0
  let wakeAt: number | undefined
  const reasons = new Set<WaitingFor>()
  for (const { kind, waits } of operations) {
    // A loop is as its iteration's operations are.
    if (kind === 'loop') continue
    count += 1
    if (waits === undefined) return { kind: 'none' }
    if (waits.for === 'interrupt') {
      questions += 1
      continue
    }
    if ('wakeAt' in waits) wakeAt = Math.min(wakeAt ?? waits.wakeAt, waits.wakeAt)
    reasons.add(waits.for)
  }
  if (count === 0) return { kind: 'foreign' }
  const onlyMessages = [...reasons].every((reason) => reason === 'message')
  if (questions > 0 && onlyMessages && wakeAt === undefined) return { kind: 'interrupted' }
  const reason = order.find((candidate) => reasons.has(candidate)) ?? 'message'
  return { kind: 'waiting', for: reason, wakeAt }
}
