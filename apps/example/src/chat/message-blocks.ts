import { getToolOrDynamicToolName, isToolUIPart, type UIMessage } from 'ai'
import type { ToolStage } from './tool-title.ts'

/** A tool call as the page shows it. */
export interface ToolView {
  readonly kind: 'tool'
  readonly key: string
  readonly callId: string
  readonly name: string
  readonly input: unknown
  readonly stage: ToolStage
  readonly output?: unknown
  readonly error?: string
  /** Somebody is asked whether it may run. */
  readonly approval?: { readonly id: string; readonly approved?: boolean; readonly reason?: string }
}

/** A piece of an answer, in order. */
export type AnswerPiece =
  | ToolView
  | {
      readonly kind: 'text' | 'reasoning'
      readonly key: string
      readonly text: string
      readonly isOpen: boolean
    }
  | {
      readonly kind: 'file'
      readonly key: string
      readonly name: string
      readonly url: string
      readonly mediaType: string
    }

/** What the log shows, in order: who said what. */
export type LogBlock =
  | {
      readonly kind: 'person'
      readonly key: string
      readonly messageId: string
      readonly text: string
      readonly files: readonly string[]
    }
  | {
      readonly kind: 'answer'
      readonly key: string
      readonly messageId: string
      readonly pieces: readonly AnswerPiece[]
      readonly isLastOfMessage: boolean
    }

type Part = UIMessage['parts'][number]

/**
 * Puts messages in the order in which a person reads them.
 *
 * What somebody said while an answer was being written stands where the answer took it up, once: an answer is cut there, and the
 * same message is not shown again beside it.
 */
export function logBlocks(messages: readonly UIMessage[]): readonly LogBlock[] {
  const steered = new Set(messages.flatMap(steeredIds))
  return messages.flatMap((message): readonly LogBlock[] => {
    switch (message.role) {
      case 'user':
        return steered.has(message.id) ? [] : [personBlock(message.id, message.parts)]
      case 'assistant':
        return answerBlocks(message)
      case 'system':
        return []
    }
  })
}

/** The ids of what was said while a message was being written. */
export function steeredIds(message: UIMessage): readonly string[] {
  return message.parts.flatMap((part) => (part.type === 'steering-message' ? [part.id] : []))
}

/** The approvals that a message waits for. */
export function openApprovals(message: UIMessage | undefined): readonly string[] {
  if (message?.role !== 'assistant') return []
  return message.parts.flatMap((part) =>
    isToolUIPart(part) && part.state === 'approval-requested' ? [part.approval.id] : [],
  )
}

function answerBlocks(message: UIMessage): readonly LogBlock[] {
  const blocks: LogBlock[] = []
  let pieces: AnswerPiece[] = []

  function close(isLastOfMessage: boolean): void {
    if (pieces.length === 0 && !isLastOfMessage) return
    const key = `${message.id}/${blocks.length}`
    blocks.push({ kind: 'answer', key, messageId: message.id, pieces, isLastOfMessage })
    pieces = []
  }

  for (const [index, part] of message.parts.entries()) {
    if (part.type === 'steering-message') {
      close(false)
      blocks.push(personBlock(part.id, part.parts))
    } else {
      const piece = pieceFrom(part, `${message.id}:${index}`)
      if (piece !== undefined) pieces.push(piece)
    }
  }
  close(true)
  return blocks
}

function personBlock(messageId: string, parts: readonly Part[]): LogBlock {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
  const files = parts.flatMap((part) =>
    part.type === 'file' ? [part.filename ?? part.mediaType] : [],
  )
  return { kind: 'person', key: messageId, messageId, text, files }
}

function pieceFrom(part: Part, key: string): AnswerPiece | undefined {
  if (isToolUIPart(part)) return toolFrom(part, key)
  if (part.type === 'text' || part.type === 'reasoning') {
    if (part.text === '') return undefined
    return { kind: part.type, key, text: part.text, isOpen: part.state === 'streaming' }
  }
  if (part.type !== 'file') return undefined
  const { filename, mediaType, url } = part
  return { kind: 'file', key, name: filename ?? mediaType, url, mediaType }
}

type ToolPart = Extract<Part, { readonly toolCallId: string }>

function toolFrom(part: ToolPart, key: string): ToolView {
  const { approval } = part
  return {
    kind: 'tool',
    key,
    callId: part.toolCallId,
    name: getToolOrDynamicToolName(part),
    input: part.input,
    stage: stageOf(part),
    ...(part.state === 'output-available' ? { output: part.output } : {}),
    ...(part.state === 'output-error' ? { error: part.errorText } : {}),
    ...(approval === undefined
      ? {}
      : {
          approval: {
            id: approval.id,
            ...(approval.approved === undefined ? {} : { approved: approval.approved }),
            ...(approval.reason === undefined ? {} : { reason: approval.reason }),
          },
        }),
  }
}

function stageOf(part: ToolPart): ToolStage {
  switch (part.state) {
    case 'input-streaming':
    case 'input-available':
      return 'running'
    case 'approval-requested':
      return 'asking'
    case 'approval-responded':
      return part.approval.approved ? 'running' : 'denied'
    case 'output-available':
      return 'done'
    case 'output-error':
      return 'failed'
    case 'output-denied':
      return 'denied'
  }
}

/** How many tool calls have come to an end. */
export function finishedToolCount(messages: readonly UIMessage[]): number {
  let count = 0
  for (const { parts } of messages) {
    for (const part of parts) {
      if (isToolUIPart(part) && ['done', 'failed', 'denied'].includes(stageOf(part))) count += 1
    }
  }
  return count
}
