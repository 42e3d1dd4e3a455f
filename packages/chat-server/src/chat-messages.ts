import {
  ErrorCode,
  hasErrorCode,
  HoldfastError,
  isTerminal,
  type JsonObject,
  type JsonValue,
  type RunStatus,
  type StoredRun,
  streamIdOf,
  unansweredInterrupts,
  visibleStatus,
} from '@holdfast/core'
import { isJsonObject } from '@holdfast/json'
import { parseUiChunk, type UiChunk } from '@holdfast/chat-protocol'
import { branchOf, type ChatHistory, readChatHistory } from './chat-history.ts'
import type { ChatPorts } from './chat-ports.ts'
import type { ChatDocument, TurnEntry } from './chat-record.ts'
import { readChatState } from './chat-state.ts'
import { readGivenAnswer } from './interrupt-answer.ts'
import { chatNotFound } from './not-found.ts'
import { openStreamOf } from './stream-place.ts'
import {
  approvalIdOf,
  isTool,
  type UiAssistantMessage,
  uiMessageFromChunks,
  type UiPart,
} from './ui-message.ts'

/** A question of the chat's run that nobody has answered. */
export interface ChatInterrupt {
  /** For a tool's approval this is the approval's id. */
  readonly id: string
  readonly reason?: string
  readonly payload?: JsonValue
}

/** A message that no turn has answered yet. */
export interface ChatWaiting {
  readonly messageId: string
  /** The run that its own turn has, if it comes to one. */
  readonly runId: string
  /** `steer`: it is in the inbox of the run that goes on. `queue`: it waits for that run's end. */
  readonly kind: 'steer' | 'queue'
  /** A stop holds it back until the next message. */
  readonly held?: true
}

/**
 * The conversation of a chat, for a page that opens it.
 *
 * `messages` are UI messages for `useChat`. Of a run that goes on they hold what its closed streams say (nothing, for a first one);
 * what the open stream says is not among them. When `activeStreamId` is there, a page reconnects to it from index 0 and has all: nothing
 * is told twice. A run that waits for a person has no active stream; its questions are parts of its message, and `interrupts`.
 */
export interface ChatMessages {
  readonly id: string
  readonly title: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Of the newest turn's run; `idle` when there is none. */
  readonly status: RunStatus | 'idle'
  /** The newest turn's run, whose id is its assistant message's. */
  readonly runId?: string
  readonly activeStreamId?: string
  readonly messages: readonly (JsonObject | UiAssistantMessage)[]
  readonly interrupts: readonly ChatInterrupt[]
  readonly waiting: readonly ChatWaiting[]
  /** There are older turns: ask with `before` set to this. */
  readonly before?: string
}

/** Which of a chat's turns. */
export interface ChatMessagesRequest {
  /** At most so many turns, the newest. 1..100. */
  readonly limit: number
  /** Only turns before the one of this run. */
  readonly before?: string
}

/** Reads a chat's conversation: its live branch. @throws `chat_not_found` */
export async function readChatMessages(
  ports: ChatPorts,
  sessionId: string,
  chatId: string,
  { limit, before }: ChatMessagesRequest,
): Promise<ChatMessages> {
  const { store } = ports
  const state = await readChatState(store, sessionId, chatId)
  const { document } = state
  if (document === undefined) throw chatNotFound()
  const history = await readChatHistory(store, state)
  const branch = branchOf(history, document.turn)
  const end = endOfPage(branch, before)
  const turns = branch.slice(Math.max(0, end - limit), end)
  const messages: (JsonObject | UiAssistantMessage)[] = []
  let newest: StoredRun | undefined
  for (const turn of turns) {
    newest = await store.run(sessionId, turn.runId)
    messages.push(...(await turnMessages(ports, sessionId, history, turn, newest)))
  }
  const oldest = turns[0]
  const isWhole = oldest === undefined || oldest === branch[0]
  const more = isWhole ? {} : { before: oldest.runId }
  const isNewestShown = end === branch.length
  return {
    id: chatId,
    title: document.title,
    createdAt: document.createdAt,
    updatedAt: document.updatedAt,
    ...(isNewestShown ? statusOf(newest) : statusOf(await newestRun(ports, sessionId, document))),
    messages: isNewestShown ? [...messages, ...queuedMessages(history, document)] : messages,
    waiting: document.waiting.map(({ messageId, runId, steers, held }) => ({
      messageId,
      runId,
      kind: steers === undefined ? 'queue' : 'steer',
      ...(held === undefined ? {} : { held }),
    })),
    ...more,
  }
}

/** Where a page ends: before the turn that the page after it began with. @throws `arguments_invalid` */
function endOfPage(branch: readonly TurnEntry[], before: string | undefined): number {
  if (before === undefined) return branch.length
  const end = branch.findIndex(({ runId }) => runId === before)
  if (end !== -1) return end
  // The newest page would look like older messages, to a reader that pages on and on.
  throw new HoldfastError(ErrorCode.argumentsInvalid, {
    message: '`before` names no turn of this chat. Read it anew without it.',
  })
}

async function newestRun(
  { store }: ChatPorts,
  sessionId: string,
  { turn }: ChatDocument,
): Promise<StoredRun | undefined> {
  return turn === undefined ? undefined : await store.run(sessionId, turn)
}

function statusOf(
  run: StoredRun | undefined,
): Pick<ChatMessages, 'status' | 'runId' | 'activeStreamId' | 'interrupts'> {
  if (run === undefined) return { status: 'idle', interrupts: [] }
  const status = visibleStatus(run)
  const isSilent = isTerminal(status) || status === 'interrupted'
  return {
    status,
    runId: run.record.id,
    ...(isSilent ? {} : { activeStreamId: openStreamOf(run).streamId }),
    interrupts: isTerminal(status)
      ? []
      : unansweredInterrupts(run).map(({ id, reason, payload }) => ({
          id,
          ...(reason === undefined ? {} : { reason }),
          ...(payload === undefined ? {} : { payload: payload as JsonValue }),
        })),
  }
}

/** The person's message, the run's, and messages sent to the run that its own does not show. */
async function turnMessages(
  ports: ChatPorts,
  sessionId: string,
  history: ChatHistory,
  turn: TurnEntry,
  run: StoredRun | undefined,
): Promise<readonly (JsonObject | UiAssistantMessage)[]> {
  const asked = history.edition(turn.messageId, turn.edition)?.message
  const answer = run === undefined ? undefined : await assistantMessage(ports, sessionId, run)
  const shown = new Set(
    answer?.parts.flatMap((part) => (part.type === 'steering-message' ? [part['id']] : [])),
  )
  const steered = [...history.messages.values()].filter(
    ({ messageId, steers, runId }) =>
      steers?.runId === turn.runId && !history.turns.has(runId) && !shown.has(messageId),
  )
  return [
    ...(asked === undefined ? [] : [asked]),
    ...(answer === undefined ? [] : [answer]),
    ...steered.map(({ message }) => message),
  ]
}

function queuedMessages(history: ChatHistory, { waiting }: ChatDocument): readonly JsonObject[] {
  return waiting.flatMap(({ messageId, steers }) => {
    const message = history.messages.get(messageId)?.message
    return message === undefined || steers !== undefined ? [] : [message]
  })
}

async function assistantMessage(
  ports: ChatPorts,
  sessionId: string,
  run: StoredRun,
): Promise<UiAssistantMessage | undefined> {
  const { id, stream, status } = run.record
  const chunks: UiChunk[] = []
  for (let number = 1; number <= stream; number += 1) {
    chunks.push(...(await storedChunks(ports, sessionId, streamIdOf(id, number))))
  }
  if (chunks.length === 0) return undefined
  const message = uiMessageFromChunks(id, chunks)
  if (message.parts.length === 0) return undefined
  const parts = isTerminal(status)
    ? message.parts.map(endedPart)
    : await Promise.all(message.parts.map((part) => answeredPart(ports, sessionId, id, part)))
  return { ...message, parts }
}

const pageChunks = 1_000

async function storedChunks(
  { store }: ChatPorts,
  sessionId: string,
  streamId: string,
): Promise<readonly UiChunk[]> {
  const chunks: UiChunk[] = []
  try {
    for (;;) {
      const request = { from: chunks.length, limit: pageChunks }
      const page = await store.streamPage(sessionId, streamId, request)
      if (page === undefined || page.chunks.length === 0) return chunks
      chunks.push(...page.chunks.map(({ data }) => parseUiChunk(data)))
    }
  } catch (error) {
    // Its beginning was purged: what is left cannot be rendered.
    if (hasErrorCode(error, ErrorCode.streamGone)) return []
    throw error
  }
}

/** A question whose answer was accepted is shown as answered, before the run has said so itself. */
async function answeredPart(
  { store }: ChatPorts,
  sessionId: string,
  runId: string,
  part: UiPart,
): Promise<UiPart> {
  const approvalId = approvalIdOf(part)
  if (part['state'] !== 'approval-requested' || approvalId === undefined) return part
  const given = await readGivenAnswer(store, sessionId, runId, approvalId)
  if (given === undefined || !isJsonObject(given)) return part
  const { approved, reason } = given
  if (typeof approved !== 'boolean') return part
  return {
    ...part,
    state: 'approval-responded',
    approval: {
      ...(part['approval'] as object),
      approved,
      ...(typeof reason === 'string' ? { reason } : {}),
    },
  }
}

/** Of a run that has ended nothing is open any more, whatever its last chunk was. */
function endedPart(part: UiPart): UiPart {
  const state = part['state']
  if (state === 'streaming') return { ...part, state: 'done' }
  if (!isTool(part)) return part
  switch (state) {
    case 'approval-requested':
      return {
        ...part,
        state: 'output-denied',
        approval: { ...(part['approval'] as object), approved: false, reason: 'the turn ended' },
      }
    case 'input-streaming':
    case 'input-available':
    case 'approval-responded':
      return {
        ...part,
        state: 'output-error',
        input: part['input'] ?? {},
        errorText: 'The turn ended before this call did.',
      }
    default:
      return part
  }
}
