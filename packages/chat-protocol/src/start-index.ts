import { ChatProtocolError } from './error.ts'

// Chunks of a stream are numbered from 0. A cursor is the index of the next chunk a reader wants,
// so it equals the number of chunks the reader has. A negative start index counts from the tail: -1
// is the last chunk.

/**
 * Reads a `startIndex` query parameter; absent (`null` or `undefined`) is 0, the whole stream.
 *
 * Accepts decimal safe integers of either sign and nothing else: no exponent, fraction, blank or
 * plus sign.
 *
 * @throws {ChatProtocolError} `start_index_invalid`
 */
export function parseStartIndex(text: string | null | undefined): number {
  if (text === null || text === undefined) return 0
  const index = decimalFromText(text)
  if (index === undefined) {
    throw new ChatProtocolError('start_index_invalid', 'startIndex is not a safe integer.')
  }
  return index
}

/**
 * Reads an index that a header carries; absent or not an index is `undefined`. Never throws: a
 * header of another server is not trusted that far.
 */
export function indexFromHeader(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined) return undefined
  return decimalFromText(text.trim())
}

/**
 * The cursor after a `Last-Event-ID`: one more than the index that it names.
 *
 * @throws {ChatProtocolError} `start_index_invalid` when it is not the index of a chunk
 */
export function startIndexAfter(lastEventId: string): number {
  const index = decimalFromText(lastEventId)
  if (index === undefined || index < 0 || index === Number.MAX_SAFE_INTEGER) {
    throw new ChatProtocolError('start_index_invalid', 'Last-Event-ID is not the index of a chunk.')
  }
  return index + 1
}

/**
 * Turns a start index into a cursor of a stream that has `length` chunks so far.
 *
 * A negative one counts from the tail and stops at 0. One beyond the end stays as it is: the reader
 * waits for that chunk.
 */
export function resolveStartIndex(startIndex: number, length: number): number {
  return startIndex < 0 ? Math.max(0, length + startIndex) : startIndex
}

/**
 * The value of the tail index header for a stream of `length` chunks: the last one's index, -1 for
 * none.
 */
export function tailIndexOf(length: number): number {
  return length - 1
}

function decimalFromText(text: string): number | undefined {
  if (!/^-?\d{1,16}$/.test(text)) return undefined
  const value = Number(text)
  if (!Number.isSafeInteger(value)) return undefined
  return value === 0 ? 0 : value
}
