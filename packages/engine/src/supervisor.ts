// What starts, answers, steers, cancels and tells of the runs of one session.
//
// Owns:  nothing; the store decides every race by the guards of its commits.
// Asks:  the store to commit and to read; the engine to take up what was written.
// Never: waits for an execution.
import { cancelKey, isStoreConflict, isTerminal, Limits, messageKey } from '@holdfast/core'
import type {
  ActivityPage,
  ActivityPageRequest,
  CancelAcknowledgement,
  CancelRequest,
  JsonValue,
  ResumeAcknowledgement,
  ResumeManyRequest,
  ResumeRequest,
  RunDraft,
  SendRequest,
  StartedRun,
  StartOptions,
  StoredRun,
  Supervisor,
  SupervisorCallOptions,
} from '@holdfast/core'
import { checkJsonValue, truncateUtf8, utf8Length } from '@holdfast/json'
import { decodeEntries, encodeInboxEntry } from '@holdfast/workflow'
import { assertNotOwn } from './ancestors.ts'
import { answer, answeredWith } from './answers.ts'
import type { EmbeddedEngine } from './engine.ts'
import { readHistory } from './history.ts'
import {
  argumentsInvalid,
  assertEntrySize,
  assertGoing,
  interruptIn,
  refusalOf,
  runEnded,
  soleInterrupt,
} from './refusals.ts'
import { endOf } from './run-end.ts'
import { inboxAppend, SessionRuns } from './session-runs.ts'
import { startRun } from './start-run.ts'
import { decodeValue } from './stored-values.ts'

const messageIdBytes = 256

/** The supervisor of one session, on an embedded engine. */
export class EmbeddedSupervisor implements Supervisor {
  readonly sessionId: string
  readonly #engine: EmbeddedEngine
  readonly #runs: SessionRuns

  constructor(engine: EmbeddedEngine, sessionId: string) {
    this.#engine = engine
    this.sessionId = sessionId
    this.#runs = new SessionRuns(engine, sessionId)
  }

  start(draft: RunDraft, input: Uint8Array, options: StartOptions = {}): Promise<StartedRun> {
    return startRun(this.#engine, this.#runs, { draft, input, options })
  }

  async resume(
    request: ResumeRequest,
    options: SupervisorCallOptions = {},
  ): Promise<ResumeAcknowledgement> {
    const { interruptId, payload, ...rest } = request
    const run = await this.#runs.run(request.runId)
    const id =
      interruptId ??
      interruptIn(payload) ??
      (await answeredWith(this.#runs, request.idempotencyKey, run)) ??
      soleInterrupt(run)
    return answer(this.#runs, { ...rest, answers: [{ interruptId: id, payload }] }, run, options)
  }

  async resumeMany(
    request: ResumeManyRequest,
    options: SupervisorCallOptions = {},
  ): Promise<ResumeAcknowledgement> {
    if (request.answers.length === 0) throw argumentsInvalid('At least one answer is needed.')
    return answer(this.#runs, request, await this.#runs.run(request.runId), options)
  }

  async send(request: SendRequest, options: SupervisorCallOptions = {}): Promise<StoredRun> {
    const { runId, message } = request
    const run = await this.#runs.run(runId)
    if (message.id === '' || utf8Length(message.id) > messageIdBytes) {
      throw argumentsInvalid(`A message's id must have 1 to ${messageIdBytes} bytes.`)
    }
    const value = encodeInboxEntry({
      kind: 'message',
      at: this.#runs.services.system.now(),
      id: message.id,
      body: checkJsonValue(message.body),
    })
    assertEntrySize(value)
    assertGoing(options, 'The message')
    const append = inboxAppend(runId, messageKey(message.id), value, {
      runId,
      notEnded: true,
      maxUnread: Limits.inboxUnread,
    })
    try {
      await this.#runs.commit([append], options.with)
    } catch (error) {
      // The same message again: it has arrived, or was named at the run's end.
      if (!isStoreConflict(error, 'log-key-exists')) throw refusalOf(error, run)
    }
    this.#runs.nudge(runId)
    return this.#runs.run(runId)
  }

  async cancel(
    request: CancelRequest,
    options: SupervisorCallOptions = {},
  ): Promise<CancelAcknowledgement> {
    const { runId, by } = request
    const run = await this.#runs.run(runId)
    await assertNotOwn(this.#runs, by, run)
    const { status } = run.record
    if (status === 'cancelled') return { run, alreadyCancelled: true }
    if (isTerminal(status)) throw runEnded(run)
    const reason = truncateUtf8((request.reason ?? '').trim(), Limits.cancelReasonBytes)
    const value = encodeInboxEntry({
      kind: 'cancel',
      at: this.#runs.services.system.now(),
      reason: reason === '' ? 'cancel requested' : reason,
      by: by.kind,
    })
    assertGoing(options, 'The cancel')
    try {
      await this.#runs.commit(
        [inboxAppend(runId, cancelKey, value, { runId, notEnded: true })],
        options.with,
      )
    } catch (error) {
      const again = await this.#cancelledBefore(error, runId)
      if (again !== undefined) return again
    }
    this.#runs.nudge(runId)
    return { run: await this.#runs.run(runId), alreadyCancelled: false }
  }

  history(runId: string, request: ActivityPageRequest = {}): Promise<ActivityPage> {
    return readHistory(this.#runs.services.store, { sessionId: this.sessionId, runId }, request)
  }

  async output(runId: string): Promise<JsonValue | undefined> {
    const { store } = this.#runs.services
    const run = await this.#runs.run(runId)
    if (!isTerminal(run.record.status) || run.journalNext === 0) return undefined
    const rows = await store.journal(this.sessionId, runId, { from: run.journalNext - 1, limit: 1 })
    const end = endOf(rows.flatMap((row) => decodeEntries(row).entries))
    if (end?.output === undefined) return undefined
    return decodeValue(store, { sessionId: this.sessionId, runId }, end.output)
  }

  async #cancelledBefore(
    error: unknown,
    runId: string,
  ): Promise<CancelAcknowledgement | undefined> {
    const run = await this.#runs.run(runId)
    if (run.record.status === 'cancelled') return { run, alreadyCancelled: true }
    // Somebody has asked for it before: that request stands.
    if (isStoreConflict(error, 'log-key-exists') && !isTerminal(run.record.status)) return undefined
    throw refusalOf(error, run)
  }
}
