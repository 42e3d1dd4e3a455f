import type {
  ToolApprovalRequestChunk,
  ToolInputAvailableChunk,
  ToolInputErrorChunk,
  ToolInputStartChunk,
  UiChunk,
} from './chunk.ts'

/** What a reader shows of a message, in order. */
export type RenderedPart =
  | { readonly type: 'step-start' }
  | {
      readonly type: 'text' | 'reasoning'
      readonly text: string
      readonly state: 'streaming' | 'done'
    }
  | RenderedTool
  | { readonly type: `data-${string}`; readonly id?: string; readonly data: unknown }
  | { readonly type: 'other'; readonly chunk: UiChunk }

/** A tool call as a reader shows it. */
export interface RenderedTool {
  readonly type: 'tool'
  readonly toolCallId: string
  readonly toolName: string
  readonly state:
    | 'input-streaming'
    | 'input-available'
    | 'approval-requested'
    | 'approval-responded'
    | 'output-available'
    | 'output-error'
    | 'output-denied'
  readonly inputText?: string
  readonly input?: unknown
  readonly output?: unknown
  readonly preliminary?: boolean
  readonly errorText?: string
  readonly approval?: {
    readonly id: string
    readonly approved?: boolean
    readonly reason?: string
  }
}

/** A message as a reader has it after some chunks. */
export interface RenderedMessage {
  readonly messageId?: string
  readonly parts: readonly RenderedPart[]
  readonly status: 'streaming' | 'finished' | 'aborted' | 'failed'
  readonly finishReason?: string
  readonly errorText?: string
  /** Chunks that belong to no part that was seen to begin. A page fails at the first of them. */
  readonly orphans: number
}

/**
 * Renders chunks to a message as a page does, so that what two readers have can be compared.
 *
 * Deterministic, and pure: equal chunks give equal messages. `reset-step` takes back the parts
 * since the last `start-step`. Metadata, titles and provider data are left out; transient data is
 * not part of a message.
 */
export function renderMessage(chunks: Iterable<UiChunk>): RenderedMessage {
  const rendering = new Rendering()
  for (const chunk of chunks) rendering.add(chunk)
  return rendering.message()
}

type Slot = { part: RenderedPart }

class Rendering {
  private slots: Slot[] = []
  private readonly openParts = new Map<string, Slot>()
  private head: Omit<RenderedMessage, 'parts' | 'orphans'> = { status: 'streaming' }
  private orphans = 0

  message(): RenderedMessage {
    return { ...this.head, parts: this.slots.map((slot) => slot.part), orphans: this.orphans }
  }

  add(chunk: UiChunk): void {
    switch (chunk.type) {
      case 'start':
        if (chunk.messageId !== undefined) this.head = { ...this.head, messageId: chunk.messageId }
        return
      case 'finish':
        this.head = {
          ...this.head,
          status: 'finished',
          ...(chunk.finishReason === undefined ? {} : { finishReason: chunk.finishReason }),
        }
        return
      case 'abort':
        this.head = { ...this.head, status: 'aborted' }
        return
      case 'error':
        this.head = { ...this.head, status: 'failed', errorText: chunk.errorText }
        return
      case 'start-step':
        this.append({ type: 'step-start' })
        return
      case 'reset-step':
        this.openParts.clear()
        this.slots = this.slots.slice(0, this.stepBegin())
        return
      case 'text-start':
      case 'reasoning-start': {
        const type = chunk.type === 'text-start' ? 'text' : 'reasoning'
        this.openParts.set(
          `${type} ${chunk.id}`,
          this.append({ type, text: '', state: 'streaming' }),
        )
        return
      }
      case 'text-delta':
      case 'text-end':
        this.addToText('text', chunk.id, chunk.type === 'text-delta' ? chunk.delta : undefined)
        return
      case 'reasoning-delta':
      case 'reasoning-end':
        this.addToText(
          'reasoning',
          chunk.id,
          chunk.type === 'reasoning-delta' ? chunk.delta : undefined,
        )
        return
      case 'tool-input-start':
      case 'tool-input-available':
      case 'tool-input-error':
        this.beginTool(chunk)
        return
      case 'tool-input-delta':
        this.changeTool(chunk.toolCallId, (tool) => ({
          ...tool,
          inputText: (tool.inputText ?? '') + chunk.inputTextDelta,
        }))
        return
      case 'tool-approval-request':
        this.changeTool(chunk.toolCallId, (tool) => withApproval(tool, chunk))
        return
      case 'tool-approval-response':
        this.answerApproval(chunk.approvalId, chunk.approved, chunk.reason)
        return
      case 'tool-output-available':
        this.changeTool(chunk.toolCallId, (tool) => ({
          ...tool,
          state: 'output-available',
          output: chunk.output,
          preliminary: chunk.preliminary === true,
        }))
        return
      case 'tool-output-error':
        this.changeTool(chunk.toolCallId, (tool) => ({
          ...tool,
          state: 'output-error',
          errorText: chunk.errorText,
        }))
        return
      case 'tool-output-denied':
        this.changeTool(chunk.toolCallId, (tool) => ({ ...tool, state: 'output-denied' }))
        return
      case 'finish-step':
      case 'message-metadata':
        return
      case 'source-url':
      case 'source-document':
      case 'file':
      case 'reasoning-file':
      case 'custom':
      case 'steering-message':
        this.append({ type: 'other', chunk })
        return
      default:
        if (chunk.type.startsWith('data-')) this.addData(chunk)
    }
  }

  private append(part: RenderedPart): Slot {
    const slot = { part }
    this.slots.push(slot)
    return slot
  }

  /** The position after the last `step-start`, or 0. */
  private stepBegin(): number {
    return this.slots.findLastIndex((slot) => slot.part.type === 'step-start') + 1
  }

  private addToText(type: 'text' | 'reasoning', id: string, delta: string | undefined): void {
    const slot = this.openParts.get(`${type} ${id}`)
    if (slot === undefined || slot.part.type !== type) {
      this.orphans += 1
      return
    }
    if (delta === undefined) {
      slot.part = { ...slot.part, state: 'done' }
      this.openParts.delete(`${type} ${id}`)
    } else {
      slot.part = { ...slot.part, text: slot.part.text + delta }
    }
  }

  private beginTool(
    chunk: ToolInputStartChunk | ToolInputAvailableChunk | ToolInputErrorChunk,
  ): void {
    const part = toolFromInput(chunk)
    const slot = this.slots
      .slice(this.stepBegin())
      .find((one) => one.part.type === 'tool' && one.part.toolCallId === chunk.toolCallId)
    if (slot === undefined) this.append(part)
    else slot.part = part
  }

  /** The latest call of that id: one in the current step comes after those of earlier steps. */
  private changeTool(toolCallId: string, change: (tool: RenderedTool) => RenderedTool): void {
    const slot = this.slots.findLast(
      (one) => one.part.type === 'tool' && one.part.toolCallId === toolCallId,
    )
    if (slot?.part.type === 'tool') slot.part = change(slot.part)
    else this.orphans += 1
  }

  private answerApproval(approvalId: string, approved: boolean, reason: string | undefined): void {
    const slot = this.slots.find(
      (one) => one.part.type === 'tool' && one.part.approval?.id === approvalId,
    )
    if (slot?.part.type !== 'tool') {
      this.orphans += 1
      return
    }
    slot.part = {
      ...slot.part,
      state: 'approval-responded',
      approval: { id: approvalId, approved, ...(reason === undefined ? {} : { reason }) },
    }
  }

  private addData(chunk: Extract<UiChunk, { type: `data-${string}` }>): void {
    if (chunk.transient === true) return
    const { type, id, data } = chunk
    const part = { type, ...(id === undefined ? {} : { id }), data }
    const slot =
      id === undefined
        ? undefined
        : this.slots.find((one) => one.part.type === type && 'id' in one.part && one.part.id === id)
    if (slot === undefined) this.append(part)
    else slot.part = part
  }
}

function toolFromInput(
  chunk: ToolInputStartChunk | ToolInputAvailableChunk | ToolInputErrorChunk,
): RenderedTool {
  const { toolCallId, toolName } = chunk
  switch (chunk.type) {
    case 'tool-input-start':
      return { type: 'tool', toolCallId, toolName, state: 'input-streaming' }
    case 'tool-input-available':
      return { type: 'tool', toolCallId, toolName, state: 'input-available', input: chunk.input }
    case 'tool-input-error':
      return {
        type: 'tool',
        toolCallId,
        toolName,
        state: 'output-error',
        input: chunk.input,
        errorText: chunk.errorText,
      }
  }
}

function withApproval(tool: RenderedTool, chunk: ToolApprovalRequestChunk): RenderedTool {
  return { ...tool, state: 'approval-requested', approval: { id: chunk.approvalId } }
}
