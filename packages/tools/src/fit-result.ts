import type { JsonObject, ToolResult } from '@holdfast/core'
import { truncateUtf8, utf8Length } from '@holdfast/json'

const loneSurrogates = /\p{Surrogate}/gu

/** A tool's answer: one text block with one JSON document. */
export function toolResult(document: JsonObject): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(document) }] }
}

/** How many bytes a document has as a result. */
export function documentBytes(document: JsonObject): number {
  return utf8Length(JSON.stringify(document))
}

/** Text for a result: well formed, cut on a code point at so many bytes. */
export function boundedText(text: string, maxBytes: number): string {
  return truncateUtf8(text, maxBytes).replace(loneSurrogates, '\uFFFD')
}

/**
 * How many items from the front fit in a page that has the given bytes left.
 *
 * Each counts with the comma that goes before or after it, so the sum is never short.
 */
export function countThatFits(items: readonly JsonObject[], maxBytes: number): number {
  let left = maxBytes
  for (const [index, item] of items.entries()) {
    left -= documentBytes(item) + 1
    if (left < 0) return index
  }
  return items.length
}
