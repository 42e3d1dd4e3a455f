import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createStartTracker,
  renderableStart,
  renderMessage,
  repairFraming,
  type RenderedPart,
  type UiChunk,
} from '../src/index.ts'
import { storedStream } from './stored-stream.ts'

/** Data with an id stands where it first came, so a reader of a tail has it further back. */
function isPlaced(part: RenderedPart): boolean {
  return !('id' in part)
}

function expectPartsOfWhole(whole: readonly UiChunk[], from: number): void {
  const all = renderMessage(whole).parts
  const tail = renderMessage(repairFraming(whole.slice(from)))
  expect(tail.orphans).toBe(0)
  const placed = tail.parts.filter(isPlaced)
  expect(placed).toEqual(all.filter(isPlaced).slice(all.filter(isPlaced).length - placed.length))
  for (const part of tail.parts) expect(all).toContainEqual(part)
}

describe('renderableStart', () => {
  test('C2: for every k, what is read from it equals that part of the whole', () => {
    fc.assert(
      fc.property(storedStream, (whole) => {
        for (let k = 0; k <= whole.length; k += 1) {
          expectPartsOfWhole(whole, renderableStart(whole, k))
        }
      }),
      { numRuns: 300 },
    )
  })

  test('C1: for every k, the first k chunks and the rest are the whole', () => {
    fc.assert(
      fc.property(storedStream, fc.nat(80), (whole, k) => {
        const first = whole.slice(0, k)
        const served = renderableStart(whole, k)
        const rest = whole.slice(served).slice(Math.max(0, first.length - served))
        expect([...first, ...rest]).toEqual(whole)
      }),
    )
  })

  test('R1, R2: a tracker gives the same, forwards and from any renderable start', () => {
    fc.assert(
      fc.property(storedStream, (whole) => {
        const tracker = createStartTracker()
        whole.forEach((chunk, index) => {
          expect(tracker.nextIndex).toBe(index)
          expect(tracker.push(chunk)).toBe(renderableStart(whole, index))
          const anew = createStartTracker(tracker.start)
          for (const one of whole.slice(tracker.start, index + 1)) anew.push(one)
          expect([anew.start, anew.nextIndex]).toEqual([tracker.start, tracker.nextIndex])
        })
      }),
    )
  })

  test('goes back no further than it must: at every index between, what follows could lack its beginning', () => {
    fc.assert(
      fc.property(storedStream, fc.nat(80), (stored, from) => {
        const known = stored.slice(0, from)
        fc.pre(!known.some((chunk) => chunk.type === 'tool-input-error'))
        // A call that goes on across a reset can hold a reader back further than it must.
        fc.pre(!known.some((chunk) => chunk.type === 'reset-step'))
        const start = renderableStart(stored, from)
        expect(start).toBeLessThanOrEqual(known.length)
        const futures = possibleNext(known)
        for (let between = start + 1; between <= known.length; between += 1) {
          const tails = [[], ...futures].map((future) => [...known.slice(between), ...future])
          const isBroken = tails.some((tail) => renderMessage(tail).orphans > 0)
          expect(isBroken || splitsInput(known, between)).toBe(true)
        }
      }),
    )
  })

  test('R3: a tool call is open until its last word, through approval and preliminary output', () => {
    const toolCallId = 'c'
    const chunks: UiChunk[] = [
      { type: 'start-step' },
      { type: 'tool-input-available', toolCallId, toolName: 'dig', input: {} },
      { type: 'tool-approval-request', toolCallId, approvalId: 'a' },
      { type: 'tool-approval-response', approvalId: 'a', approved: true },
      { type: 'tool-output-available', toolCallId, output: 1, preliminary: true },
      { type: 'tool-output-available', toolCallId, output: 2 },
      { type: 'finish-step' },
    ]
    expect(chunks.map((_, k) => renderableStart(chunks, k))).toEqual([0, 1, 1, 1, 1, 1, 6])
  })

  test('R3: a call with a wrong input is open until its error or the end of its step', () => {
    const fault = { type: 'tool-input-error', toolCallId: 'c', toolName: 'dig' } as const
    const chunks: UiChunk[] = [
      { ...fault, input: {}, errorText: 'no' },
      { type: 'tool-output-error', toolCallId: 'c', errorText: 'no' },
      { ...fault, input: {}, errorText: 'no' },
      { type: 'finish-step' },
    ]
    expect([0, 1, 2, 3, 4].map((k) => renderableStart(chunks, k))).toEqual([0, 0, 2, 2, 4])
  })

  test('R4: reset-step closes texts of every step and calls of its own', () => {
    const chunks: UiChunk[] = [
      { type: 'start-step' },
      { type: 'text-start', id: 'long' },
      { type: 'start-step' },
      { type: 'tool-input-start', toolCallId: 'own', toolName: 'dig' },
      { type: 'reset-step' },
      { type: 'start-step' },
    ]
    expect(chunks.map((_, k) => renderableStart(chunks, k))).toEqual([0, 1, 1, 1, 1, 5])
  })

  test('R4: reset-step leaves a call of an earlier step open', () => {
    const chunks: UiChunk[] = [
      { type: 'tool-input-start', toolCallId: 'earlier', toolName: 'dig' },
      { type: 'start-step' },
      { type: 'reset-step' },
      { type: 'tool-output-available', toolCallId: 'earlier', output: 1 },
    ]
    expect([1, 2, 3, 4].map((k) => renderableStart(chunks, k))).toEqual([0, 0, 0, 4])
  })

  test('parallel parts hold each other open', () => {
    const chunks: UiChunk[] = [
      { type: 'text-start', id: '1' },
      { type: 'reasoning-start', id: '1' },
      { type: 'text-end', id: '1' },
      { type: 'text-start', id: '2' },
      { type: 'reasoning-end', id: '1' },
      { type: 'text-end', id: '2' },
    ]
    expect([0, 1, 2, 3, 4, 5, 6].map((k) => renderableStart(chunks, k))).toEqual([
      0, 0, 0, 0, 0, 0, 6,
    ])
  })

  test('an index beyond the end or below nought counts as the end or nought', () => {
    const chunks: UiChunk[] = [{ type: 'start' }, { type: 'start-step' }]
    expect(renderableStart(chunks, 9)).toBe(2)
    expect(renderableStart(chunks, -9)).toBe(0)
  })
})

/** Whether a call's input begins before an index and is whole after it: its title would be lost. */
function splitsInput(known: readonly UiChunk[], between: number): boolean {
  const begun = known.slice(0, between).filter((chunk) => chunk.type === 'tool-input-start')
  return known
    .slice(between)
    .some(
      (chunk) =>
        chunk.type === 'tool-input-available' &&
        begun.some((start) => start.toolCallId === chunk.toolCallId),
    )
}

/** What may come next and needs its beginning: a chunk for each part that is open. */
function possibleNext(known: readonly UiChunk[]): UiChunk[][] {
  const message = renderMessage(known)
  const openCalls = message.parts.flatMap((part): UiChunk[] =>
    part.type === 'tool' && (!part.state.startsWith('output-') || part.preliminary === true)
      ? [{ type: 'tool-output-error', toolCallId: part.toolCallId, errorText: 'x' }]
      : [],
  )
  const openTexts = known.flatMap((chunk): UiChunk[] =>
    chunk.type === 'text-start' || chunk.type === 'reasoning-start'
      ? [{ type: chunk.type === 'text-start' ? 'text-end' : 'reasoning-end', id: chunk.id }]
      : [],
  )
  return [...openCalls, ...openTexts]
    .filter((next) => renderMessage([...known, next]).orphans === 0)
    .map((next) => [next])
}
