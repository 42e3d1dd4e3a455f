import { ErrorCode, HoldfastError, type JsonObject, type JsonValue } from '@holdfast/core'
import { compileSchema, decodeJson, encodeJson } from '@holdfast/json'

/** The collection that holds one document for each chat, by chat id. */
export const chatCollection = 'chats'

/**
 * The session's log that says of each turn's run, promised or started, which chat it belongs to.
 */
export const turnLog = 'chat-turns'

/** The version of all records here that this release writes. */
export const chatRecordVersion = 1

/** A message that was accepted and that no turn has answered yet. */
export interface WaitingMessage {
  readonly messageId: string
  /** The run that its own turn will have, if it comes to one: promised to whoever sent it. */
  readonly runId: string
  /** The run whose inbox it is in. When that ends without it, it becomes a turn. */
  readonly steers?: string
  /** Somebody stopped the chat after it was sent: it waits for the next message. */
  readonly held?: true
}

/**
 * What a chat is at the moment: the fence of every decision about it. Whether it is busy is its
 * run's status.
 */
export interface ChatDocument {
  readonly version: typeof chatRecordVersion
  /** Counts what was forgotten under the same id: each has a log of its own. */
  readonly generation: number
  readonly title: string
  readonly createdAt: number
  readonly updatedAt: number
  /** The newest turn of the live branch. Absent before the first. */
  readonly turn?: string
  readonly waiting: readonly WaitingMessage[]
  /** The chat was forgotten: it answers as if it did not exist. */
  readonly deleted?: true
}

/** A person's message, as it was sent. An edit is a further edition under the same id. */
export interface MessageEntry {
  readonly kind: 'message'
  readonly version: typeof chatRecordVersion
  readonly messageId: string
  readonly edition: number
  readonly message: JsonObject
  readonly at: number
  /** The run of its own turn, promised when it was accepted. */
  readonly runId: string
  /** The run that it was sent to, and the stream that its sender was given. */
  readonly steers?: { readonly runId: string; readonly streamId: string }
}

/** A turn: which run answers which message, and after which turn it comes. */
export interface TurnEntry {
  readonly kind: 'turn'
  readonly version: typeof chatRecordVersion
  readonly runId: string
  readonly messageId: string
  readonly edition: number
  /** The turn before it on its branch. Absent for a first one. */
  readonly parent?: string
  /** The turn that it was made anew from. */
  readonly replaces?: string
  readonly at: number
}

/** An interrupt was answered through the chat, and which stream carries what followed. */
export interface AnswerEntry {
  readonly kind: 'answer'
  readonly version: typeof chatRecordVersion
  readonly interruptId: string
  readonly runId: string
  readonly streamId: string
}

/** Anything in a chat's log. */
export type ChatEntry = MessageEntry | TurnEntry | AnswerEntry

/** The log of a chat. */
export function chatLog(chatId: string, generation: number): string {
  return generation === 1 ? `chat/${chatId}` : `chat/${chatId}/${generation}`
}

/** The key of a message's edition in its chat's log. */
export function messageEntryKey(messageId: string, edition: number): string {
  return edition === 1 ? `message/${messageId}` : `message/${messageId}/${edition}`
}

/** The key of a turn in its chat's log. */
export function turnEntryKey(runId: string): string {
  return `turn/${runId}`
}

/** The key of an answer in its chat's log. */
export function answerEntryKey(interruptId: string): string {
  return `answer/${interruptId}`
}

/** The text of a record. */
export function encodeChatRecord(record: ChatDocument | ChatEntry): string {
  return encodeJson(record)
}

/** Reads a chat's document. @throws `record_from_newer_version`, `record_corrupt` */
export function decodeChatDocument(text: string): ChatDocument {
  const value = parseVersioned(text)
  if (documentSchema.validate(value).ok) return value as unknown as ChatDocument
  throw corrupt()
}

/** Reads an entry of a chat's log. @throws `record_from_newer_version`, `record_corrupt` */
export function decodeChatEntry(text: string): ChatEntry {
  const value = parseVersioned(text)
  if (entrySchema.validate(value).ok) return value as unknown as ChatEntry
  throw corrupt()
}

const text = { type: 'string' } as const
const time = { type: 'number' } as const
const count = { type: 'integer', minimum: 1 } as const
const version = { const: chatRecordVersion } as const

function closed(required: object, optional: object = {}): object {
  return {
    type: 'object',
    additionalProperties: false,
    required: Object.keys(required),
    properties: { ...required, ...optional },
  }
}

const documentSchema = compileSchema(
  closed(
    {
      version,
      generation: count,
      title: text,
      createdAt: time,
      updatedAt: time,
      waiting: {
        type: 'array',
        items: closed({ messageId: text, runId: text }, { steers: text, held: { const: true } }),
      },
    },
    { turn: text, deleted: { const: true } },
  ),
)

const entrySchema = compileSchema({
  oneOf: [
    closed(
      {
        kind: { const: 'message' },
        version,
        messageId: text,
        edition: count,
        message: { type: 'object' },
        at: time,
        runId: text,
      },
      { steers: closed({ runId: text, streamId: text }) },
    ),
    closed(
      { kind: { const: 'turn' }, version, runId: text, messageId: text, edition: count, at: time },
      { parent: text, replaces: text },
    ),
    closed({ kind: { const: 'answer' }, version, interruptId: text, runId: text, streamId: text }),
  ],
})

function parseVersioned(source: string): JsonValue {
  const value = parse(source)
  const found =
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)['version']
      : undefined
  if (typeof found === 'number' && found > chatRecordVersion) {
    throw new HoldfastError(ErrorCode.recordFromNewerVersion, {
      message: `A chat's record has version ${found}; this release reads up to ${chatRecordVersion}.`,
    })
  }
  return value
}

function parse(source: string): JsonValue {
  try {
    return decodeJson(source)
  } catch (cause) {
    throw corrupt(cause)
  }
}

function corrupt(cause?: unknown): HoldfastError {
  return new HoldfastError(ErrorCode.recordCorrupt, {
    message: "A chat's stored record cannot be read.",
    cause,
  })
}
