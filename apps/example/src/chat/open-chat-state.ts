import type { ChatOutcome, ConnectionChange } from '@holdfast/chat-client'
import { isToolUIPart, type UIMessage } from 'ai'
import type { ChatContents } from '../chats/chat-api.ts'
import { steeredIds } from './message-blocks.ts'
import type { Problem } from './problem.ts'

/** What the page shows of the connection. */
export type Connection =
  | { readonly state: 'idle' }
  | { readonly state: 'live' }
  | { readonly state: 'reconnecting'; readonly attempt: number }

/** A message that was said while an answer was being written. */
export interface WaitingMessage {
  readonly id: string
  readonly text: string
  readonly state: 'sending' | 'accepted' | 'held' | 'failed'
  /** Why it was not sent. */
  readonly problem?: string
}

/** What is known beside the messages. A new object after each change. */
export interface OpenChatState {
  readonly connection: Connection
  readonly waiting: readonly WaitingMessage[]
  /** How the answers ended that are not whole, by message id. */
  readonly broken: ReadonlyMap<string, 'stopped' | 'failed'>
  readonly isStopping: boolean
  /** There are earlier messages that are not shown. */
  readonly hasEarlier: boolean
  readonly problem?: Problem
}

/** A chat of which nothing is known. */
export const unknownChat: OpenChatState = {
  connection: { state: 'idle' },
  waiting: [],
  broken: new Map(),
  isStopping: false,
  hasEarlier: false,
}

/** A change of the state; `problem: undefined` takes the problem back. */
export type OpenChatChange = Partial<Omit<OpenChatState, 'problem'>> & {
  readonly problem?: Problem | undefined
}

/** The state after a change. */
export function changed(state: OpenChatState, change: OpenChatChange): OpenChatState {
  const { problem: before, ...rest } = state
  const { problem: given, ...others } = change
  const problem = 'problem' in change ? given : before
  return { ...rest, ...others, ...(problem === undefined ? {} : { problem }) }
}

/** What the server's contents change. */
export function changeFrom({ waiting, broken, earlier }: ChatContents): OpenChatChange {
  return {
    waiting: waiting.map(({ id, text, isHeld }) => ({
      id,
      text,
      state: isHeld ? 'held' : 'accepted',
    })),
    hasEarlier: earlier !== undefined,
    broken: new Map(broken === undefined ? [] : [[broken.messageId, broken.how]]),
  }
}

/** What the end of a stream changes: a stop marks the answer and holds back what waits for its end. */
export function changeAtEnd(
  state: OpenChatState,
  outcome: ChatOutcome | undefined,
  last: UIMessage | undefined,
): OpenChatChange {
  const over = { isStopping: false, connection: { state: 'idle' } } as const
  if (outcome !== 'aborted') return over
  return { ...over, ...brokenAt(state, last, 'stopped'), waiting: state.waiting.map(held) }
}

/** Marks the last message as an answer that is not whole, if it is one. */
export function brokenAt(
  { broken }: OpenChatState,
  last: UIMessage | undefined,
  how: 'stopped' | 'failed',
): OpenChatChange {
  return last?.role === 'assistant' ? { broken: new Map([...broken, [last.id, how]]) } : {}
}

/** What the page shows after a change of the connection. */
export function connectionAfter(change: ConnectionChange): Connection {
  switch (change.state) {
    case 'open':
      return { state: 'live' }
    case 'reconnecting':
      return { state: 'reconnecting', attempt: change.attempt }
    case 'closed':
      return { state: 'idle' }
  }
}

/** A new message lets go of those that a stop held back. */
export function released(waiting: readonly WaitingMessage[]): readonly WaitingMessage[] {
  return waiting.map((message) =>
    message.state === 'held' ? { ...message, state: 'accepted' } : message,
  )
}

/** Those that are in no message yet. */
export function notTaken(
  waiting: readonly WaitingMessage[],
  messages: readonly UIMessage[],
): readonly WaitingMessage[] {
  const known = new Set(messages.flatMap((message) => [message.id, ...steeredIds(message)]))
  return waiting.filter(({ id }) => !known.has(id))
}

/** A person's message. */
export function personMessage(id: string, text: string): UIMessage {
  return { id, role: 'user', parts: [{ type: 'text', text }] }
}

/** What a person's message says. */
export function textOfMessage({ parts }: Pick<UIMessage, 'parts'>): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
}

/** The message as it is once a person has written something else instead of answering its questions. */
export function withApprovalsTakenBack(message: UIMessage): UIMessage {
  const parts = message.parts.map((part): typeof part => {
    if (!isToolUIPart(part) || part.state !== 'approval-requested') return part
    const approval = { ...part.approval, approved: false, reason: 'superseded' }
    return { ...part, state: 'approval-responded', approval }
  })
  return { ...message, parts }
}

function held(message: WaitingMessage): WaitingMessage {
  return message.state === 'accepted' ? { ...message, state: 'held' } : message
}
