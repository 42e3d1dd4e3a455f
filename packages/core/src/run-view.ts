import { isTerminal } from './run-transitions.ts'
import type { OpenInterrupt, RunStatus } from './run.ts'
import type { StoredRun } from './store.ts'

/** The inbox key of an answer: absent-only, so that an interrupt is answered once. */
export function answerKey(interruptId: string): string {
  return `answer/${interruptId}`
}

/** The inbox key of a cancel: the first one counts. */
export const cancelKey = 'cancel'

/** The inbox key of a message. */
export function messageKey(messageId: string): string {
  return `message/${messageId}`
}

/** The inbox key of a child's result. */
export function childKey(childRunId: string): string {
  return `child/${childRunId}`
}

/** The open interrupts that have no answer waiting to be read. */
export function unansweredInterrupts(run: StoredRun): readonly OpenInterrupt[] {
  const unread = new Set(run.unread)
  return run.record.interrupts.filter((interrupt) => !unread.has(answerKey(interrupt.id)))
}

/** The status to show: `running` once every open interrupt has an answer that was accepted. */
export function visibleStatus(run: StoredRun): RunStatus {
  const { status } = run.record
  if (status !== 'interrupted') return status
  return unansweredInterrupts(run).length === 0 ? 'running' : status
}

/** Whether somebody asked for the run to stop, read or not. */
export function isCancelRequested(run: StoredRun): boolean {
  if (run.record.cancelRequested === true) return true
  return !isTerminal(run.record.status) && run.unread.includes(cancelKey)
}
