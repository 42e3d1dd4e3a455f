import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
  SharedV4FileData,
  SharedV4FileDataData,
  SharedV4FileDataUrl,
} from '@ai-sdk/provider'
import { isProviderReference } from '@ai-sdk/provider-utils'
import type {
  AssistantModelMessage,
  FilePart,
  ImagePart,
  ModelMessage,
  SystemModelMessage,
  ToolModelMessage,
  ToolResultOutput,
  UserModelMessage,
} from '@ai-sdk/provider-utils'
import { configurationInvalid, ErrorCode, HoldfastError } from '@holdfast/core'

/** What the model is told first. */
export type Instructions = string | SystemModelMessage | readonly SystemModelMessage[]

/**
 * The prompt that a provider takes: instructions, then messages, files tagged, texts that are empty and
 * approvals that the loop has dealt with left out, tool messages that follow each other joined. A tool call that nothing
 * answers (its turn was stopped, say) is answered by an error: providers refuse a prompt that leaves one open.
 */
export function modelPrompt(
  instructions: Instructions | undefined,
  messages: readonly ModelMessage[],
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Message[] = systemMessages(instructions)
  for (const message of messages) {
    const converted = promptMessage(message)
    if (converted.role === 'system' || converted.content.length > 0) prompt.push(converted)
  }
  return answeringOpenCalls(prompt)
}

function answeringOpenCalls(prompt: readonly LanguageModelV4Message[]): LanguageModelV4Prompt {
  const whole: LanguageModelV4Message[] = []
  for (const [index, message] of prompt.entries()) {
    whole.push(message)
    if (message.role !== 'assistant') continue
    const results = message.content.flatMap((part): ContentOf<'tool'> => {
      if (part.type !== 'tool-call' || part.providerExecuted === true) return []
      const { toolCallId, toolName } = part
      if (isAnswered(toolCallId, prompt.slice(index + 1))) return []
      return [{ type: 'tool-result', toolCallId, toolName, output: { ...unansweredOutput } }]
    })
    if (results.length > 0) whole.push({ role: 'tool', content: results })
  }
  return joinedTools(whole)
}

/** Whether a result comes, before the id is used for another call. */
function isAnswered(toolCallId: string, later: readonly LanguageModelV4Message[]): boolean {
  for (const message of later) {
    if (message.role !== 'assistant' && message.role !== 'tool') continue
    for (const part of message.content) {
      if (part.type === 'tool-result' && part.toolCallId === toolCallId) return true
      if (part.type === 'tool-call' && part.toolCallId === toolCallId) return false
    }
  }
  return false
}

const unansweredOutput = {
  type: 'error-text',
  value: 'There is no result: the tool call was not completed.',
} as const

function joinedTools(prompt: readonly LanguageModelV4Message[]): LanguageModelV4Prompt {
  const joined: LanguageModelV4Message[] = []
  for (const message of prompt) {
    const previous = joined.at(-1)
    if (message.role === 'tool' && previous?.role === 'tool') {
      const content = [...previous.content, ...message.content]
      joined[joined.length - 1] = { ...previous, content }
    } else {
      joined.push(message)
    }
  }
  return joined
}

/**
 * Refuses messages of role `system`: they belong in the instructions, where no user's text can come.
 *
 * @throws `message_invalid`
 */
export function refuseSystemMessages(messages: readonly ModelMessage[]): void {
  if (!messages.some((message) => message.role === 'system')) return
  throw new HoldfastError(ErrorCode.messageInvalid, {
    message:
      'System messages are not allowed among the messages. Use instructions, or set allowSystemInMessages.',
  })
}

function systemMessages(instructions: Instructions | undefined): LanguageModelV4Message[] {
  if (instructions === undefined || instructions === '') return []
  if (typeof instructions === 'string') return [{ role: 'system', content: instructions }]
  const list: readonly SystemModelMessage[] = isList(instructions) ? instructions : [instructions]
  return list.map((message) => {
    if (typeof message !== 'object' || typeof message.content !== 'string') {
      throw configurationInvalid(
        'Instructions must be a text, a system message, or a list of them.',
      )
    }
    return promptMessage(message)
  })
}

function isList<Item>(value: Item | readonly Item[]): value is readonly Item[] {
  return Array.isArray(value)
}

function promptMessage(message: ModelMessage): LanguageModelV4Message {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content, ...optionsOf(message) }
    case 'user':
      return { role: 'user', content: userContent(message.content), ...optionsOf(message) }
    case 'assistant':
      return { role: 'assistant', content: assistantContent(message), ...optionsOf(message) }
    case 'tool':
      return { role: 'tool', content: toolContent(message), ...optionsOf(message) }
  }
}

type ContentOf<Role> = Extract<LanguageModelV4Message, { role: Role }>['content']

function userContent(content: UserModelMessage['content']): ContentOf<'user'> {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return content.flatMap((part): ContentOf<'user'> => {
    switch (part.type) {
      case 'text':
        if (part.text === '' && part.providerOptions === undefined) return []
        return [{ type: 'text', text: part.text, ...optionsOf(part) }]
      case 'image':
        return [imagePart(part)]
      case 'file':
        return [filePart(part)]
    }
  })
}

function assistantContent(message: AssistantModelMessage): ContentOf<'assistant'> {
  const { content } = message
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return content.flatMap((part): ContentOf<'assistant'> => {
    switch (part.type) {
      case 'text':
        if (part.text === '' && part.providerOptions === undefined) return []
        return [{ type: 'text', text: part.text, ...optionsOf(part) }]
      case 'reasoning':
        return [{ type: 'reasoning', text: part.text, ...optionsOf(part) }]
      case 'custom':
        return [{ type: 'custom', kind: part.kind, ...optionsOf(part) }]
      case 'file':
        return [filePart(part)]
      case 'reasoning-file': {
        const { mediaType } = part
        return [{ type: 'reasoning-file', mediaType, data: rawData(part.data), ...optionsOf(part) }]
      }
      case 'tool-call': {
        const { toolCallId, toolName, input, providerExecuted } = part
        const executed = providerExecuted === undefined ? {} : { providerExecuted }
        return [{ type: 'tool-call', toolCallId, toolName, input, ...executed, ...optionsOf(part) }]
      }
      case 'tool-result': {
        const { toolCallId, toolName } = part
        const output = toolOutput(part.output)
        return [{ type: 'tool-result', toolCallId, toolName, output, ...optionsOf(part) }]
      }
      case 'tool-approval-request':
        return []
    }
  })
}

function toolContent(message: ToolModelMessage): ContentOf<'tool'> {
  return message.content.flatMap((part): ContentOf<'tool'> => {
    if (part.type === 'tool-result') {
      const { toolCallId, toolName } = part
      const output = toolOutput(part.output)
      return [{ type: 'tool-result', toolCallId, toolName, output, ...optionsOf(part) }]
    }
    if (part.providerExecuted !== true) return []
    const { approvalId, approved, reason } = part
    const why = reason === undefined ? {} : { reason }
    return [{ type: 'tool-approval-response', approvalId, approved, ...why }]
  })
}

function imagePart(part: ImagePart): LanguageModelV4FilePart {
  const { mediaType = 'image', image } = part
  return { type: 'file', mediaType, data: fileData(image), ...optionsOf(part) }
}

function filePart(part: FilePart): LanguageModelV4FilePart {
  const { mediaType, filename, data } = part
  const named = filename === undefined ? {} : { filename }
  return { type: 'file', mediaType, data: fileData(data), ...named, ...optionsOf(part) }
}

function fileData(data: FilePart['data']): SharedV4FileData {
  if (isTagged(data)) {
    return data.type === 'reference' || data.type === 'text' ? data : rawData(data)
  }
  return isProviderReference(data) ? { type: 'reference', reference: data } : rawData(data)
}

/** The forms of file data that say what they are. */
type TaggedFileData = Extract<
  FilePart['data'],
  { readonly type: 'data' | 'url' | 'reference' | 'text' }
>

function isTagged(data: FilePart['data']): data is TaggedFileData {
  return (
    typeof data === 'object' &&
    'type' in data &&
    ['data', 'url', 'reference', 'text'].includes(data.type)
  )
}

type RawData =
  | string
  | Uint8Array
  | ArrayBuffer
  | URL
  | { readonly type: 'data'; readonly data: string | Uint8Array | ArrayBuffer }
  | { readonly type: 'url'; readonly url: URL | string }

/** Bytes or a place. A text that is a URL is taken for one; a data URL for its bytes. */
function rawData(data: RawData): SharedV4FileDataData | SharedV4FileDataUrl {
  if (typeof data === 'string') {
    const url = /^(?:https?|data):/i.test(data) ? parsedUrl(data) : undefined
    return url === undefined ? { type: 'data', data } : urlData(url)
  }
  if (data instanceof URL) return urlData(data)
  if (data instanceof Uint8Array) return { type: 'data', data }
  if (data instanceof ArrayBuffer) return { type: 'data', data: new Uint8Array(data) }
  return rawData(data.type === 'data' ? data.data : new URL(data.url))
}

function parsedUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}

function urlData(url: URL): SharedV4FileDataData | SharedV4FileDataUrl {
  const inline = /^data:[^,]*;base64,(.*)$/s.exec(url.href)
  return inline?.[1] === undefined ? { type: 'url', url } : { type: 'data', data: inline[1] }
}

/** The output as the specification has it: deprecated forms of content become files. */
function toolOutput(output: ToolResultOutput): LanguageModelV4ToolResultOutput {
  if (output.type !== 'content') return output
  return {
    type: 'content',
    value: output.value.map((part) => {
      switch (part.type) {
        case 'text':
          return { type: 'text', text: part.text, ...optionsOf(part) }
        case 'custom':
          return { type: 'custom', ...optionsOf(part) }
        case 'file': {
          const named = part.filename === undefined ? {} : { filename: part.filename }
          const data = fileData(part.data)
          return { type: 'file', mediaType: part.mediaType, data, ...named, ...optionsOf(part) }
        }
        case 'file-data':
        case 'image-data': {
          const data = { type: 'data' as const, data: part.data }
          return { type: 'file', mediaType: part.mediaType, data, ...optionsOf(part) }
        }
        case 'file-url':
        case 'image-url': {
          const given = part.type === 'file-url' ? part.mediaType : undefined
          const mediaType =
            given ?? (part.type === 'image-url' ? 'image' : 'application/octet-stream')
          return { type: 'file', mediaType, data: urlData(new URL(part.url)), ...optionsOf(part) }
        }
        case 'file-id':
        case 'image-file-id': {
          if (typeof part.fileId === 'string') {
            throw configurationInvalid(
              'A file of a tool result must name its provider beside its id.',
            )
          }
          const mediaType = part.type === 'image-file-id' ? 'image' : 'application/octet-stream'
          const data = { type: 'reference' as const, reference: part.fileId }
          return { type: 'file', mediaType, data, ...optionsOf(part) }
        }
        case 'file-reference':
        case 'image-file-reference': {
          const mediaType =
            part.type === 'image-file-reference' ? 'image' : 'application/octet-stream'
          const data = { type: 'reference' as const, reference: part.providerReference }
          return { type: 'file', mediaType, data, ...optionsOf(part) }
        }
      }
    }),
  }
}

function optionsOf<Options>(part: { readonly providerOptions?: Options }): {
  providerOptions?: Options
} {
  return part.providerOptions === undefined ? {} : { providerOptions: part.providerOptions }
}
