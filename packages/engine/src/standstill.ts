// How a run that can do nothing for now comes to rest, in one commit.
//
// Owns:  nothing; the row says how the run stands.
// Asks:  the writer for the commit; the execution to rest once the row says so.
// Never: lets a run rest whose row says otherwise.
//
// Z1. `interrupted` is committed only while the inbox has been read to its end, with the close of
//     the open stream.
// Z2. A wait too short to be worth a commit keeps the slot.
import { ErrorCode } from '@holdfast/core'
import type { RegisteredDefinition, WaitingFor } from '@holdfast/core'
import type { JournalEntry } from '@holdfast/workflow'
import type { Cancellation } from './cancellation.ts'
import { inboxUnchanged } from './inbox.ts'
import type { JournalWriter } from './journal-writer.ts'
import type { Services } from './options.ts'
import type { Rest } from './rest.ts'
import type { RunState } from './run-commit.ts'
import { codeAwaited, interrupted, parked } from './run-moves.ts'

/** What a standstill asks of its execution. */
export interface StandstillPort {
  readonly services: Services
  readonly state: RunState
  readonly registered: RegisteredDefinition
  readonly writer: JournalWriter
  readonly cancellation: Cancellation
  /** Calls back if the code stays idle for the watchdog's bound. */
  readonly watch: (expired: () => void) => void
  /** The definition is not waited for any more. */
  readonly cut: () => void
  /** The row says that the run is at rest. */
  readonly rest: () => void
  /** Something has come meanwhile. */
  readonly inboxGrew: () => void
  readonly schedule: () => void
  readonly failed: (error: unknown) => void
}

/** Brings one execution to rest. */
export class Standstill {
  readonly #port: StandstillPort

  constructor(port: StandstillPort) {
    this.#port = port
  }

  /** Everything is delivered, nothing executes, and nothing is in flight. */
  settle(rest: Rest): void {
    const { writer, cancellation } = this.#port
    const { cleanupUntil } = cancellation
    switch (rest.kind) {
      case 'none':
        writer.flush()
        return
      case 'foreign':
        this.#foreign()
        return
      case 'interrupted':
        if (cleanupUntil === undefined) this.#interrupt()
        else this.#park('message', cleanupUntil)
        return
      case 'waiting':
        this.#park(rest.for, earlier(rest.wakeAt, cleanupUntil))
        return
    }
  }

  /** The definition awaits what its context does not know. */
  #foreign(): void {
    const { services, state, registered, writer, cancellation, watch, cut } = this.#port
    writer.flush()
    if (cancellation.isDelivered) watch(cut)
    else if (state.record.waitingFor === 'code') this.#park('code', undefined)
    else {
      watch(() => {
        services.log.write({
          level: 'error',
          event: 'engine.run.foreign_await',
          message: 'A definition awaits something that is not of its context, outside a step.',
          fields: {
            run_id: state.runId,
            definition: `${registered.name}@${registered.version}`,
            code: ErrorCode.foreignAwait,
          },
        })
        this.#park('code', undefined)
      })
    }
  }

  /** Only answers would let the run go on. */
  #interrupt(): void {
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
  #park(waitingFor: WaitingFor, wakeAt: number | undefined): void {
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

function earlier(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right
  return Math.min(left, right)
}
