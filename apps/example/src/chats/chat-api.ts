import type { UIMessage } from 'ai'
import { listOf, recordOf, textOf, timeOf } from '../api/json-reader.ts'
import { requestJson } from '../api/request.ts'

/** Where the chats are. */
export const chatPath = '/api/chat'

const turnsAtOnce = 50

/** A chat in the list. */
export interface ChatSummary {
  readonly id: string
  readonly title: string
  /** Milliseconds since the epoch. */
  readonly updatedAt: number
  /** Whether an answer is being written, or waits for a person. */
  readonly activity: 'idle' | 'working' | 'asking'
}

/** Some of the chats, the one used last first. */
export interface ChatPage {
  readonly chats: readonly ChatSummary[]
  /** There are more: ask with this. */
  readonly after?: string
}

/** What a chat holds when it is opened. */
export interface ChatContents {
  /** All but what the active stream says and what waits to be taken up. */
  readonly messages: readonly UIMessage[]
  /** The stream that the answer is being written to. Absent: none is. */
  readonly activeStreamId?: string
  /** What was said while an answer was being written and is in no answer yet. */
  readonly waiting: readonly {
    readonly id: string
    readonly text: string
    readonly isHeld: boolean
  }[]
  /** How the newest answer ended, unless it is whole. Its message is among the messages, empty if need be. */
  readonly broken?: { readonly messageId: string; readonly how: 'stopped' | 'failed' }
  /** There are earlier messages: ask with this. */
  readonly earlier?: string
}

/** Some of the session's chats. @throws {RequestError} */
export async function loadChats(after?: string, signal?: AbortSignal): Promise<ChatPage> {
  const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`
  return chatPageFrom(await requestJson(chatPath + query, withSignal(signal)))
}

/** What a chat holds; with `before`, what it held before that. @throws {RequestError} 404: there is no such chat in this session */
export async function loadChat(
  chatId: string,
  { before, signal }: { readonly before?: string; readonly signal?: AbortSignal } = {},
): Promise<ChatContents> {
  const query = before === undefined ? '' : `&before=${encodeURIComponent(before)}`
  const path = `${chatPath}/${encodeURIComponent(chatId)}/messages?limit=${turnsAtOnce}${query}`
  return chatContentsFrom(await requestJson(path, withSignal(signal)))
}

/** Forgets a chat and stops its answer. @throws {RequestError} */
export async function deleteChat(chatId: string): Promise<void> {
  await requestJson(`${chatPath}/${encodeURIComponent(chatId)}`, { method: 'DELETE' })
}

/** Reads a page of chats; what is none is left out. */
export function chatPageFrom(body: unknown): ChatPage {
  const after = textOf(recordOf(body)?.['after'])
  const chats = listOf(recordOf(body)?.['chats']).flatMap((entry): ChatSummary[] => {
    const chat = recordOf(entry)
    const id = textOf(chat?.['id'])
    if (chat === undefined || id === undefined) return []
    const title = textOf(chat['title'])?.trim() ?? ''
    return [
      {
        id,
        title: title === '' ? 'Untitled chat' : title,
        updatedAt: timeOf(chat['updatedAt']) ?? 0,
        activity: activityOf(chat['status']),
      },
    ]
  })
  return { chats, ...(after === undefined ? {} : { after }) }
}

/** Reads what a chat holds; what is no AI SDK message is left out. */
export function chatContentsFrom(body: unknown): ChatContents {
  const chat = recordOf(body) ?? {}
  const all = listOf(chat['messages']).filter(isMessage)
  const waiting = listOf(chat['waiting']).flatMap((entry) => {
    const record = recordOf(entry)
    const message = all.find(({ id }) => id === record?.['messageId'])
    if (message === undefined) return []
    return [{ id: message.id, text: textIn(message), isHeld: record?.['held'] === true }]
  })
  const isWaiting = new Set(waiting.map(({ id }) => id))
  const messages = all.filter(({ id }) => !isWaiting.has(id))
  const activeStreamId = textOf(chat['activeStreamId'])
  const earlier = textOf(chat['before'])
  const broken = brokenOf(chat['status'], textOf(chat['runId']))
  const isShown = broken === undefined || messages.some(({ id }) => id === broken.messageId)
  return {
    messages: isShown ? messages : [...messages, emptyAnswer(broken.messageId)],
    waiting,
    ...(activeStreamId === undefined ? {} : { activeStreamId }),
    ...(broken === undefined ? {} : { broken }),
    ...(earlier === undefined ? {} : { earlier }),
  }
}

function activityOf(status: unknown): ChatSummary['activity'] {
  if (status === 'interrupted') return 'asking'
  return status === 'pending' || status === 'running' ? 'working' : 'idle'
}

function brokenOf(status: unknown, messageId: string | undefined): ChatContents['broken'] {
  if (messageId === undefined) return undefined
  if (status === 'cancelled') return { messageId, how: 'stopped' }
  return status === 'failed' ? { messageId, how: 'failed' } : undefined
}

function emptyAnswer(id: string): UIMessage {
  return { id, role: 'assistant', parts: [] }
}

function textIn(message: UIMessage): string {
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
}

function isMessage(value: unknown): value is UIMessage {
  const message = recordOf(value)
  if (message === undefined || typeof message['id'] !== 'string') return false
  if (!['user', 'assistant', 'system'].includes(String(message['role']))) return false
  return (
    Array.isArray(message['parts']) &&
    message['parts'].every((part) => typeof recordOf(part)?.['type'] === 'string')
  )
}

function withSignal(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}
