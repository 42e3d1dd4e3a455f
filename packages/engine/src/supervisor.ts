// What starts, answers, steers, cancels and tells of the runs of one session.
//
// Owns:  nothing; the store decides every race by the guards of its commits.
// Asks:  the store to commit and to read; the engine to take up what was written.
// Never: waits for an execution.
import {
  answerKey,
  cancelKey,
  ErrorCode,
  HoldfastError,
  inboxOf,
  isStoreConflict,
  isTerminal,
  Limits,
  messageKey,
  runNotFound,
  streamIdOf,
} from '@holdfast/core'
import type {
  ActivityPage,
  ActivityPageRequest,
  Actor,
  CancelAcknowledgement,
  CancelRequest,
  JsonValue,
  LogAppend,
  ResumeAcknowledgement,
  ResumeManyRequest,
  ResumeRequest,
  RunDraft,
  RunGuard,
  SendRequest,
  StartedRun,
  StartOptions,
  StoredRun,
  Supervisor,
  SupervisorCallOptions,
  UnfencedWrite,
} from '@holdfast/core'
import { canonicalJson, checkJsonValue, truncateUtf8, utf8Length } from '@holdfast/json'
import { decodeEntries, decodeInboxEntry, encodeInboxEntry } from '@holdfast/workflow'
import { checkAnswer } from './answer-check.ts'
import type { EmbeddedEngine } from './engine.ts'
import { readHistory } from './history.ts'
import { checkInput, newRun } from './new-run.ts'
import type { NewRun } from './new-run.ts'
import {
  argumentsInvalid,
  assertEntrySize,
  assertGoing,
  assertKey,
  interruptIn,
  isCode,
  needsPerson,
  openInterrupt,
  runEnded,
  soleInterrupt,
  streamMoved,
} from './refusals.ts'
import { endOf } from './run-end.ts'
import { decodeValue } from './stored-values.ts'

const ancestorsWalked = 64
const messageIdBytes = 256
const inboxPage = 1_000

/** The supervisor of one session, on an embedded engine. */
export class EmbeddedSupervisor implements Supervisor {
  readonly sessionId: string
  readonly #engine: EmbeddedEngine

  constructor(engine: EmbeddedEngine, sessionId: string) {
    this.#engine = engine
    this.sessionId = sessionId
  }

  async start(draft: RunDraft, input: Uint8Array, options: StartOptions = {}): Promise<StartedRun> {
    this.#engine.assertWorking()
    const { catalog, store, system } = this.#engine.services
    const { idempotencyKey } = options
    assertKey(idempotencyKey)
    const registered = catalog.resolve(draft.definition.name, draft.definition.version)
    const checked = checkInput(registered, input)
    if (draft.parentRunId !== undefined) await this.#run(draft.parentRunId)
    assertGoing(options, 'The start')
    const session = this.#engine.owned(this.sessionId)
    const slot = session === undefined ? undefined : this.#engine.slots.take(this.sessionId)
    const make = (status: 'pending' | 'running'): NewRun =>
      newRun({
        id: draft.id,
        sessionId: this.sessionId,
        registered,
        input: checked,
        now: system.now(),
        status,
        ...(draft.parentRunId === undefined ? {} : { parentRunId: draft.parentRunId }),
        ...(draft.executionId === undefined ? {} : { executionId: draft.executionId }),
        ...(draft.artifactNamespace === undefined
          ? {}
          : { artifactNamespace: draft.artifactNamespace }),
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      })
    const commit = async (run: NewRun, epoch: number | undefined): Promise<void> => {
      await store.commit({
        sessionId: this.sessionId,
        writes: [...run.writes, ...(options.with ?? [])],
        ...(epoch === undefined ? {} : { fence: { epoch } }),
      })
    }
    let run = make(slot === undefined ? 'pending' : 'running')
    let held = slot
    try {
      try {
        await commit(run, slot === undefined ? undefined : session?.epoch)
      } catch (error) {
        if (slot === undefined || !isCode(error, ErrorCode.storeFenced)) throw error
        // The session was lost meanwhile: its new owner takes the run up.
        slot.release()
        held = undefined
        run = make('pending')
        await commit(run, undefined)
      }
    } catch (error) {
      held?.release()
      return await this.#startedBefore(error, run, idempotencyKey)
    }
    this.#engine.runCreated(run, registered, held)
    const stored = {
      record: run.record,
      revision: 1,
      journalNext: 1,
      inboxNext: 0,
      unread: [],
    }
    return { run: stored, created: true }
  }

  async resume(
    request: ResumeRequest,
    options: SupervisorCallOptions = {},
  ): Promise<ResumeAcknowledgement> {
    const { interruptId, payload, ...rest } = request
    const run = await this.#run(request.runId)
    const id =
      interruptId ??
      interruptIn(payload) ??
      (await this.#answeredWith(request.idempotencyKey, run)) ??
      soleInterrupt(run)
    return this.#answer({ ...rest, answers: [{ interruptId: id, payload }] }, run, options)
  }

  async resumeMany(
    request: ResumeManyRequest,
    options: SupervisorCallOptions = {},
  ): Promise<ResumeAcknowledgement> {
    if (request.answers.length === 0) throw argumentsInvalid('At least one answer is needed.')
    return this.#answer(request, await this.#run(request.runId), options)
  }

  async send(request: SendRequest, options: SupervisorCallOptions = {}): Promise<StoredRun> {
    const { runId, message } = request
    const run = await this.#run(runId)
    if (message.id === '' || utf8Length(message.id) > messageIdBytes) {
      throw argumentsInvalid(`A message's id must have 1 to ${messageIdBytes} bytes.`)
    }
    const value = encodeInboxEntry({
      kind: 'message',
      at: this.#now(),
      id: message.id,
      body: checkJsonValue(message.body),
    })
    assertEntrySize(value)
    assertGoing(options, 'The message')
    const append = this.#append(runId, messageKey(message.id), value, {
      runId,
      notEnded: true,
      maxUnread: Limits.inboxUnread,
    })
    try {
      await this.#commit([append], options.with)
    } catch (error) {
      // The same message again: it has arrived, or was named at the run's end.
      if (!isStoreConflict(error, 'log-key-exists')) throw this.#refusal(error, run)
    }
    this.#engine.nudge(this.sessionId, runId)
    return this.#run(runId)
  }

  async cancel(
    request: CancelRequest,
    options: SupervisorCallOptions = {},
  ): Promise<CancelAcknowledgement> {
    const { runId, by } = request
    const run = await this.#run(runId)
    await this.#assertNotOwn(by, run)
    const { status } = run.record
    if (status === 'cancelled') return { run, alreadyCancelled: true }
    if (isTerminal(status)) throw runEnded(run)
    const reason = truncateUtf8((request.reason ?? '').trim(), Limits.cancelReasonBytes)
    const value = encodeInboxEntry({
      kind: 'cancel',
      at: this.#now(),
      reason: reason === '' ? 'cancel requested' : reason,
      by: by.kind,
    })
    assertGoing(options, 'The cancel')
    try {
      await this.#commit(
        [this.#append(runId, cancelKey, value, { runId, notEnded: true })],
        options.with,
      )
    } catch (error) {
      const again = await this.#cancelledBefore(error, runId)
      if (again !== undefined) return again
    }
    this.#engine.nudge(this.sessionId, runId)
    return { run: await this.#run(runId), alreadyCancelled: false }
  }

  history(runId: string, request: ActivityPageRequest = {}): Promise<ActivityPage> {
    return readHistory(this.#engine.services.store, { sessionId: this.sessionId, runId }, request)
  }

  async output(runId: string): Promise<JsonValue | undefined> {
    const { store } = this.#engine.services
    const run = await this.#run(runId)
    if (!isTerminal(run.record.status) || run.journalNext === 0) return undefined
    const rows = await store.journal(this.sessionId, runId, { from: run.journalNext - 1, limit: 1 })
    const end = endOf(rows.flatMap((row) => decodeEntries(row).entries))
    if (end?.output === undefined) return undefined
    return decodeValue(store, { sessionId: this.sessionId, runId }, end.output)
  }

  // Starts.

  /** A start that was refused may be the repeat of one that was not, or may have been made after all. */
  async #startedBefore(
    error: unknown,
    run: NewRun,
    idempotencyKey: string | undefined,
  ): Promise<StartedRun> {
    const { store } = this.#engine.services
    const { id, definition, input } = run.record
    if (isStoreConflict(error, 'idempotency-key') && idempotencyKey !== undefined) {
      const known = await store.runByIdempotencyKey(this.sessionId, idempotencyKey)
      const isSame =
        known?.record.input.digest === input.digest &&
        known.record.definition.name === definition.name &&
        known.record.definition.version === definition.version
      if (known !== undefined && isSame) {
        this.#engine.nudge(this.sessionId, known.record.id)
        return { run: known, created: false }
      }
      throw new HoldfastError(ErrorCode.idempotencyKeyReused, {
        message: 'The idempotency key was used for another input or definition.',
        details: known === undefined ? {} : { run_id: known.record.id },
      })
    }
    if (isStoreConflict(error, 'run-exists')) {
      throw new HoldfastError(ErrorCode.runExists, {
        message: `Run ${id} exists already.`,
        details: { run_id: id },
      })
    }
    if (isStoreConflict(error, 'run-purged')) {
      throw new HoldfastError(ErrorCode.runPurged, {
        message: 'The run that this start made was purged.',
      })
    }
    if (isCode(error, ErrorCode.storeOutcomeUnknown)) return this.#startLookedUp(error, run)
    throw error
  }

  /** Nobody knows whether a start was made: it is looked up. */
  async #startLookedUp(error: unknown, run: NewRun): Promise<StartedRun> {
    const { id } = run.record
    try {
      const known = await this.#engine.services.store.run(this.sessionId, id)
      if (known !== undefined) {
        this.#engine.nudge(this.sessionId, id)
        return { run: known, created: true }
      }
    } catch {
      // The error below names the run.
    }
    throw new HoldfastError(ErrorCode.storeOutcomeUnknown, {
      message: `Whether run ${id} was started is not known: look for it.`,
      details: { run_id: id },
      cause: error,
    })
  }

  // Answers.

  async #answer(
    request: ResumeManyRequest,
    run: StoredRun,
    options: SupervisorCallOptions,
  ): Promise<ResumeAcknowledgement> {
    const { runId, by, idempotencyKey, streamIs } = request
    assertKey(idempotencyKey)
    await this.#assertNotOwn(by, run)
    const repeated = await this.#answeredBefore(request)
    if (repeated) return this.#acknowledged(run)
    if (isTerminal(run.record.status)) throw runEnded(run)
    if (streamIs !== undefined && run.record.stream !== streamIs) throw streamMoved(run)
    const at = this.#now()
    const appends: LogAppend[] = []
    for (const { interruptId, payload } of request.answers) {
      const interrupt = openInterrupt(run, interruptId)
      if (by.kind === 'model' && interrupt.answer === 'person') throw needsPerson(interrupt)
      const checked = await checkAnswer(this.#engine.services, run, interrupt, payload)
      const value = encodeInboxEntry({
        kind: 'answer',
        at,
        interruptId,
        payload: checked,
        by: by.kind,
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      })
      appends.push(
        this.#append(runId, answerKey(interruptId), value, {
          runId,
          notEnded: true,
          interruptOpen: interruptId,
          ...(streamIs === undefined ? {} : { streamIs }),
        }),
      )
    }
    assertGoing(options, 'The answer')
    try {
      await this.#commit(appends, options.with)
    } catch (error) {
      if (isStoreConflict(error, 'log-key-exists') && (await this.#answeredBefore(request))) {
        return this.#acknowledged(run)
      }
      throw this.#refusal(error, run)
    }
    this.#engine.nudge(this.sessionId, runId)
    return this.#acknowledged(run)
  }

  async #acknowledged(run: StoredRun): Promise<ResumeAcknowledgement> {
    const { id, stream } = run.record
    const now = await this.#run(id)
    return { run: now, streamId: streamIdOf(id, stream + 1) }
  }

  /** The interrupt that an answer with this key answered: a repeat means it, whatever is open by now. */
  async #answeredWith(
    idempotencyKey: string | undefined,
    run: StoredRun,
  ): Promise<string | undefined> {
    const { store } = this.#engine.services
    if (idempotencyKey === undefined) return undefined
    let from = 0
    while (from < run.inboxNext) {
      const page = await store.logPage(this.sessionId, inboxOf(run.record.id), {
        from,
        limit: inboxPage,
      })
      for (const stored of page.entries) {
        const entry = decodeInboxEntry(stored)
        if (entry.kind === 'answer' && entry.idempotencyKey === idempotencyKey) {
          return entry.interruptId
        }
        from = stored.sequence + 1
      }
      if (page.entries.length === 0) return undefined
    }
    return undefined
  }

  /** Whether all of these answers were accepted before, with the same key and payload. @throws `interrupt_answered` */
  async #answeredBefore(request: ResumeManyRequest): Promise<boolean> {
    const { store } = this.#engine.services
    const { runId, answers, idempotencyKey } = request
    let same = 0
    let other: string | undefined
    for (const { interruptId, payload } of answers) {
      const stored = await store.logEntry(this.sessionId, inboxOf(runId), answerKey(interruptId))
      if (stored === undefined) continue
      const entry = decodeInboxEntry(stored)
      const isSame =
        entry.kind === 'answer' &&
        idempotencyKey !== undefined &&
        entry.idempotencyKey === idempotencyKey &&
        canonicalJson(entry.payload) === canonicalJson(payload)
      if (isSame) same += 1
      else other ??= interruptId
    }
    if (same === answers.length) return true
    if (same === 0 && other === undefined) return false
    throw new HoldfastError(ErrorCode.interruptAnswered, {
      message: 'The interrupt was answered before.',
      details: { run_id: runId, ...(other === undefined ? {} : { interrupt_id: other }) },
    })
  }

  // Cancels.

  async #cancelledBefore(
    error: unknown,
    runId: string,
  ): Promise<CancelAcknowledgement | undefined> {
    const run = await this.#run(runId)
    if (run.record.status === 'cancelled') return { run, alreadyCancelled: true }
    // Somebody has asked for it before: that request stands.
    if (isStoreConflict(error, 'log-key-exists') && !isTerminal(run.record.status)) return undefined
    throw this.#refusal(error, run)
  }

  // What all share.

  async #run(runId: string): Promise<StoredRun> {
    const run = await this.#engine.services.store.run(this.sessionId, runId)
    if (run === undefined) throw runNotFound(runId)
    return run
  }

  #append(runId: string, key: string, value: string, guard: RunGuard): LogAppend {
    return { kind: 'log-append', log: inboxOf(runId), key, value, guard, onFailure: 'fail' }
  }

  async #commit(
    writes: readonly UnfencedWrite[],
    others: readonly UnfencedWrite[] | undefined,
  ): Promise<void> {
    await this.#engine.services.store.commit({
      sessionId: this.sessionId,
      writes: [...writes, ...(others ?? [])],
    })
  }

  #now(): number {
    return this.#engine.services.system.now()
  }

  /** A refused write in the caller's words. Conflicts of the caller's own writes stay as they are. */
  #refusal(error: unknown, run: StoredRun): unknown {
    if (!isStoreConflict(error)) return error
    const { id } = run.record
    switch (error.facts.reason) {
      case 'run-ended':
      case 'log-closed':
        return runEnded(run)
      case 'run-absent':
        return runNotFound(id)
      case 'interrupt-not-open':
        return new HoldfastError(ErrorCode.interruptNotFound, {
          message: 'The interrupt is not open any more.',
          details: { run_id: id },
        })
      case 'stream-number':
        return streamMoved(run)
      case 'inbox-full':
        return new HoldfastError(ErrorCode.inboxFull, {
          message: `Run ${id} has too many messages that it has not read.`,
          details: { run_id: id },
        })
      default:
        return error
    }
  }

  /** @throws `own_run` when a model acts on its own run or an ancestor of it */
  async #assertNotOwn(by: Actor, target: StoredRun): Promise<void> {
    if (by.kind !== 'model') return
    let current = by.runId
    for (let step = 0; current !== undefined && step < ancestorsWalked; step += 1) {
      if (current === target.record.id) {
        throw new HoldfastError(ErrorCode.ownRun, {
          message: 'A model cannot resume or cancel the run that it acts in, or an ancestor of it.',
          details: { run_id: current },
        })
      }
      const run = await this.#engine.services.store.run(this.sessionId, current)
      current = run?.record.childOf ?? run?.record.parentRunId
    }
  }
}
