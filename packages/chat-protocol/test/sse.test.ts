import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  commentFrame,
  createSseDecoder,
  doneFrame,
  frameFromChunk,
  frameFromJson,
  heartbeatFrame,
  parseUiChunk,
  type SseDecoderOptions,
  type SseItem,
} from '../src/index.ts'

function decode(pieces: Iterable<Uint8Array | string>, options: SseDecoderOptions = {}): SseItem[] {
  const decoder = createSseDecoder(options)
  const items: SseItem[] = []
  for (const piece of pieces) items.push(...decoder.push(piece))
  items.push(...decoder.end())
  return items
}

function split(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length]
  edges.sort((a, b) => a - b)
  return edges.slice(1).map((edge, at) => bytes.subarray(edges[at], edge))
}

const text = fc.string({ unit: 'binary', maxLength: 12 })
const line = fc.oneof(
  text.map((value) => `data: ${value}`),
  text.map((value) => `data:${value}`),
  text.map((value) => `: ${value}`),
  fc.nat(99).map((index) => `id: ${index}`),
  fc.constantFrom('', '', 'data', 'event: step', 'retry: 10', 'unknown: x', '[DONE]'),
)

describe('createSseDecoder', () => {
  test('says the same however the bytes are split', () => {
    const stream = fc
      .array(fc.tuple(line, fc.constantFrom('\n', '\r', '\r\n')))
      .map((lines) => lines.flat().join(''))
    fc.assert(
      fc.property(stream, fc.array(fc.nat(400)), fc.boolean(), (body, cuts, mark) => {
        const bytes = new TextEncoder().encode((mark ? '\u{FEFF}' : '') + body)
        expect(decode(split(bytes, cuts))).toEqual(decode([bytes]))
        expect(decode(split(bytes, Array.from(bytes.keys())))).toEqual(decode([bytes]))
      }),
    )
  })

  test('says the same for text as for bytes, split between any two characters', () => {
    const body = '\u{FEFF}id: 1\r\ndata: flut 🌊\r\rdata: a\n: b\r\n\r\n'
    expect(decode(body.split(''))).toEqual(decode([new TextEncoder().encode(body)]))
  })

  test('reads CR, LF and CRLF alike', () => {
    const lines = [': hello', 'id: 7', 'data: a', 'data: b', '', 'event: e', 'data', '']
    const items = [
      { kind: 'comment', text: 'hello' },
      { kind: 'event', data: 'a\nb', id: '7' },
      { kind: 'event', event: 'e', data: '' },
    ]
    for (const end of ['\n', '\r', '\r\n']) expect(decode([lines.join(end) + end])).toEqual(items)
  })

  test('a byte order mark counts only at the start', () => {
    expect(decode(['\u{FEFF}data: \u{FEFF}a\n\n'])).toEqual([{ kind: 'event', data: '\u{FEFF}a' }])
  })

  test('takes away one leading space of a value, no more', () => {
    expect(decode(['data:  a\n\n'])).toEqual([{ kind: 'event', data: ' a' }])
  })

  test('an id is that of its own event', () => {
    expect(decode(['id: 3\ndata: a\n\ndata: b\n\nid: 4\0\ndata: c\n\n'])).toEqual([
      { kind: 'event', data: 'a', id: '3' },
      { kind: 'event', data: 'b' },
      { kind: 'event', data: 'c' },
    ])
  })

  test('an event that the end cut off before its blank line is returned', () => {
    expect(decode(['data: {"type":"finish"}'])).toEqual([
      { kind: 'event', data: '{"type":"finish"}' },
    ])
  })

  test('an item is returned with the piece that completes it', () => {
    const decoder = createSseDecoder()
    expect(decoder.push('data: a\n')).toEqual([])
    expect(decoder.push('\r')).toEqual([{ kind: 'event', data: 'a' }])
    expect(decoder.push('\n: b\n')).toEqual([{ kind: 'comment', text: 'b' }])
  })

  test.each([
    ['an endless line', Array.from({ length: 30 }, () => 'data')],
    ['an endless event', Array.from({ length: 30 }, () => 'data: a\n')],
    ['an event of empty lines', Array.from({ length: 200 }, () => 'data\n')],
  ])('%s is refused, and stays refused', (_name, pieces) => {
    const decoder = createSseDecoder({ maxEventLength: 40 })
    const tooLarge = expect.objectContaining({ code: 'event_too_large', details: { limit: 40 } })
    expect(() => {
      for (const piece of pieces) decoder.push(piece)
    }).toThrowError(tooLarge)
    expect(() => decoder.push('\n\n')).toThrowError(tooLarge)
    expect(() => decoder.end()).toThrowError(tooLarge)
  })

  test('the limit is for each event, not for the stream', () => {
    expect(
      decode(
        Array.from({ length: 50 }, () => 'data: abc\n\n'),
        { maxEventLength: 12 },
      ),
    ).toHaveLength(50)
  })
})

describe('frames', () => {
  test('a chunk comes back as it was, with its index', () => {
    fc.assert(
      fc.property(fc.nat(), fc.string({ unit: 'binary' }), (index, delta) => {
        const chunk = { type: 'text-delta', id: '1', delta } as const
        const [item] = decode([frameFromChunk(chunk, { index })])
        expect(item).toMatchObject({ kind: 'event', id: String(index) })
        expect(item?.kind === 'event' && parseUiChunk(item.data)).toEqual(chunk)
      }),
    )
  })

  test('JSON with line breaks stays one event', () => {
    expect(decode([frameFromJson('{\n"type":\r\n"finish"\r}')])).toEqual([
      { kind: 'event', data: '{\n"type":\n"finish"\n}' },
    ])
  })

  test('a comment cannot smuggle in an event', () => {
    expect(decode([commentFrame('a\ndata: b\r\rdata: c')]).map((item) => item.kind)).toEqual(
      Array.from({ length: 4 }, () => 'comment'),
    )
  })

  test('the heartbeat is a comment and the end is [DONE]', () => {
    expect(decode([heartbeatFrame, doneFrame])).toEqual([
      { kind: 'comment', text: 'keep-alive' },
      { kind: 'event', data: '[DONE]' },
    ])
  })
})
