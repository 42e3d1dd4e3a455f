// How values stand in columns.
import type { RunStatus, StreamChunk, StreamEnd } from '@holdfast/core'
import type { SqlRow, SqlValue } from './driver.ts'

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

/** A run's status as a number; from 3 on it has ended. */
export function statusNumber(status: RunStatus): number {
  return statuses.indexOf(status)
}

/** The status that a number stands for. */
export function statusOf(value: SqlValue | undefined): RunStatus {
  return pick(statuses, value)
}

/** How a stream ended, as a number. */
export function endNumber(end: StreamEnd): number {
  return ends.indexOf(end)
}

/** How a stream ended, or `undefined` while it is open. */
export function endOf(value: SqlValue | undefined): StreamEnd | undefined {
  return value === null || value === undefined ? undefined : pick(ends, value)
}

function pick<Item>(items: readonly Item[], value: SqlValue | undefined): Item {
  const item = items[numberOf(value)]
  if (item === undefined) throw unexpected(value)
  return item
}

/** A column that holds a number. */
export function numberOf(value: SqlValue | undefined): number {
  if (typeof value === 'number') return value
  throw unexpected(value)
}

/** A column that holds a number or nothing. */
export function optionalNumber(value: SqlValue | undefined): number | undefined {
  return value === null || value === undefined ? undefined : numberOf(value)
}

/** A column that holds text. */
export function textOf(value: SqlValue | undefined): string {
  if (typeof value === 'string') return value
  throw unexpected(value)
}

/** A column that holds bytes. */
export function bytesOf(value: SqlValue | undefined): Uint8Array {
  if (value instanceof Uint8Array) {
    // Some drivers answer with Node's own kind of it, which is told apart by whoever compares.
    return value.constructor === Uint8Array ? value : new Uint8Array(value)
  }
  throw unexpected(value)
}

function unexpected(value: SqlValue | undefined): Error {
  // As SQLite itself would say of a damaged page.
  return Object.assign(new Error(`A column holds ${typeof value}, which it cannot.`), {
    errcode: 11,
  })
}

/** A digest as its 32 bytes. */
export function digestBytes(digest: string): Uint8Array {
  const bytes = new Uint8Array(digest.length / 2)
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = Number.parseInt(digest.slice(index * 2, index * 2 + 2), 16)
  }
  return bytes
}

/** The digest that 32 bytes stand for. */
export function digestText(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
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
  const tags = row['tags']
  if (typeof tags !== 'string') return texts.map((text) => ({ data: text }))
  if (!tags.startsWith(arrayMark)) return texts.map((text) => ({ data: text, tag: tags }))
  const list = JSON.parse(tags.slice(1)) as readonly (string | null)[]
  return texts.map((text, index) => {
    const tag = list[index]
    return { data: text, ...(typeof tag === 'string' ? { tag } : {}) }
  })
}
