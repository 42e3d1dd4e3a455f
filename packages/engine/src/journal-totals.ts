// What a run's journal says of it besides its operations.
import type { JsonObject } from '@holdfast/core'
import { canonicalJson } from '@holdfast/json'
import type { LoadedJournal } from './replay.ts'

/** What the journal says of the run besides its operations. */
export interface JournalTotals {
  completedSteps: number
  readonly totalSteps: number | undefined
  progress: JsonObject | undefined
  /** Inbox entries below this have been journaled, or are about to be. */
  inboxNext: number
}

/** How far a run says that it has come. */
export interface ProgressState {
  readonly completed: number
  readonly total?: number
  readonly message?: string
}

/** What a journal that was read says. */
export function totalsOf(journal: LoadedJournal): JournalTotals {
  const { progress } = journal
  return {
    completedSteps: journal.completedSteps,
    totalSteps: journal.seed.totalSteps,
    inboxNext: journal.inboxNext,
    progress: progress === undefined ? undefined : progressObject(progress),
  }
}

/** What a view shows of a run, as the newest revision of its journal carries it. */
export function headOf({ completedSteps, totalSteps, progress }: JournalTotals): JsonObject {
  return {
    completed_steps: completedSteps,
    ...(totalSteps === undefined ? {} : { total_steps: Math.max(totalSteps, completedSteps) }),
    ...(progress === undefined ? {} : { progress }),
  }
}

/** Whether the totals say just this of progress. */
export function showsProgress(totals: JournalTotals, progress: ProgressState): boolean {
  return canonicalJson(progressObject(progress)) === canonicalJson(totals.progress ?? null)
}

/** Progress as views show it. */
export function progressObject({ completed, total, message }: ProgressState): JsonObject {
  return {
    completed,
    ...(total === undefined ? {} : { total }),
    ...(message === undefined ? {} : { message }),
  }
}
