import {
  answerKey,
  ErrorCode,
  HoldfastError,
  inboxOf,
  type JsonObject,
  type JsonValue,
  type OpenInterrupt,
  type RecordReader,
  type StoredRun,
  unansweredInterrupts,
} from '@holdfast/core'
import { canonicalJson, isJsonObject } from '@holdfast/json'
import { decodeInboxEntry } from '@holdfast/workflow'
import type { RunJournal } from './run-journal.ts'
import type { Decision } from './turn-request.ts'

/** An answer to an open interrupt. */
export interface InterruptAnswer {
  readonly interruptId: string
  readonly payload: JsonObject
}

/** What a page's decisions come to. */
export interface MatchedDecisions {
  /** Of interrupts that are open and unanswered. */
  readonly answers: readonly InterruptAnswer[]
  /** Interrupts that were answered before, in the same way. */
  readonly repeated: readonly string[]
}

/** What is read to match decisions. */
export interface DecisionSources {
  readonly store: RecordReader
  readonly journal: RunJournal
}

/**
 * Matches decisions with the run's own record of what it asked: a page's word that something was asked counts for nothing.
 *
 * Outputs of calls that nobody waits for are history, and left out.
 *
 * @throws `approval_invalid` an approval that the run never asked for; `interrupt_answered` one that was decided otherwise
 */
export async function matchDecisions(
  { store, journal }: DecisionSources,
  sessionId: string,
  run: StoredRun,
  decisions: readonly Decision[],
): Promise<MatchedDecisions> {
  const open = new Map(unansweredInterrupts(run).map((interrupt) => [interrupt.id, interrupt]))
  const calls = await openCalls(journal, sessionId, run, [...open.values()])
  const answers = new Map<string, InterruptAnswer>()
  const repeated: string[] = []
  for (const decision of decisions) {
    if (decision.kind !== 'approval') {
      const interruptId = calls.get(decision.toolCallId)
      if (interruptId !== undefined) {
        answers.set(interruptId, { interruptId, payload: answerPayload(decision) })
      }
      continue
    }
    const { approvalId } = decision
    if (open.has(approvalId)) {
      answers.set(approvalId, { interruptId: approvalId, payload: answerPayload(decision) })
      continue
    }
    const given = await readGivenAnswer(store, sessionId, run.record.id, approvalId)
    if (given === undefined) throw approvalInvalid()
    if (!isSameDecision(given, decision)) {
      throw new HoldfastError(ErrorCode.interruptAnswered, {
        message: 'This was decided before, in another way.',
      })
    }
    repeated.push(approvalId)
  }
  return { answers: [...answers.values()], repeated }
}

/**
 * The answers that take open questions back because the person wrote something else instead. `undefined` when one of them is no question
 * about a tool call: there is no way to say no to it.
 */
export async function supersedingAnswers(
  journal: RunJournal,
  sessionId: string,
  run: StoredRun,
): Promise<readonly InterruptAnswer[] | undefined> {
  const answers: InterruptAnswer[] = []
  for (const interrupt of unansweredInterrupts(run)) {
    const payload = await journal.interruptPayload(sessionId, run, interrupt)
    const kind = payload !== undefined && isJsonObject(payload) ? payload['kind'] : undefined
    if (kind === 'tool-approval') {
      const denied = { approved: false, reason: 'superseded' }
      answers.push({ interruptId: interrupt.id, payload: denied })
    } else if (kind === 'client-tool') {
      answers.push({ interruptId: interrupt.id, payload: { error: 'superseded' } })
    } else {
      return undefined
    }
  }
  return answers
}

/** The answer that a run's inbox holds for an interrupt. */
export async function readGivenAnswer(
  store: RecordReader,
  sessionId: string,
  runId: string,
  interruptId: string,
): Promise<JsonValue | undefined> {
  const entry = await store.logEntry(sessionId, inboxOf(runId), answerKey(interruptId))
  if (entry === undefined) return undefined
  const decoded = decodeInboxEntry(entry)
  return decoded.kind === 'answer' ? decoded.payload : undefined
}

/** An approval that nobody asked for. */
export function approvalInvalid(): HoldfastError {
  return new HoldfastError(ErrorCode.approvalInvalid, {
    message: 'No such approval was asked for in this turn.',
  })
}

/** The open client-side tool calls: tool call id → interrupt id. */
async function openCalls(
  journal: RunJournal,
  sessionId: string,
  run: StoredRun,
  open: readonly OpenInterrupt[],
): Promise<ReadonlyMap<string, string>> {
  const calls = new Map<string, string>()
  for (const interrupt of open) {
    const payload = await journal.interruptPayload(sessionId, run, interrupt)
    if (payload === undefined || !isJsonObject(payload) || payload['kind'] !== 'client-tool') {
      continue
    }
    const toolCallId = payload['toolCallId']
    if (typeof toolCallId === 'string') calls.set(toolCallId, interrupt.id)
  }
  return calls
}

function answerPayload(decision: Decision): JsonObject {
  switch (decision.kind) {
    case 'approval': {
      const { approved, reason } = decision
      return { approved, ...(reason === undefined ? {} : { reason }) }
    }
    case 'output':
      return { output: decision.output }
    case 'output-error':
      return { error: decision.error }
  }
}

/** A page that shows an old approval may have lost its reason; what was decided is what counts. */
function isSameDecision(
  given: JsonValue,
  decision: Extract<Decision, { readonly kind: 'approval' }>,
): boolean {
  if (!isJsonObject(given)) return false
  return canonicalJson(given['approved'] ?? null) === canonicalJson(decision.approved)
}
