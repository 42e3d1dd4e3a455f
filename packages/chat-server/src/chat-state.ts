import type { DocumentPut, LogAppend, RecordReader } from '@holdfast/core'
import {
  chatCollection,
  chatLog,
  type ChatDocument,
  type ChatEntry,
  chatRecordVersion,
  decodeChatDocument,
  decodeChatEntry,
  encodeChatRecord,
  answerEntryKey,
  messageEntryKey,
  type AnswerEntry,
  type MessageEntry,
  type TurnEntry,
  turnEntryKey,
  turnLog,
} from './chat-record.ts'

/** A chat's document as read, and the revision that a decision about it must find again. */
export interface ChatState {
  readonly sessionId: string
  readonly chatId: string
  /** 0 when there is no document. */
  readonly revision: number
  /** What there is. Absent: no such chat. */
  readonly document: ChatDocument | undefined
  /** Of the chat, or of the one that would be made. */
  readonly generation: number
}

/** Reads a chat's document. One that was forgotten reads as absent. */
export async function readChatState(
  store: RecordReader,
  sessionId: string,
  chatId: string,
): Promise<ChatState> {
  const stored = await store.document(sessionId, chatCollection, chatId)
  if (stored === undefined) {
    return { sessionId, chatId, revision: 0, document: undefined, generation: 1 }
  }
  const document = decodeChatDocument(stored.value)
  return document.deleted === true
    ? {
        sessionId,
        chatId,
        revision: stored.revision,
        document: undefined,
        generation: document.generation + 1,
      }
    : { sessionId, chatId, revision: stored.revision, document, generation: document.generation }
}

/** The write that replaces a chat's document, if nobody else did. */
export function putChat(state: ChatState, document: ChatDocument): DocumentPut {
  return {
    kind: 'document-put',
    collection: chatCollection,
    key: state.chatId,
    expectedRevision: state.revision,
    value: encodeChatRecord(document),
  }
}

/** A chat that has just begun. */
export function newChat(state: ChatState, title: string, now: number): ChatDocument {
  return {
    version: chatRecordVersion,
    generation: state.generation,
    title,
    createdAt: now,
    updatedAt: now,
    waiting: [],
  }
}

/** The write that adds an entry to a chat's log, which must be new there. */
export function appendEntry(state: ChatState, entry: ChatEntry): LogAppend {
  return {
    kind: 'log-append',
    log: chatLog(state.chatId, state.generation),
    key: keyOf(entry),
    value: encodeChatRecord(entry),
    // Answers may be told twice; a message or a turn may not.
    onFailure: entry.kind === 'answer' ? 'skip' : 'fail',
  }
}

/** The write that tells which chat a turn's run belongs to. */
export function appendTurnOwner(state: ChatState, runId: string): LogAppend {
  const { chatId } = state
  return { kind: 'log-append', log: turnLog, key: runId, value: chatId, onFailure: 'skip' }
}

/** The chat that a run, promised or started, answers in. */
export async function chatOfRun(
  store: RecordReader,
  sessionId: string,
  runId: string,
): Promise<string | undefined> {
  return (await store.logEntry(sessionId, turnLog, runId))?.value
}

/** The newest edition of a message. */
export async function readMessage(
  store: RecordReader,
  state: ChatState,
  messageId: string,
): Promise<MessageEntry | undefined> {
  let newest: MessageEntry | undefined
  for (let edition = 1; ; edition += 1) {
    const entry = await readEntry(store, state, messageEntryKey(messageId, edition))
    if (entry?.kind !== 'message') return newest
    newest = entry
  }
}

/** What the chat knows of an answer to an interrupt. */
export async function readAnswer(
  store: RecordReader,
  state: ChatState,
  interruptId: string,
): Promise<AnswerEntry | undefined> {
  const entry = await readEntry(store, state, answerEntryKey(interruptId))
  return entry?.kind === 'answer' ? entry : undefined
}

/** A turn of the chat. */
export async function readTurn(
  store: RecordReader,
  state: ChatState,
  runId: string,
): Promise<TurnEntry | undefined> {
  const entry = await readEntry(store, state, turnEntryKey(runId))
  return entry?.kind === 'turn' ? entry : undefined
}

async function readEntry(
  store: RecordReader,
  state: ChatState,
  key: string,
): Promise<ChatEntry | undefined> {
  const log = chatLog(state.chatId, state.generation)
  const entry = await store.logEntry(state.sessionId, log, key)
  return entry === undefined ? undefined : decodeChatEntry(entry.value)
}

function keyOf(entry: ChatEntry): string {
  switch (entry.kind) {
    case 'message':
      return messageEntryKey(entry.messageId, entry.edition)
    case 'turn':
      return turnEntryKey(entry.runId)
    case 'answer':
      return answerEntryKey(entry.interruptId)
  }
}
