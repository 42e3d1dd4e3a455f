import { isCancelRequested, isTerminal, type StoredRun, visibleStatus } from '@holdfast/core'
import type { OnBusy } from './chat-ports.ts'

/** What is to be done with a message that the chat has not had before. */
export type MessageDecision =
  /** Nothing is going: the message begins a turn. */
  | { readonly kind: 'start' }
  /** The run is told. */
  | { readonly kind: 'steer' }
  /** It waits for the run's end. */
  | { readonly kind: 'queue' }
  /** The run's open questions are answered no, and the message follows them. */
  | { readonly kind: 'supersede'; readonly then: 'steer' | 'queue' }
  /** The chat takes no message now. */
  | { readonly kind: 'reject' }

/** What the decision rests on. */
export interface MessageFacts {
  /** The run of the chat's newest turn. Absent: there is none any more. */
  readonly run: StoredRun | undefined
  readonly onBusy: OnBusy
  /** Whether the message fits a run's inbox. */
  readonly fitsInbox: boolean
  /** Whether messages that came before it still wait. */
  readonly hasWaiting: boolean
}

/**
 * Decides by the run's status, never by what the chat's document remembers.
 *
 * A run that somebody stopped takes no more messages: the next one waits for its end. So does one that others wait before.
 */
export function decideMessage(facts: MessageFacts): MessageDecision {
  const { run, onBusy, fitsInbox, hasWaiting } = facts
  if (!isActive(run)) return hasWaiting ? { kind: 'queue' } : { kind: 'start' }
  if (isCancelRequested(run)) return onBusy === 'reject' ? { kind: 'reject' } : { kind: 'queue' }
  const steerOrQueue = onBusy === 'steer' && fitsInbox ? 'steer' : 'queue'
  if (visibleStatus(run) === 'interrupted') return { kind: 'supersede', then: steerOrQueue }
  return onBusy === 'reject' ? { kind: 'reject' } : { kind: steerOrQueue }
}

/** Whether a run is there and has not ended. */
export function isActive(run: StoredRun | undefined): run is StoredRun {
  return run !== undefined && !isTerminal(run.record.status)
}
