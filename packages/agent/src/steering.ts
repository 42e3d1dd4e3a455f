import type { FilePart, TextPart, UserModelMessage } from '@ai-sdk/provider-utils'
import type { JsonObject, JsonValue, RunMessage } from '@holdfast/core'
import type { ModelCallStreamPart } from './model-call-part.ts'
import { isJsonObject } from './plain-json.ts'

/** The part that shows a reader which message was taken up. */
export function steeringPart(message: RunMessage): ModelCallStreamPart {
  return { type: 'steering-message', id: message.id, parts: shownParts(message.body) }
}

/**
 * A user's UI message as the model gets it: its texts and files. Parts of other kinds are left out. A body that is
 * only a text is one text.
 */
export function userMessageFromUi(body: JsonValue): UserModelMessage {
  const content = shownParts(body).flatMap((part): (TextPart | FilePart)[] => {
    const { text, url, mediaType, filename } = part
    if (typeof text === 'string') return text === '' ? [] : [{ type: 'text', text }]
    if (typeof url !== 'string' || typeof mediaType !== 'string') return []
    const named = typeof filename === 'string' ? { filename } : {}
    return [{ type: 'file', mediaType, data: fileData(url), ...named }]
  })
  return { role: 'user', content }
}

function shownParts(body: JsonValue): readonly JsonObject[] {
  if (typeof body === 'string') return [{ type: 'text', text: body }]
  const parts = isJsonObject(body) ? body['parts'] : undefined
  if (!Array.isArray(parts)) return []
  const list: readonly JsonValue[] = parts
  return list
    .filter(isJsonObject)
    .filter((part) => part['type'] === 'text' || part['type'] === 'file')
}

/** Bytes of a data URL, else the place. Kept as JSON: a URL object would not survive a journal. */
function fileData(url: string): FilePart['data'] {
  const inline = /^data:[^,]*;base64,(.*)$/s.exec(url)
  if (inline?.[1] !== undefined) return { type: 'data', data: inline[1] }
  return URL.canParse(url) ? { type: 'url', url: new URL(url) } : { type: 'data', data: url }
}
