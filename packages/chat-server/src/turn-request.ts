import { ErrorCode, HoldfastError, type JsonObject, type JsonValue } from '@holdfast/core'
import { isJsonObject, utf8Length } from '@holdfast/json'
import { isMessageId, parseChatId } from './chat-id.ts'

/** How large a person's message may be. */
export interface MessageLimits {
  /** UTF-8 bytes of its JSON. */
  readonly messageBytes: number
}

/** A person's message, reduced to what is kept of it. */
export interface UserMessage {
  readonly id: string
  /** `{ id, role: 'user', parts, metadata? }` with text and file parts. */
  readonly value: JsonObject
}

/** What a page decided about a tool call that waits. */
export type Decision =
  | {
      readonly kind: 'approval'
      readonly approvalId: string
      readonly approved: boolean
      readonly reason?: string
    }
  | { readonly kind: 'output'; readonly toolCallId: string; readonly output: JsonValue }
  | { readonly kind: 'output-error'; readonly toolCallId: string; readonly error: string }

/** What a POST asks for. */
export type TurnRequest =
  | {
      readonly kind: 'message'
      readonly chatId: string
      readonly message: UserMessage
      /** The message is said to replace an earlier edition of itself. */
      readonly isEdit: boolean
    }
  | {
      readonly kind: 'regenerate'
      readonly chatId: string
      /** The assistant's or the person's message to answer anew. Absent: the last. */
      readonly target?: string
      /** The message to be answered, as the page has it. */
      readonly message?: UserMessage
    }
  | {
      readonly kind: 'decisions'
      readonly chatId: string
      /** The assistant message, which is the run's id. */
      readonly messageId: string
      readonly decisions: readonly Decision[]
    }

const maxParts = 64
const maxMessages = 10_000
const maxReasonBytes = 1_024

/**
 * Reads what AI SDK's `useChat` posts: `{ id, messages, trigger, messageId? }` (`chatId` is taken
 * for `id`, too).
 *
 * Of the messages only the last one counts, or the assistant message that `messageId` names: the
 * history is the server's own. Fields that are not known are left alone. Nothing in it is believed:
 * approvals are matched with the server's records later.
 *
 * @throws `id_invalid`, `arguments_invalid`, `message_invalid`
 */
export function parseTurnRequest(body: JsonObject, limits: MessageLimits): TurnRequest {
  const chatId = parseChatId(body['id'] ?? body['chatId'])
  const trigger = body['trigger'] ?? 'submit-message'
  const messageId = parseMessageId(body['messageId'])
  const messages = parseMessages(body['messages'])
  const last = messages.at(-1)
  if (trigger === 'regenerate-message') {
    return {
      kind: 'regenerate',
      chatId,
      ...(messageId === undefined ? {} : { target: messageId }),
      ...(last?.['role'] === 'user' ? { message: parseUserMessage(last, limits) } : {}),
    }
  }
  if (trigger !== 'submit-message') {
    throw new HoldfastError(ErrorCode.argumentsInvalid, {
      message: 'trigger must be submit-message or regenerate-message.',
    })
  }
  const answered = assistantMessage(messages, messageId)
  if (answered !== undefined) {
    const { id } = answered
    if (typeof id !== 'string' || !isMessageId(id)) throw messageInvalid('its id is not valid')
    return { kind: 'decisions', chatId, messageId: id, decisions: decisionsOf(answered) }
  }
  if (last === undefined) throw messageInvalid('there is none')
  const message = parseUserMessage(last, limits)
  return { kind: 'message', chatId, message, isEdit: messageId === message.id }
}

function parseMessageId(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && isMessageId(value)) return value
  throw new HoldfastError(ErrorCode.idInvalid, {
    message: 'A message id has 1 to 128 letters, digits, _, -, . and :.',
    details: { field: 'messageId' },
  })
}

function parseMessages(value: JsonValue | undefined): readonly JsonObject[] {
  if (!Array.isArray(value)) throw messageInvalid('messages must be an array')
  if (value.length > maxMessages) throw messageInvalid(`more than ${maxMessages} messages`)
  const messages: readonly JsonValue[] = value
  if (messages.every(isJsonObject)) return messages
  throw messageInvalid('every message must be an object')
}

function assistantMessage(
  messages: readonly JsonObject[],
  messageId: string | undefined,
): JsonObject | undefined {
  const last = messages.at(-1)
  const named = messages.findLast((message) => message['id'] === messageId)
  if (messageId !== undefined && named?.['role'] === 'assistant') return named
  return last?.['role'] === 'assistant' ? last : undefined
}

/** Checks a person's message and keeps what is known of it. @throws `message_invalid` */
function parseUserMessage(message: JsonObject, limits: MessageLimits): UserMessage {
  const { id, role, parts, metadata } = message
  if (role !== 'user') throw messageInvalid('the last one must be a user’s or an assistant’s')
  if (typeof id !== 'string' || !isMessageId(id)) throw messageInvalid('its id is not valid')
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > maxParts) {
    throw messageInvalid(`it must have 1 to ${maxParts} parts`)
  }
  const kept = (parts as readonly JsonValue[]).map(parsePart)
  if (!kept.some(hasContent)) throw messageInvalid('it is empty')
  const value: JsonObject = {
    id,
    role: 'user',
    parts: kept,
    ...(metadata === undefined || metadata === null ? {} : { metadata }),
  }
  if (utf8Length(JSON.stringify(value)) > limits.messageBytes) {
    throw new HoldfastError(ErrorCode.limitExceeded, {
      message: `A message may have ${limits.messageBytes} bytes.`,
      details: { limit: limits.messageBytes },
    })
  }
  return { id, value }
}

function parsePart(part: JsonValue): JsonObject {
  if (!isJsonObject(part)) throw messageInvalid('every part must be an object')
  const { type, text, mediaType, url, filename } = part
  if (type === 'text') {
    if (typeof text !== 'string') throw messageInvalid('a text part needs a text')
    return { type, text }
  }
  if (type === 'file') {
    if (typeof mediaType !== 'string' || !/^[\w.+-]{1,100}\/[\w.+*-]{1,100}$/.test(mediaType)) {
      throw messageInvalid('a file part needs a media type')
    }
    if (typeof url !== 'string' || !/^(?:data:|https?:\/\/)/i.test(url)) {
      throw messageInvalid('a file part needs a data or http URL')
    }
    if (filename !== undefined && (typeof filename !== 'string' || filename.length > 512)) {
      throw messageInvalid('a file’s name is not valid')
    }
    return { type, mediaType, url, ...(filename === undefined ? {} : { filename }) }
  }
  throw messageInvalid('its parts must be text or files')
}

function hasContent(part: JsonObject): boolean {
  const { type, text } = part
  return type !== 'text' || (typeof text === 'string' && text.trim() !== '')
}

function decisionsOf(message: JsonObject): readonly Decision[] {
  const { parts } = message
  if (!Array.isArray(parts)) throw messageInvalid('it must have parts')
  return (parts as readonly JsonValue[]).flatMap((part) => {
    const decision = isJsonObject(part) ? decisionOf(part) : undefined
    return decision === undefined ? [] : [decision]
  })
}

function decisionOf(part: JsonObject): Decision | undefined {
  const { type, state, toolCallId, approval, output, errorText, preliminary } = part
  if (typeof type !== 'string' || !(type.startsWith('tool-') || type === 'dynamic-tool')) {
    return undefined
  }
  if (state === 'approval-responded') return approvalOf(approval)
  if (typeof toolCallId !== 'string') return undefined
  if (state === 'output-available' && preliminary !== true) {
    return { kind: 'output', toolCallId, output: output ?? null }
  }
  if (state !== 'output-error') return undefined
  const error = typeof errorText === 'string' ? errorText : 'The tool failed.'
  return { kind: 'output-error', toolCallId, error }
}

function approvalOf(approval: JsonValue | undefined): Decision {
  if (approval === undefined || !isJsonObject(approval)) throw approvalMalformed()
  const { id, approved, reason } = approval
  if (typeof id !== 'string' || id === '' || id.length > 128) throw approvalMalformed()
  if (typeof approved !== 'boolean') throw approvalMalformed()
  if (reason === undefined || reason === null) return { kind: 'approval', approvalId: id, approved }
  if (typeof reason !== 'string' || utf8Length(reason) > maxReasonBytes) throw approvalMalformed()
  return { kind: 'approval', approvalId: id, approved, reason }
}

function approvalMalformed(): HoldfastError {
  return messageInvalid('an approval needs an id and a decision')
}

function messageInvalid(why: string): HoldfastError {
  return new HoldfastError(ErrorCode.messageInvalid, {
    message: `The message cannot be taken: ${why}.`,
  })
}
