// The end of a run that is not executed: cancelled before it ran, or one that cannot go on.
import { ErrorCode, streamIdOf } from '@holdfast/core'
import type { RegisteredDefinition, RunError } from '@holdfast/core'
import { JournalWriter } from './journal-writer.ts'
import { totalsOf } from './journal-totals.ts'
import type { Services } from './options.ts'
import type { Outcome } from './outcome.ts'
import { OutputQueue } from './output.ts'
import type { Ownership, RunState } from './run-commit.ts'
import { endRun } from './run-end.ts'
import type { EndedRun } from './run-end.ts'
import { readJournal } from './taking-over.ts'

/** What ending a run without executing it needs. */
export interface UnexecutedEndPort {
  readonly services: Services
  readonly ownership: Ownership
  readonly state: RunState
  /** Absent when this process does not know the definition. */
  readonly registered: RegisteredDefinition | undefined
}

/** Ends a run as `cancelled` if that was asked for, else as failed with the outcome's error. */
export async function endUnexecuted(
  port: UnexecutedEndPort,
  outcome: Extract<Outcome, { readonly kind: 'cut' }>,
): Promise<EndedRun> {
  const { services, ownership, state, registered } = port
  const { sessionId, runId, record } = state
  const journal = await readJournal(services.store, state)
  const head = await services.store.streamHead(sessionId, streamIdOf(runId, record.stream + 1))
  const output = new OutputQueue(
    runId,
    registered?.definition.stream,
    { number: record.stream + 1, next: head?.next ?? (registered === undefined ? 0 : undefined) },
    (cause) =>
      services.log.write({
        level: 'warn',
        event: 'engine.stream.framing_failed',
        message: 'A framing failed.',
        fields: { run_id: runId },
        cause,
      }),
  )
  const writer = new JournalWriter(
    {
      services,
      ownership,
      state,
      output,
      lastTime: journal?.lastTime ?? record.updatedAt,
      totals:
        journal === undefined
          ? {
              completedSteps: 0,
              totalSteps: undefined,
              progress: undefined,
              inboxNext: record.inboxReadThrough,
            }
          : totalsOf(journal),
    },
    {
      committed: () => undefined,
      quiet: () => undefined,
      waiting: () => undefined,
      failed: () => undefined,
    },
  )
  return endRun({ services, ownership, state, writer, registered }, outcome, {
    undelivered: [],
    superseded: [],
    inFlight: [],
    children: journal?.openChildren ?? [],
    cancelReason: journal?.cancel?.reason,
  })
}

/** Why a run that was taken over again and again is given up. */
export const crashLoop: RunError = {
  code: ErrorCode.crashLoop,
  message: 'The run was taken over again and again without getting any further.',
  retryable: false,
}

/** Why a run that cannot be read is given up. */
export const unreadable: RunError = {
  code: ErrorCode.recordCorrupt,
  message: 'The stored input or journal of the run is missing or damaged.',
  retryable: false,
}

/** Why a run that could not be executed, for no known reason, is given up. */
export const unexecutable: RunError = {
  code: ErrorCode.internal,
  message: 'The run could not be executed.',
  retryable: false,
}
