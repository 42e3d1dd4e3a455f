// How values stand in columns, and how they are read from them.
import type { RunStatus, StreamChunk, StreamEnd } from '@holdfast/core'

/** A row as the driver gives it: every value that is not null is text, unless its type is parsed. */
export type SqlRow = Readonly<Record<string, unknown>>

const statuses = [
  'pending',
  'running',
  'interrupted',
  'completed',
  'cancelled',
  'failed',
] as const satisfies readonly RunStatus[]

const ends = [
  'completed',
  'interrupted',
  'cancelled',
  'failed',
] as const satisfies readonly StreamEnd[]

/** What a column holds that it cannot: somebody else has written it, or the database is damaged. */
export class ColumnError extends Error {
  override readonly name = 'ColumnError'
}

/** A run's status as a number; from 3 on it has ended. */
export function statusNumber(status: RunStatus): number {
  return statuses.indexOf(status)
}

/** The status that a number stands for. */
export function statusOf(value: unknown): RunStatus {
  return pick(statuses, value)
}

/** How a stream ended, as a number. */
export function endNumber(end: StreamEnd): number {
  return ends.indexOf(end)
}

/** How a stream ended, or `undefined` while it is open. */
export function endOf(value: unknown): StreamEnd | undefined {
  return value === null || value === undefined ? undefined : pick(ends, value)
}

function pick<Item>(items: readonly Item[], value: unknown): Item {
  const item = items[numberOf(value)]
  if (item === undefined) throw unexpected(value)
  return item
}

/** A column that holds a number: `bigint` comes as text. */
export function numberOf(value: unknown): number {
  if (typeof value === 'number') return value
  const number = typeof value === 'string' && value !== '' ? Number(value) : Number.NaN
  if (!Number.isFinite(number)) throw unexpected(value)
  return number
}

/** A column that holds a number or nothing. */
export function optionalNumber(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : numberOf(value)
}

/** A column that holds text. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw unexpected(value)
}

/** A column that holds text or nothing. */
export function optionalText(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : textOf(value)
}

/** A column that holds a truth. */
export function truthOf(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw unexpected(value)
}

/** A column of bytes, which was asked for in base64. */
export function bytesOf(value: unknown): Uint8Array {
  // A copy of its own: Node's small buffers are windows on a shared one.
  return new Uint8Array(Buffer.from(textOf(value), 'base64'))
}

/** A value that was made as JSON in the database: a list. */
export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw unexpected(value)
}

function unexpected(value: unknown): ColumnError {
  return new ColumnError(`A column holds ${value === null ? 'null' : typeof value}.`)
}

/**
 * Chunks as one text: compact JSON has no line feed, so that lines hold them. If one has, all stand
 * in a JSON array, which no chunk of a line each begins with after the mark.
 */
export function chunksText(chunks: readonly StreamChunk[]): string {
  const texts = chunks.map(({ data }) => data)
  if (texts.some((text) => text.includes('\n') || text.startsWith(arrayMark))) {
    return arrayMark + JSON.stringify(texts)
  }
  return texts.join('\n')
}

/** A character that JSON text cannot begin with. */
const arrayMark = '\u0001'

/** The tags of chunks: nothing if none has one, the tag itself if all have the same, else a JSON array. */
export function tagsText(chunks: readonly StreamChunk[]): string | null {
  const first = chunks[0]?.tag
  const same = chunks.every(({ tag }) => tag === first)
  if (same && first === undefined) return null
  if (same && first !== undefined && !first.startsWith(arrayMark)) return first
  return arrayMark + JSON.stringify(chunks.map(({ tag }) => tag ?? null))
}

/** The chunks of a row. */
export function chunksOf(row: SqlRow): readonly StreamChunk[] {
  const data = textOf(row['data'])
  const texts = data.startsWith(arrayMark)
    ? (JSON.parse(data.slice(1)) as readonly string[])
    : data.split('\n')
  const tags = optionalText(row['tags'])
  if (tags === undefined) return texts.map((text) => ({ data: text }))
  if (!tags.startsWith(arrayMark)) return texts.map((text) => ({ data: text, tag: tags }))
  const list = JSON.parse(tags.slice(1)) as readonly (string | null)[]
  return texts.map((text, index) => {
    const tag = list[index]
    return { data: text, ...(typeof tag === 'string' ? { tag } : {}) }
  })
}
