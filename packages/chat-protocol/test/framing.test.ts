import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  createFramingRepair,
  createOrphanFilter,
  normalizeUIMessageStreamParts,
  renderMessage,
  repairFraming,
  type UiChunk,
} from '../src/index.ts'
import { storedStream } from './stored-stream.ts'

const start = { type: 'text-start', id: '1' } as const
const delta = { type: 'text-delta', id: '1', delta: 'a' } as const
const end = { type: 'text-end', id: '1' } as const

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  for (const value of values) yield await Promise.resolve(value)
}

describe('createFramingRepair', () => {
  test('case 8.6 #5: a delta with no start gets one', () => {
    expect(repairFraming([delta, end])).toEqual([start, delta, end])
  })

  test('an end with no start gets one', () => {
    expect(repairFraming([end])).toEqual([start, end])
  })

  test('a second start of an open part is dropped', () => {
    expect(repairFraming([start, delta, start, delta, end])).toEqual([start, delta, delta, end])
  })

  test('a replay of a part that has ended is dropped whole', () => {
    expect(repairFraming([start, delta, end, start, delta, end])).toEqual([start, delta, end])
  })

  test('text and reasoning of the same id are two parts', () => {
    const chunks = [start, { type: 'reasoning-start', id: '1' }, delta, end] as const
    expect(repairFraming(chunks)).toEqual(chunks)
  })

  test('finish-step lets an ended id come back and keeps open parts open', () => {
    const step = { type: 'finish-step' } as const
    const other = { type: 'text-start', id: '2' } as const
    const chunks = [start, end, other, step, start, { ...delta, id: '2' }, end]
    expect(repairFraming([...chunks, other])).toEqual(chunks)
  })

  test('case 8.6 #6: reset-step clears the framing, so a reused id is taken', () => {
    const chunks = [start, delta, end, { type: 'reset-step' }, start, delta, end] as const
    expect(repairFraming(chunks)).toEqual(chunks)
  })

  test('leaves a stream alone that is framed well', () => {
    fc.assert(
      fc.property(storedStream, (chunks) => {
        expect(repairFraming(chunks)).toEqual(chunks)
      }),
    )
  })

  test('whatever comes, every delta and end it passes on belongs to an open part', () => {
    const chunk = fc.oneof(
      fc.record({
        type: fc.constantFrom(
          'text-start' as const,
          'text-end' as const,
          'reasoning-start' as const,
          'reasoning-end' as const,
        ),
        id: fc.constantFrom('1', '2'),
      }),
      fc.record({
        type: fc.constantFrom('text-delta' as const, 'reasoning-delta' as const),
        id: fc.constantFrom('1', '2'),
        delta: fc.constant('a'),
      }),
      fc.record({ type: fc.constantFrom('finish-step' as const, 'reset-step' as const) }),
    )
    fc.assert(
      fc.property(fc.array(chunk), (chunks) => {
        const repaired = repairFraming(chunks)
        expect(renderMessage(repaired).orphans).toBe(0)
        expect(repairFraming(repaired)).toEqual(repaired)
      }),
    )
  })

  test('is the same over connections, over an array and over an async iterable', async () => {
    await fc.assert(
      fc.asyncProperty(storedStream, fc.nat(80), async (stored, cut) => {
        const chunks = stored.slice(cut % (stored.length + 1))
        const repair = createFramingRepair()
        const one = chunks.flatMap((chunk) => repair(chunk))
        expect(one).toEqual(repairFraming(chunks))
        const other: UiChunk[] = []
        for await (const chunk of normalizeUIMessageStreamParts(each(chunks))) other.push(chunk)
        expect(other).toEqual(one)
      }),
    )
  })

  test('gives back the chunk type that it was given', () => {
    expectTypeOf(normalizeUIMessageStreamParts(each<UiChunk>([]))).toEqualTypeOf<
      AsyncGenerator<UiChunk>
    >()
  })
})

describe('createOrphanFilter', () => {
  test('C2: refuses what belongs to a part it has not seen begin, and tells once', () => {
    const drops: UiChunk[] = []
    const belongs = createOrphanFilter((chunk) => drops.push(chunk))
    const orphans: UiChunk[] = [
      delta,
      end,
      { type: 'reasoning-delta', id: '1', delta: 'a' },
      { type: 'reasoning-end', id: '1' },
      { type: 'tool-input-delta', toolCallId: 'c', inputTextDelta: '{' },
      { type: 'tool-approval-request', toolCallId: 'c', approvalId: 'a' },
      { type: 'tool-approval-response', approvalId: 'a', approved: true },
      { type: 'tool-output-available', toolCallId: 'c', output: 1 },
      { type: 'tool-output-error', toolCallId: 'c', errorText: 'x' },
      { type: 'tool-output-denied', toolCallId: 'c' },
    ]
    expect(orphans.filter(belongs)).toEqual([])
    expect(drops).toEqual([delta])
  })

  test('reset-step forgets what was seen', () => {
    const belongs = createOrphanFilter()
    expect(belongs(start)).toBe(true)
    expect(belongs(delta)).toBe(true)
    expect(belongs({ type: 'reset-step' })).toBe(true)
    expect(belongs(delta)).toBe(false)
  })

  test('refuses nothing of a whole stream without resets', () => {
    fc.assert(
      fc.property(storedStream, (chunks) => {
        fc.pre(!chunks.some((chunk) => chunk.type === 'reset-step'))
        expect(chunks.filter(createOrphanFilter())).toEqual(chunks)
      }),
    )
  })

  test('from any index, leaves nothing that a page cannot render', () => {
    fc.assert(
      fc.property(storedStream, fc.nat(80), (chunks, from) => {
        const passed = chunks.slice(from).filter(createOrphanFilter())
        expect(renderMessage(passed).orphans).toBe(0)
      }),
    )
  })
})
