// The end of a run, in one commit, with everything taken into account that was accepted before it.
//
// E1. The end is committed only while the inbox has been read to its end.
// E2. After one refusal for that reason the inbox is closed first, so that the next attempt wins.
// E3. A cancel that is read before the end makes the run cancelled. Messages and answers that nobody
//     will take are named.
import { cancelKey, childKey, inboxOf, Limits } from '@holdfast/core'
import type { JsonValue, RegisteredDefinition, RunError, StoreWrite } from '@holdfast/core'
import { truncateUtf8 } from '@holdfast/json'
import { decodeInboxEntry, encodeInboxEntry } from '@holdfast/workflow'
import type { JournalEntry, JournalEntryOf } from '@holdfast/workflow'
import type { JournalWriter } from './journal-writer.ts'
import type { Services } from './options.ts'
import { judged } from './outcome.ts'
import type { Judged, Outcome } from './outcome.ts'
import { commitRun } from './run-commit.ts'
import type { Ownership, RunState } from './run-commit.ts'
import { ended, roused } from './run-moves.ts'
import { workflowLabels } from './telemetry.ts'

/** What is left of a run at its end. */
export interface Leftovers {
  readonly undelivered: readonly string[]
  readonly superseded: readonly string[]
  readonly inFlight: readonly string[]
  /** Children that have not ended. */
  readonly children: readonly string[]
  readonly cancelReason: string | undefined
}

/** How a run has ended. */
export interface EndedRun {
  readonly status: 'completed' | 'cancelled' | 'failed'
  readonly output?: JsonValue
  readonly error?: RunError
}

/** What ending a run needs. */
export interface EndPort {
  readonly services: Services
  readonly ownership: Ownership
  readonly state: RunState
  readonly writer: JournalWriter
  /** Absent when this process does not know the definition. */
  readonly registered: RegisteredDefinition | undefined
}

const pageEntries = 100

/** Ends a run. Nothing of it may be executing, or being committed. */
export async function endRun(
  port: EndPort,
  outcome: Outcome,
  leftovers: Leftovers,
): Promise<EndedRun> {
  const ending = new Ending(port, outcome, leftovers)
  if (outcome.kind === 'cut') await ending.readInbox()
  for (let attempt = 0; ; attempt += 1) {
    const result = await ending.commit()
    if (result !== undefined) return result
    if (attempt === 0) await ending.closeInbox()
    await ending.readInbox()
  }
}

class Ending {
  readonly #port: EndPort
  readonly #outcome: Judged
  readonly #undelivered: string[]
  readonly #superseded: string[]
  readonly #leftovers: Leftovers
  #cancelReason: string | undefined
  #closed = false

  constructor(port: EndPort, outcome: Outcome, leftovers: Leftovers) {
    this.#port = port
    this.#outcome = judged(port, outcome)
    this.#leftovers = leftovers
    this.#undelivered = [...leftovers.undelivered]
    this.#superseded = [...leftovers.superseded]
    this.#cancelReason = leftovers.cancelReason
  }

  async commit(): Promise<EndedRun | undefined> {
    const { writer, state } = this.#port
    const { output, error } = this.#outcome
    const status =
      this.#cancelReason !== undefined ? 'cancelled' : error === undefined ? 'completed' : 'failed'
    const shown = status === 'failed' ? error : undefined
    const at = writer.time()
    const entry: JournalEntryOf<'run-ended'> = {
      kind: 'run-ended',
      at,
      status,
      ...(output === undefined || output.value === undefined ? {} : { output: output.stored }),
      ...(shown === undefined ? {} : { error: shown }),
      ...(this.#cancelReason === undefined ? {} : { reason: this.#cancelReason }),
      undelivered: this.#undelivered,
      superseded: this.#superseded,
      inFlight: [...this.#leftovers.inFlight],
    }
    const value = output?.value
    const result: EndedRun = {
      status,
      ...(value === undefined ? {} : { output: value }),
      ...(shown === undefined ? {} : { error: shown }),
    }
    if (status === 'completed' && state.record.status === 'interrupted') await this.#rouse()
    const inbox = inboxOf(state.runId)
    const committed = await writer.conclude({
      entries: [entry],
      before: output?.blob === undefined ? [] : [output.blob],
      moves: [
        ended({
          status,
          ...(shown === undefined ? {} : { error: shown }),
          ...summaryOf(this.#port, result),
        }),
      ],
      after: [
        { kind: 'log-close', log: inbox, expectedNext: writer.totals.inboxNext },
        ...this.#toldParent(at, status, shown),
        ...this.#leftovers.children.map((child) =>
          cancelWrite(child, { at, reason: 'parent ended', by: 'parent' }),
        ),
      ],
      closing: {
        end: status,
        ...(shown === undefined ? {} : { error: shown }),
        ...outputOf(value),
      },
    })
    if (!committed) return undefined
    this.#port.services.telemetry?.count('holdfast.runs.ended', 1, {
      ...workflowLabels(state.record),
      'holdfast.run.status': status,
    })
    return result
  }

  async closeInbox(): Promise<void> {
    const { services, ownership, state } = this.#port
    if (this.#closed) return
    this.#closed = true
    await commitRun(services, ownership, state, {
      after: [{ kind: 'log-close', log: inboxOf(state.runId) }],
    })
  }

  /** Takes into account what came since the inbox was read. */
  async readInbox(): Promise<void> {
    const { services, state, writer } = this.#port
    for (;;) {
      const page = await services.store.logPage(state.sessionId, inboxOf(state.runId), {
        from: writer.totals.inboxNext,
        limit: pageEntries,
      })
      for (const stored of page.entries) {
        const entry = decodeInboxEntry(stored)
        writer.totals.inboxNext = stored.sequence + 1
        switch (entry.kind) {
          case 'cancel':
            if (this.#cancelReason !== undefined) break
            this.#cancelReason = entry.reason
            writer.append(
              {
                kind: 'cancel-requested',
                at: writer.time(),
                reason: entry.reason,
                inbox: stored.sequence,
              },
              { canWait: true },
            )
            break
          case 'message':
            this.#undelivered.push(entry.id)
            break
          case 'answer':
            this.#superseded.push(entry.interruptId)
            break
          case 'child':
            break
        }
      }
      if (page.entries.length === 0 || writer.totals.inboxNext >= page.next) return
    }
  }

  /** A run that stood interrupted completes only from running. */
  async #rouse(): Promise<void> {
    const { services, ownership, state } = this.#port
    await commitRun(services, ownership, state, {
      record: roused(state.record, services.system.now(), state.journalNext),
    })
  }

  #toldParent(
    at: number,
    status: EndedRun['status'],
    error: RunError | undefined,
  ): readonly StoreWrite[] {
    const { record } = this.#port.state
    if (record.childOf === undefined) return []
    const value = encodeInboxEntry({
      kind: 'child',
      at,
      runId: record.id,
      status,
      ...(error === undefined ? {} : { error }),
    })
    return [
      {
        kind: 'log-append',
        log: inboxOf(record.childOf),
        key: childKey(record.id),
        value,
        onFailure: 'skip',
      },
    ]
  }
}

/** Asks another run to stop, once, if it has not ended. */
export function cancelWrite(
  runId: string,
  cancel: { readonly at: number; readonly reason: string; readonly by: 'parent' },
): StoreWrite {
  return {
    kind: 'log-append',
    log: inboxOf(runId),
    key: cancelKey,
    value: encodeInboxEntry({ kind: 'cancel', ...cancel }),
    guard: { runId, notEnded: true },
    onFailure: 'skip',
  }
}

function summaryOf(port: EndPort, result: EndedRun): { readonly summary?: string } {
  const definition = port.registered?.definition
  if (definition?.summarize === undefined) return {}
  try {
    const text = definition.summarize({
      status: result.status,
      ...outputOf(result.output),
    })
    return { summary: truncateUtf8(text, Limits.statusSummaryBytes) }
  } catch (cause) {
    port.services.log.write({
      level: 'warn',
      event: 'engine.run.summary_failed',
      message: "A definition's summarize failed.",
      fields: { run_id: port.state.runId },
      cause,
    })
    return {}
  }
}

function outputOf(output: JsonValue | undefined): { readonly output?: JsonValue } {
  return output === undefined ? {} : { output }
}

/** The entry that a terminal run's journal ends with, if it is there. */
export function endOf(entries: readonly JournalEntry[]): JournalEntryOf<'run-ended'> | undefined {
  return entries.findLast((entry) => entry.kind === 'run-ended')
}
