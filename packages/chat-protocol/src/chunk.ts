import { ChatProtocolError } from './error.ts'

/** Extra data of a model provider, by provider name. Passed on, never read. */
export type ProviderMetadata = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Opens a message. A `messageId` names the message that the chunks after it belong to. */
export interface StartChunk {
  readonly type: 'start'
  readonly messageId?: string
  readonly messageMetadata?: unknown
}

/** Ends a message for good. */
export interface FinishChunk {
  readonly type: 'finish'
  /** `interrupted` came with 7.0.149. */
  readonly finishReason?:
    | 'stop'
    | 'length'
    | 'content-filter'
    | 'tool-calls'
    | 'error'
    | 'interrupted'
    | 'other'
  readonly messageMetadata?: unknown
}

/** Ends a message because somebody stopped it. */
export interface AbortChunk {
  readonly type: 'abort'
  readonly reason?: string
}

/** Ends a message because it failed. The text is safe to show. */
export interface ErrorChunk {
  readonly type: 'error'
  readonly errorText: string
}

/** Adds to the message's metadata. */
export interface MessageMetadataChunk {
  readonly type: 'message-metadata'
  readonly messageMetadata: unknown
}

/** A boundary of a step; `reset-step` takes back every part since the last `start-step`. */
export interface StepChunk {
  readonly type: 'start-step' | 'finish-step' | 'reset-step'
}

/** Opens a text or reasoning part; several may be open at once, told apart by `id`. */
export interface PartStartChunk {
  readonly type: 'text-start' | 'reasoning-start'
  readonly id: string
  readonly providerMetadata?: ProviderMetadata
}

/** Adds text to an open part. */
export interface PartDeltaChunk {
  readonly type: 'text-delta' | 'reasoning-delta'
  readonly id: string
  readonly delta: string
  readonly providerMetadata?: ProviderMetadata
}

/** Closes a part; its id may be used again. */
export interface PartEndChunk {
  readonly type: 'text-end' | 'reasoning-end'
  readonly id: string
  readonly citations?: readonly unknown[]
  readonly providerMetadata?: ProviderMetadata
}

interface ToolCallFields {
  readonly toolCallId: string
  readonly providerExecuted?: boolean
  readonly providerMetadata?: ProviderMetadata
  readonly toolMetadata?: Readonly<Record<string, unknown>>
  readonly dynamic?: boolean
}

/** The model began to write a tool's input. */
export interface ToolInputStartChunk extends ToolCallFields {
  readonly type: 'tool-input-start'
  readonly toolName: string
  /** How the deltas are encoded. Absent: `json`. Came with 7.0.142. */
  readonly inputEncoding?: 'json' | 'text'
  readonly title?: string
}

/** More text of a tool's input. */
export interface ToolInputDeltaChunk {
  readonly type: 'tool-input-delta'
  readonly toolCallId: string
  readonly inputTextDelta: string
}

/** A tool's whole input. May come without a `tool-input-start`. */
export interface ToolInputAvailableChunk extends ToolCallFields {
  readonly type: 'tool-input-available'
  readonly toolName: string
  readonly input: unknown
  readonly title?: string
}

/** A tool's input could not be used. */
export interface ToolInputErrorChunk extends ToolCallFields {
  readonly type: 'tool-input-error'
  readonly toolName: string
  readonly input: unknown
  readonly errorText: string
  readonly title?: string
}

/** Somebody is asked whether a tool may run. */
export interface ToolApprovalRequestChunk {
  readonly type: 'tool-approval-request'
  readonly approvalId: string
  readonly toolCallId: string
  /** Came with 7.0.87. */
  readonly approvalDescriptor?: unknown
  readonly inputSchemaInput?: unknown
  /** Came with 7.0.82. */
  readonly reason?: string
  readonly isAutomatic?: boolean
  readonly signature?: string
}

/** The answer to a `tool-approval-request`. */
export interface ToolApprovalResponseChunk {
  readonly type: 'tool-approval-response'
  readonly approvalId: string
  readonly approved: boolean
  readonly reason?: string
  readonly providerExecuted?: boolean
  readonly providerMetadata?: ProviderMetadata
}

/** A tool's output; a preliminary one is replaced by the next. */
export interface ToolOutputAvailableChunk extends ToolCallFields {
  readonly type: 'tool-output-available'
  readonly output: unknown
  readonly preliminary?: boolean
}

/** A tool failed. */
export interface ToolOutputErrorChunk extends ToolCallFields {
  readonly type: 'tool-output-error'
  readonly errorText: string
}

/** A tool was not allowed to run. */
export interface ToolOutputDeniedChunk {
  readonly type: 'tool-output-denied'
  readonly toolCallId: string
}

/** A web page that an answer rests on. */
export interface SourceUrlChunk {
  readonly type: 'source-url'
  readonly sourceId: string
  readonly url: string
  readonly title?: string
  readonly providerMetadata?: ProviderMetadata
}

/** A document that an answer rests on. */
export interface SourceDocumentChunk {
  readonly type: 'source-document'
  readonly sourceId: string
  readonly mediaType: string
  readonly title: string
  readonly filename?: string
  readonly providerMetadata?: ProviderMetadata
}

/** A file that the model made. */
export interface FileChunk {
  readonly type: 'file' | 'reasoning-file'
  readonly url: string
  readonly mediaType: string
  readonly providerMetadata?: ProviderMetadata
}

/** Content of a kind that only its provider knows. */
export interface CustomChunk {
  readonly type: 'custom'
  readonly kind: `${string}.${string}`
  readonly providerMetadata?: ProviderMetadata
}

/** A user's message that was added to the run while it was going. Came with 7.0.163. */
export interface SteeringMessageChunk {
  readonly type: 'steering-message'
  readonly id: string
  readonly parts: readonly Readonly<Record<string, unknown>>[]
}

/** Data of the application. With an `id`, a later one of the same type replaces the data. */
export interface DataChunk {
  readonly type: `data-${string}`
  readonly id?: string
  readonly data: unknown
  readonly transient?: boolean
}

/**
 * One chunk of an AI SDK 7 UI message stream.
 *
 * The union lists the types that are known; {@link parseUiChunk} also lets others through, so a
 * `switch` over `type` needs a way on for them.
 */
export type UiChunk =
  | StartChunk
  | FinishChunk
  | AbortChunk
  | ErrorChunk
  | MessageMetadataChunk
  | StepChunk
  | PartStartChunk
  | PartDeltaChunk
  | PartEndChunk
  | ToolInputStartChunk
  | ToolInputDeltaChunk
  | ToolInputAvailableChunk
  | ToolInputErrorChunk
  | ToolApprovalRequestChunk
  | ToolApprovalResponseChunk
  | ToolOutputAvailableChunk
  | ToolOutputErrorChunk
  | ToolOutputDeniedChunk
  | SourceUrlChunk
  | SourceDocumentChunk
  | FileChunk
  | CustomChunk
  | SteeringMessageChunk
  | DataChunk

/** Limits of {@link parseUiChunk}. */
export interface ParseUiChunkOptions {
  /** UTF-16 units of a chunk's JSON. Absent: no limit but that of the stream it came in. */
  readonly maxLength?: number
}

/**
 * Reads one chunk from a frame's data.
 *
 * Promises a JSON object with a string `type`, and keeps every field and every type that it does
 * not know: newer servers talk to older clients. It does not check the other fields.
 *
 * @throws {ChatProtocolError} `chunk_malformed`, `chunk_too_large`
 */
export function parseUiChunk(text: string, options: ParseUiChunkOptions = {}): UiChunk {
  if (options.maxLength !== undefined && text.length > options.maxLength) {
    throw new ChatProtocolError(
      'chunk_too_large',
      `A chunk of ${text.length} characters is above the limit of ${options.maxLength}.`,
      { length: text.length, limit: options.maxLength },
    )
  }
  const value = parseJson(text)
  if (!isTyped(value)) {
    throw new ChatProtocolError('chunk_malformed', 'A chunk is no JSON object with a string type.')
  }
  return value as UiChunk
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ChatProtocolError('chunk_malformed', 'A chunk is not JSON.')
  }
}

function isTyped(value: unknown): value is { readonly type: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    'type' in value &&
    typeof value.type === 'string'
  )
}
