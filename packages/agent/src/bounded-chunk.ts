import { Limits } from '@holdfast/core'
import type { JsonObject, JsonValue } from '@holdfast/core'
import { utf8Length } from '@holdfast/json'

/** Text of one delta. UTF-16 units: at most three bytes each, and six as an escape. */
const deltaUnits = Math.floor(Limits.chunkBytes / 8)

/**
 * A chunk as a store takes it: one that is over the limit is divided where it is a text, and else shown without its content. What
 * the model gets is not touched by this.
 */
export function boundedChunks(chunk: JsonObject): readonly JsonObject[] {
  const bytes = bytesOver(chunk)
  if (bytes === undefined) return [chunk]
  const omitted = { omitted: true, bytes }
  const { type } = chunk
  switch (typeof type === 'string' ? type : '') {
    case 'text-delta':
    case 'reasoning-delta':
      return pieces(chunk, 'delta')
    case 'tool-input-delta':
      return pieces(chunk, 'inputTextDelta')
    case 'tool-input-available':
    case 'tool-input-error':
      return [{ ...chunk, input: omitted }]
    case 'tool-output-available':
      return [{ ...chunk, output: omitted }]
    case 'file':
    case 'reasoning-file': {
      const { mediaType = '' } = chunk
      return [{ type: 'data-omitted', data: { kind: 'file', mediaType, bytes } }]
    }
    default:
      return [{ type: 'data-omitted', data: { kind: chunk['type'] ?? 'chunk', bytes } }]
  }
}

function bytesOver(chunk: JsonObject): number | undefined {
  const text = JSON.stringify(chunk)
  if (text.length * 3 <= Limits.chunkBytes) return undefined
  const bytes = utf8Length(text)
  return bytes > Limits.chunkBytes ? bytes : undefined
}

function pieces(chunk: JsonObject, name: string): readonly JsonObject[] {
  const text: JsonValue = chunk[name] ?? ''
  if (typeof text !== 'string') return [chunk]
  const list: JsonObject[] = []
  for (let start = 0; start < text.length;) {
    let end = Math.min(text.length, start + deltaUnits)
    const last = text.charCodeAt(end - 1)
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1
    list.push({ ...chunk, [name]: text.slice(start, end) })
    start = end
  }
  return list
}
