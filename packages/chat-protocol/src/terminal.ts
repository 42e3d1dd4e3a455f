import type { AbortChunk, ErrorChunk, FinishChunk, UiChunk } from './chunk.ts'

/**
 * Whether no chunk of the same stream can matter after this one: `finish`, `abort` or `error`.
 *
 * An `error` chunk counts because a page stops reading at it. A model call that failed and is tried
 * again is told by `reset-step`, never by `error`.
 */
export function isTerminalChunk(chunk: UiChunk): chunk is FinishChunk | AbortChunk | ErrorChunk {
  return chunk.type === 'finish' || chunk.type === 'abort' || chunk.type === 'error'
}
