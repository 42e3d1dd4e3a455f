/** A JSON object whose fields are not known yet. */
export type JsonRecord = Readonly<Record<string, unknown>>

/** The value as an object, or `undefined` when it is none. */
export function recordOf(value: unknown): JsonRecord | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonRecord)
    : undefined
}

/** The value as an array; an empty one when it is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The value if it is a text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The value if it is a finite number. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** A time in milliseconds since the epoch, from such a number or from RFC 3339. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value !== 'string') return numberOf(value)
  const time = Date.parse(value)
  return Number.isNaN(time) ? undefined : time
}

/** The JSON of a text, or `undefined` when it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
