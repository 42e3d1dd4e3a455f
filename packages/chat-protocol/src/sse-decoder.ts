// An incremental reader of server-sent events.
//
// Owns:  the bytes of an unfinished character, the unfinished line, the unfinished event.
// Asks:  nobody.
// Never: interprets data, reconnects, keeps more than the limit.
//
// D1. The items do not depend on how the input was split, not even inside a character or between CR
//     and LF.
// D2. What is held is bounded by `maxEventLength`; beyond it the decoder throws, and throws again
//     on each later call.
// D3. Every character is looked at a bounded number of times, however small the pieces are.

import { ChatProtocolError } from './error.ts'

/** Something that an SSE stream said: an event, or a comment (which servers use as a heartbeat). */
export type SseItem = SseEvent | SseComment

/** One event. `id` is the one written in this event, not that of an earlier one. */
export interface SseEvent {
  readonly kind: 'event'
  /** The event's name. Absent: none was given. */
  readonly event?: string
  readonly data: string
  readonly id?: string
}

/** A line that began with a colon. */
export interface SseComment {
  readonly kind: 'comment'
  readonly text: string
}

/** Limits of {@link createSseDecoder}. */
export interface SseDecoderOptions {
  /** UTF-16 units of an event, or of a line that has not ended. Absent: 32 Mi. */
  readonly maxEventLength?: number
}

/** Turns pieces of a stream into what they say. */
export interface SseDecoder {
  /**
   * Takes the next piece and returns what it completed, in order.
   *
   * @throws {ChatProtocolError} `event_too_large`
   */
  push(piece: Uint8Array | string): readonly SseItem[]
  /** Says that the stream has ended. An event without its blank line is still returned. */
  end(): readonly SseItem[]
}

const defaultMaxEventLength = 32 * 1024 * 1024

/**
 * Creates a decoder for one stream.
 *
 * Takes CR, LF and CRLF, a byte order mark, and data of several lines, as the HTML standard says;
 * unlike it, an event that the end of the stream cut off is returned, since its JSON shows whether
 * it is whole.
 */
export function createSseDecoder(options: SseDecoderOptions = {}): SseDecoder {
  const limit = options.maxEventLength ?? defaultMaxEventLength
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let atStart = true
  let afterCarriageReturn = false
  let lineParts: string[] = []
  let lineLength = 0
  let event: UnfinishedEvent = { data: [], length: 0 }
  let failure: ChatProtocolError | undefined

  function tooLarge(): ChatProtocolError {
    return new ChatProtocolError(
      'event_too_large',
      `An event of the stream is above the limit of ${limit} characters.`,
      { limit },
    )
  }

  function keep(text: string): void {
    lineLength += text.length
    if (lineLength + event.length > limit) {
      failure = tooLarge()
      throw failure
    }
    lineParts.push(text)
  }

  function takeLine(): string {
    const line = lineParts.length === 1 ? (lineParts[0] ?? '') : lineParts.join('')
    lineParts = []
    lineLength = 0
    return line
  }

  function endLine(items: SseItem[]): void {
    const line = takeLine()
    if (line === '') {
      const finished = finishedEvent(event)
      event = { data: [], length: 0 }
      if (finished !== undefined) items.push(finished)
      return
    }
    if (line.startsWith(':')) {
      items.push({ kind: 'comment', text: withoutLeadingSpace(line.slice(1)) })
      return
    }
    event = eventWithField(event, line)
  }

  function read(input: string): SseItem[] {
    if (failure !== undefined) throw failure
    const items: SseItem[] = []
    if (input === '') return items
    let text = input
    if (atStart) {
      atStart = false
      if (text.startsWith('\u{FEFF}')) text = text.slice(1)
    }
    const lineBreak = /[\r\n]/g
    let from = 0
    if (afterCarriageReturn && text !== '') {
      afterCarriageReturn = false
      if (text.startsWith('\n')) from = 1
    }
    for (;;) {
      lineBreak.lastIndex = from
      const at = lineBreak.exec(text)?.index
      if (at === undefined) break
      if (at > from) keep(text.slice(from, at))
      endLine(items)
      from = at + 1
      if (text[at] === '\r') {
        if (from === text.length) afterCarriageReturn = true
        else if (text[from] === '\n') from += 1
      }
    }
    if (from < text.length) keep(text.slice(from))
    return items
  }

  return {
    push(piece) {
      return read(typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true }))
    },
    end() {
      const items = read(decoder.decode())
      if (lineParts.length > 0) endLine(items)
      endLine(items)
      return items
    },
  }
}

interface UnfinishedEvent {
  readonly data: string[]
  readonly length: number
  readonly event?: string
  readonly id?: string
}

function eventWithField(event: UnfinishedEvent, line: string): UnfinishedEvent {
  const colon = line.indexOf(':')
  const field = colon === -1 ? line : line.slice(0, colon)
  const value = colon === -1 ? '' : withoutLeadingSpace(line.slice(colon + 1))
  switch (field) {
    case 'data':
      event.data.push(value)
      return { ...event, length: event.length + value.length + 1 }
    case 'event':
      return { ...event, event: value }
    case 'id':
      return value.includes('\0') ? event : { ...event, id: value }
    default:
      return event
  }
}

function finishedEvent(event: UnfinishedEvent): SseEvent | undefined {
  if (event.data.length === 0 && event.event === undefined) return undefined
  return {
    kind: 'event',
    ...(event.event === undefined ? {} : { event: event.event }),
    data: event.data.join('\n'),
    ...(event.id === undefined ? {} : { id: event.id }),
  }
}

function withoutLeadingSpace(text: string): string {
  return text.startsWith(' ') ? text.slice(1) : text
}
