// How a run that can do nothing for now comes to rest, in one commit.
//
// Owns:  nothing; the row says how the run stands.
// Asks:  the writer for the commit; the execution to rest once the row says so.
// Never: lets a run rest whose row says otherwise.
//
// Z1. `interrupted` is committed only while the inbox has been read to its end, with the close of
//     the open stream.
// Z2. A wait too short to be worth a commit keeps the slot.
import type { WaitingFor } from '@holdfast/core'
import type { JournalEntry } from '@holdfast/workflow'
import { inboxUnchanged } from './inbox.ts'
import type { JournalWriter } from './journal-writer.ts'
import type { Services } from './options.ts'
import type { RunState } from './run-commit.ts'
import { codeAwaited, interrupted, parked } from './run-moves.ts'

/** What a standstill asks of its execution. */
export interface StandstillPort {
  readonly services: Services
  readonly state: RunState
  readonly writer: JournalWriter
  /** The row says that the run is at rest. */
  rest(): void
  /** Something has come meanwhile. */
  inboxGrew(): void
  schedule(): void
  failed(error: unknown): void
}

/** Brings one execution to rest. */
export class Standstill {
  readonly #port: StandstillPort

  constructor(port: StandstillPort) {
    this.#port = port
  }

  /** Only answers would let the run go on. */
  interrupt(): void {
    const { writer, state, rest, inboxGrew, schedule, failed } = this.#port
    const { record } = state
    const { inboxNext } = writer.totals
    const isWritten =
      record.status === 'interrupted' && record.inboxReadThrough === inboxNext && !writer.hasWaiting
    if (isWritten) {
      rest()
      return
    }
    const entries = this.#interruption()
    writer
      .conclude({
        entries,
        moves: [interrupted],
        after: [inboxUnchanged(state.runId, inboxNext)],
        ...(entries.length === 0 ? {} : { closing: { end: 'interrupted' } }),
      })
      .then((committed) => {
        if (!committed) inboxGrew()
        schedule()
      }, failed)
  }

  /** Nothing is to be done before `wakeAt`, or before something comes. */
  park(waitingFor: WaitingFor, wakeAt: number | undefined): void {
    const { services, writer, state, rest } = this.#port
    const { system, limits } = services
    if (wakeAt !== undefined && wakeAt - system.now() <= limits.parkAfterMs) {
      writer.flush()
      return
    }
    const { record } = state
    const isWritten =
      record.status === 'running' &&
      record.parked &&
      record.waitingFor === waitingFor &&
      (waitingFor === 'code' || record.wakeAt === wakeAt) &&
      record.inboxReadThrough === writer.totals.inboxNext &&
      !writer.hasWaiting
    if (isWritten) rest()
    else writer.move(waitingFor === 'code' ? codeAwaited : parked(waitingFor, wakeAt), true)
  }

  #interruption(): readonly JournalEntry[] {
    const { writer } = this.#port
    const { record } = writer
    if (record.status === 'interrupted') return []
    const interrupts = record.interrupts.map(({ id }) => id)
    return [{ kind: 'run-interrupted', at: writer.time(), interrupts }]
  }
}
