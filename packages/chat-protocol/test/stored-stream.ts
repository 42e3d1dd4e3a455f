import fc from 'fast-check'
import type { UiChunk } from '../src/index.ts'

// Streams as a store holds them: well framed, with parts and tool calls that overlap and cross
// steps, steps that are taken back, and ids that are used again in later steps,
// never in the step in which they ended: there the repair takes them for a replay.

type Move =
  | { readonly kind: 'step' | 'reset' | 'file' | 'data' | 'fault' }
  | { readonly kind: 'text' | 'reasoning' | 'tool'; readonly pick: number; readonly word: string }

const anyMove: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('text' as const, 'reasoning' as const, 'tool' as const),
      pick: fc.nat(5),
      word: fc.string({ maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'step' as const,
        'reset' as const,
        'file' as const,
        'data' as const,
        'fault' as const,
      ),
    }),
  },
)

/** A stream of one message, finished or still going. */
export const storedStream: fc.Arbitrary<readonly UiChunk[]> = fc
  .tuple(fc.array(anyMove, { maxLength: 40 }), fc.boolean())
  .map(([moves, finished]) => streamFromMoves(moves, finished))

function streamFromMoves(moves: readonly Move[], finished: boolean): UiChunk[] {
  const chunks: UiChunk[] = [{ type: 'start', messageId: 'message' }, { type: 'start-step' }]
  const open = { text: new Set<string>(), reasoning: new Set<string>() }
  const ended = { text: new Set<string>(), reasoning: new Set<string>() }
  const calls = new Map<string, { step: number; word: string; phase: number }>()
  let step = 0
  let made = 0

  for (const move of moves) {
    switch (move.kind) {
      case 'step':
        // Parts may stay open across steps; ids of ended ones come back.
        chunks.push({ type: 'finish-step' }, { type: 'start-step' })
        step += 1
        ended.text.clear()
        ended.reasoning.clear()
        break
      case 'reset':
        chunks.push({ type: 'reset-step' })
        open.text.clear()
        open.reasoning.clear()
        ended.text.clear()
        ended.reasoning.clear()
        for (const [id, call] of calls) if (call.step === step) calls.delete(id)
        break
      case 'file':
        chunks.push({ type: 'file', url: `data:,${made}`, mediaType: 'text/plain' })
        break
      case 'data':
        chunks.push({ type: 'data-note', id: `note-${made % 2}`, data: made })
        chunks.push({ type: 'data-plain', data: made })
        break
      case 'fault':
        chunks.push({
          type: 'tool-input-error',
          toolCallId: `fault-${made}`,
          toolName: 'dig',
          input: {},
          errorText: 'no',
        })
        if (made % 2 === 0) {
          chunks.push({ type: 'tool-output-error', toolCallId: `fault-${made}`, errorText: 'no' })
        }
        break
      case 'text':
      case 'reasoning': {
        const ids = [...open[move.kind]]
        const id = ids[move.pick]
        if (id === undefined) {
          let number = 0
          while (open[move.kind].has(`${number}`) || ended[move.kind].has(`${number}`)) number += 1
          const fresh = `${number}`
          open[move.kind].add(fresh)
          chunks.push({ type: `${move.kind}-start`, id: fresh })
        } else if (move.word === '') {
          open[move.kind].delete(id)
          ended[move.kind].add(id)
          chunks.push({ type: `${move.kind}-end`, id })
        } else {
          chunks.push({ type: `${move.kind}-delta`, id, delta: move.word })
        }
        break
      }
      case 'tool': {
        const entry = [...calls][move.pick]
        if (entry === undefined) {
          const toolCallId = `call-${made}`
          calls.set(toolCallId, { step, word: move.word, phase: 0 })
          chunks.push({ type: 'tool-input-start', toolCallId, toolName: 'dig' })
        } else {
          advance(chunks, calls, entry)
        }
      }
    }
    made += 1
  }
  if (finished) chunks.push({ type: 'finish-step' }, { type: 'finish', finishReason: 'stop' })
  return chunks
}

function advance(
  chunks: UiChunk[],
  calls: Map<string, { step: number; word: string; phase: number }>,
  [toolCallId, call]: [string, { step: number; word: string; phase: number }],
): void {
  call.phase += 1
  switch (call.phase) {
    case 1:
      chunks.push({ type: 'tool-input-delta', toolCallId, inputTextDelta: '{}' })
      break
    case 2:
      chunks.push({ type: 'tool-input-available', toolCallId, toolName: 'dig', input: call.word })
      break
    case 3: {
      const approvalId = `approval of ${toolCallId}`
      chunks.push({ type: 'tool-approval-request', approvalId, toolCallId })
      break
    }
    case 4: {
      const approved = call.word.length !== 1
      chunks.push({
        type: 'tool-approval-response',
        approvalId: `approval of ${toolCallId}`,
        approved,
      })
      if (!approved) {
        chunks.push({ type: 'tool-output-denied', toolCallId })
        calls.delete(toolCallId)
      }
      break
    }
    case 5:
      chunks.push({ type: 'tool-output-available', toolCallId, output: 'half', preliminary: true })
      break
    default:
      chunks.push({ type: 'tool-output-available', toolCallId, output: call.word })
      calls.delete(toolCallId)
  }
}
