import type { JsonObject, JsonValue } from '@holdfast/core'
import { isJsonObject, truncateUtf8 } from '@holdfast/json'

const titleBytes = 120

/** A chat's title: the beginning of its first message's text, on one line. */
export function chatTitle(message: JsonObject | undefined): string {
  const parts: JsonValue = message?.['parts'] ?? []
  const texts = Array.isArray(parts) ? (parts as readonly JsonValue[]) : []
  const text = texts
    .map((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return text === '' ? 'New chat' : truncateUtf8(text, titleBytes)
}
