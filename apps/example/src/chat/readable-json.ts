import { listOf, parsedJson, recordOf, textOf } from '../api/json-reader.ts'

const maxLength = 20_000

/** A tool's input or output as text that a person can read: indented JSON, plain text as it is, cut when it is very long. */
export function readableJson(value: unknown): string {
  const inner = unwrapped(value)
  const text = typeof inner === 'string' ? inner : (JSON.stringify(inner, undefined, 2) ?? '')
  return text.length > maxLength
    ? `${text.slice(0, maxLength)}\n… (${text.length} characters)`
    : text
}

/** The document inside the text block that tools answer with, and inside a text that is JSON. */
function unwrapped(value: unknown): unknown {
  if (typeof value === 'string') {
    const json = parsedJson(value)
    return typeof json === 'object' && json !== null ? json : value
  }
  const content = listOf(recordOf(value)?.['content'])
  const text = content.length === 1 ? textOf(recordOf(content[0])?.['text']) : undefined
  return text === undefined ? value : unwrapped(text)
}
