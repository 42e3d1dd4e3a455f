import type { UiChunk } from './chunk.ts'

/** Whether a chunk belongs to a part that the reader has seen begin. */
export type OrphanFilter = (chunk: UiChunk) => boolean

/**
 * Creates a filter for a reader that joined a stream in the middle, at a place the server did not
 * choose.
 *
 * Refuses deltas and ends of text and reasoning, and what concerns a tool call or an approval, when
 * their beginning was not in this stream: a page cannot render them. `reset-step` forgets what was
 * seen. `onFirstDrop` is called once, at the first refusal. Not needed against a server that goes
 * back to the start of a part; then it refuses nothing.
 */
export function createOrphanFilter(onFirstDrop?: (chunk: UiChunk) => void): OrphanFilter {
  const seen = new Set<string>()
  let dropped = false

  return (chunk) => {
    if (belongs(chunk, seen)) return true
    if (!dropped) onFirstDrop?.(chunk)
    dropped = true
    return false
  }
}

function belongs(chunk: UiChunk, seen: Set<string>): boolean {
  switch (chunk.type) {
    case 'text-start':
      seen.add(`text ${chunk.id}`)
      return true
    case 'reasoning-start':
      seen.add(`reasoning ${chunk.id}`)
      return true
    case 'tool-input-start':
    case 'tool-input-available':
    case 'tool-input-error':
      seen.add(`tool ${chunk.toolCallId}`)
      return true
    case 'text-delta':
    case 'text-end':
      return seen.has(`text ${chunk.id}`)
    case 'reasoning-delta':
    case 'reasoning-end':
      return seen.has(`reasoning ${chunk.id}`)
    case 'tool-input-delta':
    case 'tool-output-available':
    case 'tool-output-error':
    case 'tool-output-denied':
      return seen.has(`tool ${chunk.toolCallId}`)
    case 'tool-approval-request':
      if (!seen.has(`tool ${chunk.toolCallId}`)) return false
      seen.add(`approval ${chunk.approvalId}`)
      return true
    case 'tool-approval-response':
      return seen.has(`approval ${chunk.approvalId}`)
    case 'reset-step':
      seen.clear()
      return true
    default:
      return true
  }
}
