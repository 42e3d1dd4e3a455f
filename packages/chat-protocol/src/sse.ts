import type { UiChunk } from './chunk.ts'

/** What ends a stream of frames when all has been said. It follows a terminal chunk. */
export const doneFrame = 'data: [DONE]\n\n'

/** A comment that keeps a silent connection alive. */
export const heartbeatFrame = ': keep-alive\n\n'

/** Where a frame stands in its stream. */
export interface FrameOptions {
  /** Written as the frame's `id:`. Absent: no such line. */
  readonly index?: number
}

/** Writes a chunk as one SSE frame. */
export function frameFromChunk(chunk: UiChunk, options: FrameOptions = {}): string {
  return frameFromJson(JSON.stringify(chunk), options)
}

/**
 * Writes a chunk that is JSON already, as a store keeps it, as one SSE frame. Line breaks in it are
 * allowed.
 */
export function frameFromJson(json: string, options: FrameOptions = {}): string {
  const id = options.index === undefined ? '' : `id: ${options.index}\n`
  return `${id}data: ${json.replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n\n`
}

/** Writes an SSE comment; a text of several lines becomes as many comments. */
export function commentFrame(text: string): string {
  return `: ${text.replaceAll(/\r\n|\r|\n/g, '\n: ')}\n\n`
}
