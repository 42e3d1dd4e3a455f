// A POST: one decision, one commit.
//
// Owns:  nothing; everything that lasts is in the chat's document and log.
// Asks:  the store for the document, the log and the run; the supervisor for the commit.
// Never: believes the page's history, waits for a run.
//
// T1. The commit that acts carries the document with its expected revision: two requests cannot both decide by the same state.
// T2. A message id is taken once. The same message again gets the stream that it got, from the beginning.
// T3. Whether the chat is busy is the run's status.
// T4. What was acknowledged is in the log, in a run's inbox, or in the document's `waiting`: settling makes turns of the rest.
import { ErrorCode, HoldfastError, isUuid, type JsonObject, type StoredRun } from '@holdfast/core'
import { canonicalJson, utf8Length } from '@holdfast/json'
import { acceptDecisions } from './accept-decisions.ts'
import { branchOf, readChatHistory } from './chat-history.ts'
import type { ChatPorts } from './chat-ports.ts'
import type { MessageEntry, TurnEntry } from './chat-record.ts'
import { type ChatState, readChatState, readMessage } from './chat-state.ts'
import { decideAgain } from './conflict.ts'
import { supersedingAnswers } from './interrupt-answer.ts'
import { chatNotFound } from './not-found.ts'
import { settleChat } from './settle.ts'
import { firstStreamOf } from './stream-place.ts'
import { decideMessage } from './turn-decision.ts'
import type { TurnRequest, UserMessage } from './turn-request.ts'
import {
  type AcceptedTurn,
  queue,
  startTurn,
  steer,
  stopForNewTurn,
  type TurnMoment,
} from './turn-writes.ts'

/**
 * Accepts a POST's request: what it asks for is durable when this resolves.
 *
 * @throws `chat_busy`, `chat_id_taken`, `chat_not_found`, `message_invalid`, `idempotency_key_reused`, `approval_invalid`,
 * `interrupt_answered`, `run_not_interrupted`, `inbox_full`, and what the supervisor throws
 */
export async function acceptTurn(
  ports: ChatPorts,
  sessionId: string,
  request: TurnRequest,
  body: JsonObject,
): Promise<AcceptedTurn> {
  return await decideAgain(ports.system, async (commit) => {
    await settleChat(ports, sessionId, request.chatId)
    const state = await readChatState(ports.store, sessionId, request.chatId)
    const turn = state.document?.turn
    const run = turn === undefined ? undefined : await ports.store.run(sessionId, turn)
    const moment = { ports, sessionId, body, state, run, commit }
    switch (request.kind) {
      case 'message':
        return await acceptMessage(moment, request.message, request.isEdit)
      case 'regenerate':
        return await acceptRegenerate(moment, request.target, request.message)
      case 'decisions':
        return await acceptDecisions(moment, request)
    }
  })
}

async function acceptMessage(
  moment: TurnMoment,
  message: UserMessage,
  isEdit: boolean,
): Promise<AcceptedTurn> {
  const { ports, state } = moment
  const known = await readMessage(ports.store, state, message.id)
  if (known === undefined) return await acceptNewMessage(moment, message)
  if (canonicalJson(known.message) === canonicalJson(message.value)) {
    return await repeatMessage(moment, known)
  }
  if (isEdit) return await acceptEdit(moment, message, known)
  throw new HoldfastError(ErrorCode.idempotencyKeyReused, {
    message: 'Another message of this chat has this id.',
    details: { message_id: message.id },
  })
}

async function acceptNewMessage(moment: TurnMoment, message: UserMessage): Promise<AcceptedTurn> {
  const { ports, sessionId, state, run } = moment
  if (state.document === undefined) await assertChatIdFree(moment)
  const runId = ports.system.runId()
  const fitsInbox = utf8Length(JSON.stringify(message.value)) <= ports.limits.steeringBytes
  const hasWaiting = (state.document?.waiting.length ?? 0) > 0
  const decision = decideMessage({ run, onBusy: ports.onBusy, fitsInbox, hasWaiting })
  switch (decision.kind) {
    case 'start':
      return await startTurn(moment, { runId, message, edition: 1, ...parentOf(state) })
    case 'reject':
      throw new HoldfastError(ErrorCode.chatBusy, {
        message: 'The chat answers another message. Try again when it has.',
      })
    case 'steer':
      return await steer(moment, runOf(run), message, runId, [])
    case 'queue':
      return await queue(moment, message, runId, [])
    case 'supersede': {
      const answers = await supersedingAnswers(ports.journal, sessionId, runOf(run))
      if (answers === undefined) {
        await stopForNewTurn(moment)
        // Those that wait already go first, once the run has ended.
        return hasWaiting
          ? await queue(moment, message, runId, [])
          : await startTurn(moment, { runId, message, edition: 1, ...parentOf(state) })
      }
      return decision.then === 'steer'
        ? await steer(moment, runOf(run), message, runId, answers)
        : await queue(moment, message, runId, answers)
    }
  }
}

/** The stream that the message was given when it was accepted, or that of its own turn when it came to one. */
async function repeatMessage(moment: TurnMoment, known: MessageEntry): Promise<AcceptedTurn> {
  const { ports, sessionId, state } = moment
  if ((await ports.store.run(sessionId, known.runId)) !== undefined) {
    return { place: firstStreamOf(known.runId) }
  }
  const isWaiting =
    state.document?.waiting.some((waiting) => waiting.messageId === known.messageId) ?? false
  const place = known.steers ?? firstStreamOf(known.runId)
  return isWaiting ? { place, promisedRunId: known.runId } : { place }
}

/** An edited message begins a branch where its turn stood. */
async function acceptEdit(
  moment: TurnMoment,
  message: UserMessage,
  known: MessageEntry,
): Promise<AcceptedTurn> {
  const { ports, state } = moment
  const history = await readChatHistory(ports.store, state)
  const branch = branchOf(history, state.document?.turn)
  const turn = branch.findLast(({ messageId }) => messageId === message.id)
  await stopForNewTurn(moment)
  return await startTurn(moment, {
    runId: ports.system.runId(),
    message,
    edition: known.edition + 1,
    // One that never was a turn of this branch (it was steered, or waits) follows the newest.
    ...(turn === undefined ? parentOf(state) : parentOfTurn(turn)),
  })
}

async function acceptRegenerate(
  moment: TurnMoment,
  target: string | undefined,
  message: UserMessage | undefined,
): Promise<AcceptedTurn> {
  const { ports, state } = moment
  const history = await readChatHistory(ports.store, state)
  const branch = branchOf(history, state.document?.turn)
  const made = branch.find(({ replaces }) => replaces !== undefined && replaces === target)
  if (made !== undefined) return { place: firstStreamOf(made.runId) }
  const turn = findTurn(branch, target)
  if (turn === undefined) {
    // The message's own POST never arrived.
    if (message !== undefined && !history.messages.has(message.id)) {
      return await acceptNewMessage(moment, message)
    }
    if (state.document === undefined) throw chatNotFound()
    throw new HoldfastError(ErrorCode.messageInvalid, {
      message: 'The chat has no such answer to make anew.',
    })
  }
  await stopForNewTurn(moment)
  return await startTurn(moment, {
    runId: ports.system.runId(),
    messageId: turn.messageId,
    edition: turn.edition,
    replaces: turn.runId,
    ...parentOfTurn(turn),
  })
}

/** A chat must not be named like a run: both are looked up by one path. */
async function assertChatIdFree({ ports, sessionId, state }: TurnMoment): Promise<void> {
  const { chatId } = state
  if (!isUuid(chatId)) return
  const run = await ports.store.run(sessionId, chatId.toLowerCase())
  if (run === undefined) return
  throw new HoldfastError(ErrorCode.chatIdTaken, { message: 'A run has this id. Choose another.' })
}

function findTurn(branch: readonly TurnEntry[], target: string | undefined): TurnEntry | undefined {
  if (target === undefined) return branch.at(-1)
  return branch.findLast(({ runId, messageId }) => runId === target || messageId === target)
}

function parentOf(state: ChatState): { readonly parent?: string } {
  const turn = state.document?.turn
  return turn === undefined ? {} : { parent: turn }
}

function parentOfTurn({ parent }: TurnEntry): { readonly parent?: string } {
  return parent === undefined ? {} : { parent }
}

function runOf(run: StoredRun | undefined): StoredRun {
  if (run !== undefined) return run
  throw new HoldfastError(ErrorCode.internal, { message: 'A decision about a run needs a run.' })
}
