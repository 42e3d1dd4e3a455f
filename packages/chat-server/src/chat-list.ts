import {
  ErrorCode,
  HoldfastError,
  type RecordReader,
  type RunReader,
  type RunStatus,
  visibleStatus,
} from '@holdfast/core'
import { chatCollection, type ChatDocument, decodeChatDocument } from './chat-record.ts'

/** A chat in a list. */
export interface ChatSummary {
  readonly id: string
  readonly title: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Of the newest turn's run; `idle` when there is none. */
  readonly status: RunStatus | 'idle'
}

/** Some of a session's chats, the one used last first. */
export interface ChatList {
  readonly chats: readonly ChatSummary[]
  /** There are more: ask with `after` set to this. */
  readonly after?: string
}

/** Chats of a session that are looked at; older ones beyond it are not listed. */
const maxChats = 10_000
const pageDocuments = 1_000

/** Lists a session's chats. @throws `arguments_invalid` a cursor that is none */
export async function listChats(
  store: RecordReader & RunReader,
  sessionId: string,
  request: { readonly limit: number; readonly after?: string },
): Promise<ChatList> {
  const all = await readAll(store, sessionId)
  const first = request.after === undefined ? 0 : firstAfter(all, request.after)
  const shown = all.slice(first, first + request.limit)
  const chats = await Promise.all(
    shown.map(async ({ id, document }) => ({
      id,
      title: document.title,
      createdAt: document.createdAt,
      updatedAt: document.updatedAt,
      status: await statusOf(store, sessionId, document),
    })),
  )
  const last = shown.at(-1)
  const hasMore = first + shown.length < all.length
  return { chats, ...(hasMore && last !== undefined ? { after: cursorOf(last) } : {}) }
}

interface Listed {
  readonly id: string
  readonly document: ChatDocument
}

async function readAll(store: RecordReader, sessionId: string): Promise<readonly Listed[]> {
  const listed: Listed[] = []
  let after: string | undefined
  do {
    const page = await store.documents(sessionId, chatCollection, {
      limit: pageDocuments,
      ...(after === undefined ? {} : { after }),
    })
    for (const { key, value } of page.items) {
      const document = decodeChatDocument(value)
      if (document.deleted !== true) listed.push({ id: key, document })
    }
    after = page.next
  } while (after !== undefined && listed.length < maxChats)
  return listed.toSorted(compare)
}

function compare(one: Listed, other: Listed): number {
  const byTime = other.document.updatedAt - one.document.updatedAt
  if (byTime !== 0) return byTime
  return one.id < other.id ? -1 : 1
}

function cursorOf({ id, document }: Listed): string {
  return `${document.updatedAt}.${id}`
}

/** The place after the cursor's, also when the chat it names has moved or gone. */
function firstAfter(all: readonly Listed[], cursor: string): number {
  const [, time, id] = /^(\d{1,16})\.([A-Za-z0-9_-]{1,64})$/.exec(cursor) ?? []
  if (time === undefined || id === undefined) {
    throw new HoldfastError(ErrorCode.argumentsInvalid, { message: 'after is no cursor.' })
  }
  const updatedAt = Number(time)
  const at = all.findIndex((one) => {
    const { document } = one
    return document.updatedAt < updatedAt || (document.updatedAt === updatedAt && one.id > id)
  })
  return at === -1 ? all.length : at
}

async function statusOf(
  store: RunReader,
  sessionId: string,
  { turn }: ChatDocument,
): Promise<RunStatus | 'idle'> {
  const run = turn === undefined ? undefined : await store.run(sessionId, turn)
  return run === undefined ? 'idle' : visibleStatus(run)
}
