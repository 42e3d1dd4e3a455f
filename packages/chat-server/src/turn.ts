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
import {
  ErrorCode,
  HoldfastError,
  inboxOf,
  isHoldfastError,
  isUuid,
  type JsonObject,
  Limits,
  messageKey,
  type StoredRun,
  type UnfencedWrite,
} from '@holdfast/core'
import { canonicalBytes, canonicalJson, utf8Length } from '@holdfast/json'
import { encodeInboxEntry } from '@holdfast/workflow'
import { branchOf, readChatHistory } from './chat-history.ts'
import type { ChatPorts } from './chat-ports.ts'
import {
  type AnswerEntry,
  type ChatDocument,
  chatRecordVersion,
  type MessageEntry,
  type TurnEntry,
  type WaitingMessage,
} from './chat-record.ts'
import {
  appendEntry,
  appendTurnOwner,
  type ChatState,
  newChat,
  putChat,
  readAnswer,
  readChatState,
  readMessage,
  readTurn,
} from './chat-state.ts'
import { chatTitle } from './chat-title.ts'
import { decideAgain } from './conflict.ts'
import {
  approvalInvalid,
  type InterruptAnswer,
  matchDecisions,
  supersedingAnswers,
} from './interrupt-answer.ts'
import { chatNotFound } from './not-found.ts'
import { settleChat } from './settle.ts'
import {
  firstStreamOf,
  newestStreamOf,
  openStreamOf,
  type StreamPlace,
  wholeMessageOf,
} from './stream-place.ts'
import { decideMessage, isActive } from './turn-decision.ts'
import type { TurnRequest, UserMessage } from './turn-request.ts'

/** What came of a POST. */
export interface AcceptedTurn {
  readonly place: StreamPlace
  /**
   * Set when the message waits, here or in a run's inbox: the run that its own turn has, if it comes to one. The chat is to be
   * settled when its run has ended.
   */
  readonly promisedRunId?: string
}

type Commit = <Value>(write: () => Promise<Value>) => Promise<Value>

interface Moment {
  readonly ports: ChatPorts
  readonly sessionId: string
  readonly body: JsonObject
  readonly state: ChatState
  readonly run: StoredRun | undefined
  readonly commit: Commit
}

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
  moment: Moment,
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

async function acceptNewMessage(moment: Moment, message: UserMessage): Promise<AcceptedTurn> {
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
async function repeatMessage(moment: Moment, known: MessageEntry): Promise<AcceptedTurn> {
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
  moment: Moment,
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
  moment: Moment,
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

async function acceptDecisions(
  moment: Moment,
  request: Extract<TurnRequest, { readonly kind: 'decisions' }>,
): Promise<AcceptedTurn> {
  const { ports, sessionId, state, commit } = moment
  const { messageId: runId, decisions } = request
  const { document } = state
  if (document === undefined) throw chatNotFound()
  const turn = await readTurn(ports.store, state, runId)
  const run = turn === undefined ? undefined : await ports.store.run(sessionId, runId)
  if (run === undefined) throw approvalInvalid()
  const { answers, repeated } = await matchDecisions(ports, sessionId, run, decisions)
  if (answers.length === 0) {
    const before = repeated[0] === undefined ? undefined : await streamOfAnswers(moment, repeated)
    if (before !== undefined) return { place: { runId, streamId: before } }
    if (isActive(run) && newestStreamOf(run).streamId !== openStreamOf(run).streamId) {
      throw new HoldfastError(ErrorCode.messageInvalid, {
        message: 'The turn waits for a decision, and the message has none.',
      })
    }
    return { place: newestStreamOf(run) }
  }
  // A turn of a branch that was left behind is not taken up again.
  if (document.turn !== runId) throw approvalInvalid()
  const { streamId } = await commit(() =>
    ports.supervisors.session(sessionId).resumeMany(
      {
        runId,
        answers,
        by: { kind: 'person' },
        streamIs: run.record.stream,
      },
      {
        with: [
          putChat(state, { ...document, updatedAt: ports.system.now() }),
          ...answerEntries(state, run, answers),
        ],
      },
    ),
  )
  return { place: { runId, streamId } }
}

interface NewTurn {
  readonly runId: string
  /** Absent: the chat has it already. */
  readonly message?: UserMessage
  readonly messageId?: string
  readonly edition: number
  readonly parent?: string
  readonly replaces?: string
}

/** Starts a run for a turn. What waited (behind an edit, or an answer made anew) is given up with the old branch. */
async function startTurn(moment: Moment, turn: NewTurn): Promise<AcceptedTurn> {
  const { ports, sessionId, body, state, commit } = moment
  const { runId, message, edition, parent, replaces } = turn
  const messageId = message?.id ?? turn.messageId ?? ''
  const now = ports.system.now()
  const document = documentOf(moment, message, now)
  const entry: TurnEntry = {
    kind: 'turn',
    version: chatRecordVersion,
    runId,
    messageId,
    edition,
    at: now,
    ...(parent === undefined ? {} : { parent }),
    ...(replaces === undefined ? {} : { replaces }),
  }
  const writes: UnfencedWrite[] = [
    putChat(state, { ...document, turn: runId, waiting: [], updatedAt: now }),
    appendEntry(state, entry),
    appendTurnOwner(state, runId),
  ]
  if (message !== undefined) {
    writes.push(appendEntry(state, messageEntry(message, runId, edition, now)))
  }
  const { chatId } = state
  const definition = await chooseDefinition(ports, sessionId, chatId, body)
  await commit(() =>
    ports.supervisors
      .session(sessionId)
      .start({ id: runId, definition }, canonicalBytes({ chatId, messageId }), { with: writes }),
  )
  return { place: firstStreamOf(runId) }
}

/** Puts a message into the run's inbox, after the answers that take its open questions back. */
async function steer(
  moment: Moment,
  run: StoredRun,
  message: UserMessage,
  runId: string,
  answers: readonly InterruptAnswer[],
): Promise<AcceptedTurn> {
  const { ports, sessionId, state, commit } = moment
  const now = ports.system.now()
  const place = wholeMessageOf(run)
  const document = withWaiting(moment, message, now, {
    messageId: message.id,
    runId,
    steers: run.record.id,
  })
  const writes: readonly UnfencedWrite[] = [
    putChat(state, document),
    appendEntry(state, { ...messageEntry(message, runId, 1, now), steers: place }),
    appendTurnOwner(state, runId),
  ]
  const supervisor = ports.supervisors.session(sessionId)
  if (answers.length === 0) {
    await commit(async () => {
      await supervisor.send(
        { runId: run.record.id, message: { id: message.id, body: message.value } },
        { with: writes },
      )
      // The inbox may have had a message of this id already: then nothing was written beside it.
      if ((await readMessage(ports.store, state, message.id)) === undefined) {
        await ports.store.commit({ sessionId, writes })
      }
    })
  } else {
    const told: UnfencedWrite = {
      kind: 'log-append',
      log: inboxOf(run.record.id),
      key: messageKey(message.id),
      value: encodeInboxEntry({ kind: 'message', at: now, id: message.id, body: message.value }),
      guard: { runId: run.record.id, notEnded: true, maxUnread: Limits.inboxUnread },
      onFailure: 'fail',
    }
    await supersede(moment, run, message, answers, [...writes, told])
  }
  return { place, promisedRunId: runId }
}

/** Answers a run's open questions with no, and makes the message's writes with it. */
async function supersede(
  { ports, sessionId, state, commit }: Moment,
  run: StoredRun,
  message: UserMessage,
  answers: readonly InterruptAnswer[],
  writes: readonly UnfencedWrite[],
): Promise<void> {
  await commit(async () => {
    await ports.supervisors
      .session(sessionId)
      .resumeMany(
        { runId: run.record.id, answers, by: { kind: 'person' }, streamIs: run.record.stream },
        { with: [...writes, ...answerEntries(state, run, answers)] },
      )
    // Somebody else may have answered in the same way: then nothing was written beside it.
    if ((await readMessage(ports.store, state, message.id)) !== undefined) return
    throw new HoldfastError(ErrorCode.runConflict, {
      message: 'The turn was answered by another message in the same moment.',
    })
  })
}

/** Lets a message wait for its turn, whose run's id it is promised. */
async function queue(
  moment: Moment,
  message: UserMessage,
  runId: string,
  answers: readonly InterruptAnswer[],
): Promise<AcceptedTurn> {
  const { ports, sessionId, state, run, commit } = moment
  const now = ports.system.now()
  const writes: readonly UnfencedWrite[] = [
    putChat(state, withWaiting(moment, message, now, { messageId: message.id, runId })),
    appendEntry(state, messageEntry(message, runId, 1, now)),
    appendTurnOwner(state, runId),
  ]
  if (answers.length === 0 || run === undefined) {
    await commit(() => ports.store.commit({ sessionId, writes }))
  } else {
    await supersede(moment, run, message, answers, writes)
  }
  return { place: firstStreamOf(runId), promisedRunId: runId }
}

/** Stops the run that a new turn takes the place of. It may still be ending when the new one begins. */
async function stopForNewTurn({ ports, sessionId, run }: Moment): Promise<void> {
  if (!isActive(run)) return
  const supervisor = ports.supervisors.session(sessionId)
  try {
    await supervisor.cancel({
      runId: run.record.id,
      reason: 'superseded',
      by: { kind: 'person' },
    })
  } catch (error) {
    // It has ended by itself.
    if (!isHoldfastError(error) || error.code !== ErrorCode.runEnded) throw error
  }
}

/** A chat must not be named like a run: both are looked up by one path. */
async function assertChatIdFree({ ports, sessionId, state }: Moment): Promise<void> {
  const { chatId } = state
  if (!isUuid(chatId)) return
  const run = await ports.store.run(sessionId, chatId.toLowerCase())
  if (run === undefined) return
  throw new HoldfastError(ErrorCode.chatIdTaken, { message: 'A run has this id. Choose another.' })
}

async function chooseDefinition(
  { agent }: ChatPorts,
  sessionId: string,
  chatId: string,
  body: JsonObject,
): Promise<{ readonly name: string; readonly version: string }> {
  const { name, version } =
    typeof agent === 'function' ? await agent({ sessionId, chatId, body }) : agent
  return { name, version }
}

async function streamOfAnswers(
  { ports, state }: Moment,
  interruptIds: readonly string[],
): Promise<string | undefined> {
  const entries = await Promise.all(interruptIds.map((id) => readAnswer(ports.store, state, id)))
  return entries.findLast((entry) => entry !== undefined)?.streamId
}

function answerEntries(
  state: ChatState,
  run: StoredRun,
  answers: readonly InterruptAnswer[],
): readonly UnfencedWrite[] {
  const { streamId } = openStreamOf(run)
  return answers.map(({ interruptId }) => {
    const entry: AnswerEntry = {
      kind: 'answer',
      version: chatRecordVersion,
      interruptId,
      runId: run.record.id,
      streamId,
    }
    return appendEntry(state, entry)
  })
}

function messageEntry(
  message: UserMessage,
  runId: string,
  edition: number,
  at: number,
): MessageEntry {
  return {
    kind: 'message',
    version: chatRecordVersion,
    messageId: message.id,
    edition,
    message: message.value,
    at,
    runId,
  }
}

function documentOf(
  { state }: Moment,
  message: UserMessage | undefined,
  now: number,
): ChatDocument {
  return state.document ?? newChat(state, chatTitle(message?.value), now)
}

/** A new message lets go of those that a stop held back. */
function withWaiting(
  moment: Moment,
  message: UserMessage,
  now: number,
  added: WaitingMessage,
): ChatDocument {
  const document = documentOf(moment, message, now)
  const { waitingMessages } = moment.ports.limits
  if (document.waiting.length >= waitingMessages) {
    throw new HoldfastError(ErrorCode.inboxFull, {
      message: `${waitingMessages} messages of this chat wait already.`,
    })
  }
  const released = document.waiting.map(({ messageId, runId, steers }) => ({
    messageId,
    runId,
    ...(steers === undefined ? {} : { steers }),
  }))
  return { ...document, waiting: [...released, added], updatedAt: now }
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
