// Answers to what runs have asked.
//
// Owns:  nothing; the inbox takes one answer for each interrupt, and its guards decide every race.
// Asks:  the store for what was answered before; `checkAnswer` whether an answer fits.
// Never: accepts some answers of a request and refuses others.
//
// A1. A repeat (same idempotency key, same payload) is acknowledged like the first time, even after
//     the run has ended; any other second answer is `interrupt_answered`.
// A2. An answer is accepted only in the commit that finds its interrupt open, its run not ended and,
//     where the caller says so, its stream not closed.
import {
  answerKey,
  ErrorCode,
  HoldfastError,
  inboxOf,
  isStoreConflict,
  isTerminal,
  streamIdOf,
} from '@holdfast/core'
import type {
  LogAppend,
  ResumeAcknowledgement,
  ResumeManyRequest,
  StoredRun,
  SupervisorCallOptions,
} from '@holdfast/core'
import { canonicalJson } from '@holdfast/json'
import { decodeInboxEntry, encodeInboxEntry } from '@holdfast/workflow'
import { assertNotOwn } from './ancestors.ts'
import { checkAnswer } from './answer-check.ts'
import {
  assertGoing,
  assertKey,
  needsPerson,
  openInterrupt,
  refusalOf,
  runEnded,
  streamMoved,
} from './refusals.ts'
import { inboxAppend } from './session-runs.ts'
import type { SessionRuns } from './session-runs.ts'

const inboxPage = 1_000

/**
 * Answers open interrupts of a run, all or none.
 *
 * @throws `interrupt_answered`, `run_ended`, `run_conflict`, `run_not_interrupted`, `interrupt_not_found`,
 * `interrupt_needs_person`, `own_run`, `aborted`, and what checking an answer throws
 */
export async function answer(
  runs: SessionRuns,
  request: ResumeManyRequest,
  run: StoredRun,
  options: SupervisorCallOptions,
): Promise<ResumeAcknowledgement> {
  const { runId, by, idempotencyKey, streamIs } = request
  assertKey(idempotencyKey)
  await assertNotOwn(runs, by, run)
  const repeated = await answeredBefore(runs, request)
  if (repeated) return acknowledged(runs, run)
  if (isTerminal(run.record.status)) throw runEnded(run)
  if (streamIs !== undefined && run.record.stream !== streamIs) throw streamMoved(run)
  const at = runs.services.system.now()
  const appends: LogAppend[] = []
  for (const { interruptId, payload } of request.answers) {
    const interrupt = openInterrupt(run, interruptId)
    if (by.kind === 'model' && interrupt.answer === 'person') throw needsPerson(interrupt)
    const checked = await checkAnswer(runs.services, run, interrupt, payload)
    const value = encodeInboxEntry({
      kind: 'answer',
      at,
      interruptId,
      payload: checked,
      by: by.kind,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    })
    appends.push(
      inboxAppend(runId, answerKey(interruptId), value, {
        runId,
        notEnded: true,
        interruptOpen: interruptId,
        ...(streamIs === undefined ? {} : { streamIs }),
      }),
    )
  }
  assertGoing(options, 'The answer')
  try {
    await runs.commit(appends, options.with)
  } catch (error) {
    if (isStoreConflict(error, 'log-key-exists') && (await answeredBefore(runs, request))) {
      return acknowledged(runs, run)
    }
    throw refusalOf(error, run)
  }
  runs.nudge(runId)
  return acknowledged(runs, run)
}

async function acknowledged(runs: SessionRuns, run: StoredRun): Promise<ResumeAcknowledgement> {
  const { id, stream } = run.record
  const now = await runs.run(id)
  return { run: now, streamId: streamIdOf(id, stream + 1) }
}

/** The interrupt that an answer with this key answered: a repeat means it, whatever is open by now. */
export async function answeredWith(
  runs: SessionRuns,
  idempotencyKey: string | undefined,
  run: StoredRun,
): Promise<string | undefined> {
  const { store } = runs.services
  if (idempotencyKey === undefined) return undefined
  let from = 0
  while (from < run.inboxNext) {
    const page = await store.logPage(runs.sessionId, inboxOf(run.record.id), {
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
async function answeredBefore(runs: SessionRuns, request: ResumeManyRequest): Promise<boolean> {
  const { store } = runs.services
  const { runId, answers, idempotencyKey } = request
  let same = 0
  let other: string | undefined
  for (const { interruptId, payload } of answers) {
    const stored = await store.logEntry(runs.sessionId, inboxOf(runId), answerKey(interruptId))
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
