import type { UiChunk } from '@holdfast/chat-protocol'

/** A part of a UI message, as AI SDK 7 has it. */
export interface UiPart {
  readonly type: string
  readonly [field: string]: unknown
}

/** An assistant's message as AI SDK 7's `useChat` holds it. */
export interface UiAssistantMessage {
  readonly id: string
  readonly role: 'assistant'
  readonly metadata?: unknown
  readonly parts: readonly UiPart[]
}

type MutablePart = { type: string; [field: string]: unknown }

/**
 * Makes the message that a page has after these chunks: the same parts, in AI SDK 7's own shape, so that it can be given to `useChat`
 * as an initial message. (`renderMessage` of the protocol is for comparing readers and leaves out what a page keeps.)
 *
 * Chunks of several streams of one run follow each other. What belongs to no part that began is left out. A tool's input that is not
 * whole yet is absent.
 */
export function uiMessageFromChunks(id: string, chunks: Iterable<UiChunk>): UiAssistantMessage {
  const building = new MessageBuilding()
  for (const chunk of chunks) building.add(chunk)
  return building.message(id)
}

class MessageBuilding {
  private parts: MutablePart[] = []
  private readonly open = new Map<string, MutablePart>()
  private metadata: unknown

  message(id: string): UiAssistantMessage {
    return {
      id,
      role: 'assistant',
      ...(this.metadata === undefined ? {} : { metadata: this.metadata }),
      parts: this.parts.map(withoutAbsent),
    }
  }

  add(chunk: UiChunk): void {
    switch (chunk.type) {
      case 'start':
      case 'finish':
      case 'message-metadata':
        this.metadata = mergeMetadata(this.metadata, chunk.messageMetadata)
        return
      case 'abort':
      case 'error':
      case 'finish-step':
        return
      case 'start-step':
        this.parts.push({ type: 'step-start' })
        return
      case 'reset-step':
        this.open.clear()
        this.parts = this.parts.slice(0, this.stepBegin())
        return
      case 'text-start':
      case 'reasoning-start': {
        const type = chunk.type === 'text-start' ? 'text' : 'reasoning'
        const part: MutablePart = {
          type,
          ...(type === 'reasoning' ? { id: chunk.id } : {}),
          text: '',
          providerMetadata: chunk.providerMetadata,
          state: 'streaming',
        }
        this.open.set(`${type} ${chunk.id}`, part)
        this.parts.push(part)
        return
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const part = this.open.get(openKey(chunk.type, chunk.id))
        if (part === undefined) return
        part['text'] = `${String(part['text'])}${chunk.delta}`
        part['providerMetadata'] = chunk.providerMetadata ?? part['providerMetadata']
        return
      }
      case 'text-end':
      case 'reasoning-end': {
        const key = openKey(chunk.type, chunk.id)
        const part = this.open.get(key)
        if (part === undefined) return
        part['state'] = 'done'
        if (chunk.type === 'text-end' && chunk.citations !== undefined) {
          part['citations'] = chunk.citations
        }
        part['providerMetadata'] = chunk.providerMetadata ?? part['providerMetadata']
        this.open.delete(key)
        return
      }
      case 'tool-input-start':
        this.changeTool(chunk.toolCallId, chunk.toolName, chunk.dynamic === true, {
          state: 'input-streaming',
          inputEncoding: chunk.inputEncoding,
          input: undefined,
          providerExecuted: chunk.providerExecuted,
          title: chunk.title,
          toolMetadata: chunk.toolMetadata,
          callProviderMetadata: chunk.providerMetadata,
        })
        return
      case 'tool-input-delta':
        return
      case 'tool-input-available':
        this.changeTool(chunk.toolCallId, chunk.toolName, chunk.dynamic === true, {
          state: 'input-available',
          inputEncoding: undefined,
          input: chunk.input,
          providerExecuted: chunk.providerExecuted,
          title: chunk.title,
          toolMetadata: chunk.toolMetadata,
          callProviderMetadata: chunk.providerMetadata,
        })
        return
      case 'tool-input-error':
        this.changeTool(chunk.toolCallId, chunk.toolName, chunk.dynamic === true, {
          state: 'output-error',
          inputEncoding: undefined,
          input: chunk.input,
          errorText: chunk.errorText,
          providerExecuted: chunk.providerExecuted,
          toolMetadata: chunk.toolMetadata,
          resultProviderMetadata: chunk.providerMetadata,
        })
        return
      case 'tool-approval-request': {
        const part = this.toolOf(chunk.toolCallId)
        if (part === undefined) return
        part['state'] = 'approval-requested'
        part['approval'] = withoutAbsent({
          id: chunk.approvalId,
          descriptor: chunk.approvalDescriptor ?? undefined,
          inputSchemaInput: chunk.inputSchemaInput,
          requestReason: chunk.reason,
          isAutomatic: chunk.isAutomatic === true ? true : undefined,
          signature: chunk.signature,
        })
        return
      }
      case 'tool-approval-response': {
        const part = this.parts.find((one) => approvalIdOf(one) === chunk.approvalId)
        if (part === undefined) return
        answerApproval(part, chunk)
        return
      }
      case 'tool-output-available': {
        const part = this.toolOf(chunk.toolCallId)
        if (part === undefined) return
        settleTool(part, 'output-available', chunk)
        part['output'] = chunk.output
        part['preliminary'] = chunk.preliminary
        part['errorText'] = undefined
        return
      }
      case 'tool-output-error': {
        const part = this.toolOf(chunk.toolCallId)
        if (part === undefined) return
        settleTool(part, 'output-error', chunk)
        part['output'] = undefined
        part['preliminary'] = undefined
        part['errorText'] = chunk.errorText
        return
      }
      case 'tool-output-denied': {
        const part = this.toolOf(chunk.toolCallId)
        if (part !== undefined) part['state'] = 'output-denied'
        return
      }
      case 'source-url':
      case 'source-document':
      case 'file':
      case 'reasoning-file':
      case 'custom':
      case 'steering-message':
        this.parts.push({ ...chunk })
        return
      default:
        if (chunk.type.startsWith('data-')) this.addData(chunk)
    }
  }

  private stepBegin(): number {
    return this.parts.findLastIndex((part) => part.type === 'step-start') + 1
  }

  private changeTool(
    toolCallId: string,
    toolName: string,
    isDynamic: boolean,
    changes: Readonly<Record<string, unknown>> & { readonly state: string },
  ): void {
    const known = this.parts
      .slice(this.stepBegin())
      .find((part) => isTool(part) && part['toolCallId'] === toolCallId)
    if (known === undefined) {
      const name = isDynamic ? { type: 'dynamic-tool', toolName } : { type: `tool-${toolName}` }
      this.parts.push({ ...name, toolCallId, ...changes })
      return
    }
    // A title or metadata that is not told again stays.
    for (const [field, value] of Object.entries(changes)) {
      if (value !== undefined || !keptFields.has(field)) known[field] = value
    }
  }

  /** The latest call of that id: one in the current step comes after those of earlier steps. */
  private toolOf(toolCallId: string): MutablePart | undefined {
    return this.parts.findLast((part) => isTool(part) && part['toolCallId'] === toolCallId)
  }

  private addData(chunk: Extract<UiChunk, { readonly type: `data-${string}` }>): void {
    if (chunk.transient === true) return
    const { type, id, data } = chunk
    const known =
      id === undefined
        ? undefined
        : this.parts.find((part) => part.type === type && part['id'] === id)
    if (known === undefined) this.parts.push({ type, id, data })
    else known['data'] = data
  }
}

const keptFields: ReadonlySet<string> = new Set([
  'title',
  'toolMetadata',
  'providerExecuted',
  'callProviderMetadata',
  'resultProviderMetadata',
])

/** Whether a part is a tool call. */
export function isTool(part: { readonly type: string }): boolean {
  return part.type === 'dynamic-tool' || part.type.startsWith('tool-')
}

/** The id of the approval that a part asks for or had. */
export function approvalIdOf(part: UiPart): string | undefined {
  const approval = part['approval']
  if (typeof approval !== 'object' || approval === null || !('id' in approval)) return undefined
  return typeof approval.id === 'string' ? approval.id : undefined
}

function answerApproval(
  part: MutablePart,
  chunk: Extract<UiChunk, { readonly type: 'tool-approval-response' }>,
): void {
  part['state'] = 'approval-responded'
  part['approval'] = withoutAbsent({
    ...(part['approval'] as object),
    approved: chunk.approved,
    reason: chunk.reason,
  })
  if (chunk.providerExecuted !== undefined) part['providerExecuted'] = chunk.providerExecuted
  if (chunk.providerMetadata !== undefined) part['callProviderMetadata'] = chunk.providerMetadata
}

function settleTool(
  part: MutablePart,
  state: 'output-available' | 'output-error',
  chunk: Extract<UiChunk, { readonly type: 'tool-output-available' | 'tool-output-error' }>,
): void {
  part['state'] = state
  part['inputEncoding'] = undefined
  if (chunk.providerExecuted !== undefined) part['providerExecuted'] = chunk.providerExecuted
  if (chunk.toolMetadata !== undefined) part['toolMetadata'] = chunk.toolMetadata
  if (chunk.providerMetadata !== undefined) part['resultProviderMetadata'] = chunk.providerMetadata
}

function openKey(type: string, id: string): string {
  return `${type.startsWith('text-') ? 'text' : 'reasoning'} ${id}`
}

function withoutAbsent<Fields extends object>(fields: Fields): Fields {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(kept) as Fields
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Objects are merged at all depths, as a page does; anything else is replaced. */
function mergeMetadata(before: unknown, added: unknown): unknown {
  if (added === undefined || added === null) return before
  if (!isPlain(before) || !isPlain(added)) return added
  const merged: Record<string, unknown> = { ...before }
  for (const [key, value] of Object.entries(added)) {
    if (key === '__proto__') continue
    merged[key] = isPlain(value) && isPlain(merged[key]) ? mergeMetadata(merged[key], value) : value
  }
  return merged
}
