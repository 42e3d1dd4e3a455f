// Where a reader may begin.
//
// A reader that begins at index s renders only what it sees begin. So s is safe when nothing is
// open there: no text or reasoning part without its end, no tool call without its last word. Then,
// whatever comes, every part it renders equals that part of the whole. The renderable start of an
// index is the greatest safe one that is not above it.
//
// R1. Nothing is open at a renderable start, so a tracker can begin anew at any of them.
// R2. The renderable start of an index depends only on the chunks before it: it never changes once
//     these are stored.
// R3. A tool call is open until its final output, error or denial; one whose input was wrong, until
//     its step has finished.
// R4. `reset-step` closes every text and reasoning part, and the tool calls of the step that it
//     takes back.

import type { UiChunk } from './chunk.ts'

/**
 * Follows a stream forwards and knows the renderable start of each index, in constant time a chunk.
 */
export interface StartTracker {
  /** The index that the next chunk will have. */
  readonly nextIndex: number
  /** The renderable start of `nextIndex`. */
  readonly start: number
  /**
   * Takes the next chunk and returns the renderable start of its index: what a store keeps beside
   * the chunk.
   */
  push(chunk: UiChunk): number
}

/**
 * Creates a tracker at an index where nothing is open: 0, or a renderable start (to continue after
 * a crash, replay from there).
 */
export function createStartTracker(at = 0): StartTracker {
  const open = new Map<string, OpenPart>()
  let nextIndex = at
  let start = at

  return {
    get nextIndex() {
      return nextIndex
    },
    get start() {
      return start
    },
    push(chunk) {
      const before = start
      follow(open, chunk)
      nextIndex += 1
      if (open.size === 0) start = nextIndex
      return before
    },
  }
}

/**
 * The greatest index not above `from` at which nothing is open, so that a stream read from it renders
 * every part as the whole stream does, whatever follows.
 *
 * `from` above the number of chunks counts as that number, a negative one as 0. Looks at all chunks
 * before `from`; a store that keeps a {@link StartTracker}'s answer beside each chunk has it in one
 * look-up.
 */
export function renderableStart(chunks: readonly UiChunk[], from: number): number {
  const tracker = createStartTracker()
  for (const chunk of chunks.slice(0, Math.max(0, from))) tracker.push(chunk)
  return tracker.start
}

type OpenPart = 'text' | 'tool' | 'earlier-tool' | 'faulty-tool'

function follow(open: Map<string, OpenPart>, chunk: UiChunk): void {
  switch (chunk.type) {
    case 'text-start':
    case 'reasoning-start':
    case 'text-delta':
    case 'reasoning-delta':
      open.set(partKey(chunk.type, chunk.id), 'text')
      return
    case 'text-end':
    case 'reasoning-end':
      open.delete(partKey(chunk.type, chunk.id))
      return
    case 'tool-input-start':
    case 'tool-input-available':
      open.set(toolKey(chunk.toolCallId), 'tool')
      return
    case 'tool-input-error':
      open.set(toolKey(chunk.toolCallId), 'faulty-tool')
      return
    case 'tool-output-available':
      if (chunk.preliminary !== true) open.delete(toolKey(chunk.toolCallId))
      return
    case 'tool-output-error':
    case 'tool-output-denied':
      open.delete(toolKey(chunk.toolCallId))
      return
    case 'start-step':
      settleFaultyTools(open)
      for (const [key, part] of open) if (part === 'tool') open.set(key, 'earlier-tool')
      return
    case 'finish-step':
      settleFaultyTools(open)
      return
    case 'reset-step':
      for (const [key, part] of open) if (part !== 'earlier-tool') open.delete(key)
      return
    default:
  }
}

function settleFaultyTools(open: Map<string, OpenPart>): void {
  for (const [key, part] of open) if (part === 'faulty-tool') open.delete(key)
}

function partKey(type: string, id: string): string {
  return `${type.startsWith('text-') ? 'text' : 'reasoning'} ${id}`
}

function toolKey(toolCallId: string): string {
  return `tool ${toolCallId}`
}
