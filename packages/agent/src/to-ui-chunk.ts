import type { LanguageModelV4File, LanguageModelV4ReasoningFile } from '@ai-sdk/provider'
import { convertToBase64 } from '@ai-sdk/provider-utils'
import type { UIMessageChunk } from 'ai'
import { redactedErrorText } from './error-text.ts'
import type { ErrorText } from './error-text.ts'
import type { ModelCallStreamPart, ToolPartOrigin } from './model-call-part.ts'

/** How parts become UI message chunks. */
export interface UiChunkOptions {
  /** The text of an error. Default: nothing of it is told. */
  readonly errorText?: ErrorText
  /** Whether reasoning is shown. Default true. */
  readonly sendReasoning?: boolean
  /** Whether sources are shown. Default true. */
  readonly sendSources?: boolean
}

/** The UI message chunk of a part; `undefined` for parts that no page shows. */
export function toUIMessageChunk(
  part: ModelCallStreamPart,
  options: UiChunkOptions = {},
): UIMessageChunk | undefined {
  const { errorText = redactedErrorText, sendReasoning = true, sendSources = true } = options
  switch (part.type) {
    case 'start-step':
    case 'finish-step':
    case 'reset-step':
      return { type: part.type }
    case 'start':
    case 'abort':
    case 'finish':
      return { ...part }
    case 'text-start':
      return { type: 'text-start', id: part.id, ...metadata(part) }
    case 'text-delta':
      return { type: 'text-delta', id: part.id, delta: part.text, ...metadata(part) }
    case 'text-end':
      return {
        type: 'text-end',
        id: part.id,
        ...(part.citations === undefined ? {} : { citations: [...part.citations] }),
        ...metadata(part),
      }
    case 'reasoning-start':
    case 'reasoning-end':
      return sendReasoning ? { type: part.type, id: part.id, ...metadata(part) } : undefined
    case 'reasoning-delta':
      if (!sendReasoning) return undefined
      return { type: 'reasoning-delta', id: part.id, delta: part.text, ...metadata(part) }
    case 'tool-input-start': {
      const { id: toolCallId, toolName, inputEncoding } = part
      const encoding = inputEncoding === undefined ? {} : { inputEncoding }
      return { type: 'tool-input-start', toolCallId, toolName, ...encoding, ...origin(part) }
    }
    case 'tool-input-delta':
      return { type: 'tool-input-delta', toolCallId: part.id, inputTextDelta: part.delta }
    case 'tool-call': {
      const { toolCallId, toolName, input, invalid, error = 'The tool call is invalid.' } = part
      const call = { toolCallId, toolName, input, ...origin(part) }
      return invalid === true
        ? { type: 'tool-input-error', ...call, errorText: error }
        : { type: 'tool-input-available', ...call }
    }
    case 'tool-result': {
      const { title: _title, ...rest } = origin(part)
      const early = part.preliminary === true ? { preliminary: true } : {}
      const { toolCallId, output } = part
      return { type: 'tool-output-available', toolCallId, output, ...early, ...rest }
    }
    case 'tool-error': {
      const { title: _title, ...rest } = origin(part)
      return {
        type: 'tool-output-error',
        toolCallId: part.toolCallId,
        errorText: part.errorText,
        ...rest,
      }
    }
    case 'tool-output-denied':
      return { type: 'tool-output-denied', toolCallId: part.toolCallId }
    case 'tool-approval-request':
    case 'tool-approval-response':
      return { ...part }
    case 'source':
      return sendSources ? sourceChunk(part) : undefined
    case 'file':
    case 'reasoning-file':
      return { type: part.type, mediaType: part.mediaType, url: fileUrl(part), ...metadata(part) }
    case 'custom':
      return { type: 'custom', kind: part.kind, ...metadata(part) }
    case 'steering-message':
      return { type: 'steering-message', id: part.id, parts: part.parts.map(shownPart) }
    case 'budget-request':
      return { type: 'data-budget', id: part.id, data: { interruptId: part.id, steps: part.steps } }
    case 'error':
      return { type: 'error', errorText: errorText(part.error, 'model') }
    case 'model-call-start':
    case 'model-call-response-metadata':
    case 'model-call-end':
    case 'tool-input-end':
    case 'raw':
      return undefined
  }
}

/** Options of {@link createModelCallToUIChunkTransform}. */
export interface ModelCallToUIChunkOptions extends UiChunkOptions {
  /** How many chunks a reader has already: so many are left out. A whole number. Default 0. */
  readonly uiStartIndex?: number
}

/**
 * A transform of the loop's parts into UI message chunks. A stream that has no `start` or `finish` of its own gets
 * one, so that a page can always render what comes out.
 *
 * @throws RangeError `uiStartIndex` is not a whole number from 0
 */
export function createModelCallToUIChunkTransform(
  options: ModelCallToUIChunkOptions = {},
): TransformStream<ModelCallStreamPart, UIMessageChunk> {
  const { uiStartIndex = 0, ...chunkOptions } = options
  if (!Number.isSafeInteger(uiStartIndex) || uiStartIndex < 0) {
    throw new RangeError('uiStartIndex must be a whole number from 0.')
  }
  let index = 0
  let hasStarted = false
  let isInStep = false
  let hasEnded = false
  const send = (
    chunk: UIMessageChunk,
    controller: TransformStreamDefaultController<UIMessageChunk>,
  ): void => {
    if (chunk.type === 'start-step') isInStep = true
    if (chunk.type === 'finish-step') isInStep = false
    if (chunk.type === 'finish' || chunk.type === 'abort') hasEnded = true
    if (index >= uiStartIndex) controller.enqueue(chunk)
    index += 1
  }
  return new TransformStream<ModelCallStreamPart, UIMessageChunk>({
    transform(part, controller) {
      const chunk = toUIMessageChunk(part, chunkOptions)
      if (chunk === undefined) return
      if (!hasStarted && chunk.type !== 'start') send({ type: 'start' }, controller)
      hasStarted = true
      send(chunk, controller)
    },
    flush(controller) {
      if (hasEnded) return
      if (!hasStarted) send({ type: 'start' }, controller)
      if (isInStep) send({ type: 'finish-step' }, controller)
      send({ type: 'finish' }, controller)
    },
  })
}

function metadata<Metadata>(part: { readonly providerMetadata?: Metadata }): {
  providerMetadata?: Metadata
} {
  return part.providerMetadata === undefined ? {} : { providerMetadata: part.providerMetadata }
}

function origin(part: ToolPartOrigin): {
  -readonly [Name in keyof ToolPartOrigin]: ToolPartOrigin[Name]
} {
  return {
    ...(part.providerExecuted === undefined ? {} : { providerExecuted: part.providerExecuted }),
    ...(part.dynamic === undefined ? {} : { dynamic: part.dynamic }),
    ...(part.title === undefined ? {} : { title: part.title }),
    ...(part.toolMetadata === undefined ? {} : { toolMetadata: part.toolMetadata }),
    ...metadata(part),
  }
}

function sourceChunk(part: Extract<ModelCallStreamPart, { type: 'source' }>): UIMessageChunk {
  const { id: sourceId } = part
  if (part.sourceType === 'url') {
    const title = part.title === undefined ? {} : { title: part.title }
    return { type: 'source-url', sourceId, url: part.url, ...title, ...metadata(part) }
  }
  const { mediaType, title, filename } = part
  const named = filename === undefined ? {} : { filename }
  return { type: 'source-document', sourceId, mediaType, title, ...named, ...metadata(part) }
}

function fileUrl(part: LanguageModelV4File | LanguageModelV4ReasoningFile): string {
  if (part.data.type === 'url') return part.data.url.toString()
  return `data:${part.mediaType};base64,${convertToBase64(part.data.data)}`
}

type ShownPart = Extract<UIMessageChunk, { type: 'steering-message' }>['parts'][number]

/** A part of a user's message; only texts and files come here. */
function shownPart(part: object): ShownPart {
  return part as ShownPart
}
