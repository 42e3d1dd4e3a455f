import { RefusedError } from './browser.ts'
import type { ShownMessage } from './evidence.ts'
import { isRecord } from './json.ts'

/** Reads the messages of a chat from the server's JSON. */
export function shownMessages(body: unknown): readonly ShownMessage[] {
  if (!isRecord(body) || !Array.isArray(body['messages'])) {
    throw new RefusedError(`no messages: ${JSON.stringify(body)}`)
  }
  return body['messages'].filter(isRecord).map((message) => {
    const parts = Array.isArray(message['parts']) ? message['parts'].filter(isRecord) : []
    return {
      id: String(message['id']),
      role: String(message['role']),
      text: parts.map(({ type, text }) => (type === 'text' ? String(text) : '')).join(''),
      steered: parts.flatMap(({ type, id }) => (type === 'steering-message' ? [String(id)] : [])),
    }
  })
}
