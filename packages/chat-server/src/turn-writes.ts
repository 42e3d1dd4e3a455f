import {
  ErrorCode,
  hasErrorCode,
  HoldfastError,
  inboxOf,
  type JsonObject,
  Limits,
  messageKey,
  type StoredRun,
  type UnfencedWrite,
} from '@holdfast/core'
import { canonicalBytes } from '@holdfast/json'
import { encodeInboxEntry } from '@holdfast/workflow'
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
  readMessage,
} from './chat-state.ts'
import { chatTitle } from './chat-title.ts'
import { chooseDefinition } from './choose-definition.ts'
import type { InterruptAnswer } from './interrupt-answer.ts'
import { firstStreamOf, openStreamOf, type StreamPlace, wholeMessageOf } from './stream-place.ts'
import { isActive } from './turn-decision.ts'
import type { UserMessage } from './turn-request.ts'

// Each of these is one commit, and carries the chat's document with the revision that was decided by.

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

/** What a request finds, and the commit that is refused when it is so no more. */
export interface TurnMoment {
  readonly ports: ChatPorts
  readonly sessionId: string
  readonly body: JsonObject
  readonly state: ChatState
  readonly run: StoredRun | undefined
  readonly commit: Commit
}

/** A turn to be started. */
export interface NewTurn {
  readonly runId: string
  /** Absent: the chat has it already. */
  readonly message?: UserMessage
  readonly messageId?: string
  readonly edition: number
  readonly parent?: string
  readonly replaces?: string
}

/** Starts a run for a turn. What waited (behind an edit, or an answer made anew) is given up with the old branch. */
export async function startTurn(moment: TurnMoment, turn: NewTurn): Promise<AcceptedTurn> {
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
export async function steer(
  moment: TurnMoment,
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
    await supersede(moment, run, answers, [...writes, told])
  }
  return { place, promisedRunId: runId }
}

/** Answers a run's open questions with no, and makes these writes with it. */
async function supersede(
  { ports, sessionId, state, commit }: TurnMoment,
  run: StoredRun,
  answers: readonly InterruptAnswer[],
  writes: readonly UnfencedWrite[],
): Promise<void> {
  await commit(() =>
    ports.supervisors
      .session(sessionId)
      .resumeMany(
        { runId: run.record.id, answers, by: { kind: 'person' }, streamIs: run.record.stream },
        { with: [...writes, ...answerEntries(state, run, answers)] },
      ),
  )
}

/** Lets a message wait for its turn, whose run's id it is promised. */
export async function queue(
  moment: TurnMoment,
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
    await supersede(moment, run, answers, writes)
  }
  return { place: firstStreamOf(runId), promisedRunId: runId }
}

/** Stops the run that a new turn takes the place of. It may still be ending when the new one begins. */
export async function stopForNewTurn({ ports, sessionId, run }: TurnMoment): Promise<void> {
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
    if (!hasErrorCode(error, ErrorCode.runEnded)) throw error
  }
}

/** The chat's own note of answers, and of the stream that carries what follows. */
export function answerEntries(
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
  { state }: TurnMoment,
  message: UserMessage | undefined,
  now: number,
): ChatDocument {
  return state.document ?? newChat(state, chatTitle(message?.value), now)
}

/** A new message lets go of those that a stop held back. */
function withWaiting(
  moment: TurnMoment,
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
