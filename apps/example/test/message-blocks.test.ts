import type { UIMessage } from 'ai'
import { expect, test } from 'vitest'
import { finishedToolCount, logBlocks, openApprovals } from '../src/chat/message-blocks.ts'

const asked: UIMessage = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hello' }] }

function answer(...parts: UIMessage['parts']): UIMessage {
  return { id: 'r1', role: 'assistant', parts }
}

function text(content: string): UIMessage['parts'][number] {
  return { type: 'text', text: content, state: 'done' }
}

function kinds(messages: readonly UIMessage[]): readonly string[] {
  return logBlocks(messages).map((block) =>
    block.kind === 'person'
      ? `${block.messageId}: ${block.text}`
      : `${block.messageId}: ${block.pieces.map((piece) => piece.kind).join(' ')}`,
  )
}

test('messages stand in the order in which they were said', () => {
  expect(kinds([asked, answer({ type: 'step-start' }, text('hi'))])).toEqual([
    'm1: hello',
    'r1: text',
  ])
})

test('what was said while an answer was written stands where it was taken up, once', () => {
  const steering: UIMessage = {
    id: 'm2',
    role: 'user',
    parts: [{ type: 'text', text: 'and then?' }],
  }
  const steered = answer(
    text('one'),
    { type: 'steering-message', id: 'm2', parts: [{ type: 'text', text: 'and then?' }] },
    text('two'),
  )
  const blocks = logBlocks([asked, steered, steering])
  expect(kinds([asked, steered, steering])).toEqual([
    'm1: hello',
    'r1: text',
    'm2: and then?',
    'r1: text',
  ])
  expect(blocks.filter((block) => block.kind === 'answer' && block.isLastOfMessage)).toHaveLength(1)
  expect(new Set(blocks.map(({ key }) => key)).size).toBe(blocks.length)
})

test('an answer goes on after what it took up last, with nothing yet', () => {
  const steered = answer(text('one'), { type: 'steering-message', id: 'm2', parts: [] })
  expect(kinds([steered])).toEqual(['r1: text', 'm2: ', 'r1: '])
})

test('an answer with nothing in it still has its place', () => {
  expect(kinds([answer()])).toEqual(['r1: '])
})

test('a tool call tells how far it is', () => {
  const base = { type: 'tool-cancel_order', toolCallId: 'c1', input: { order_id: '1003' } } as const
  const stages = [
    { ...base, state: 'input-available' },
    { ...base, state: 'approval-requested', approval: { id: 'a1' } },
    { ...base, state: 'approval-responded', approval: { id: 'a1', approved: true } },
    { ...base, state: 'approval-responded', approval: { id: 'a1', approved: false } },
    { ...base, state: 'output-available', output: { outcome: 'cancelled' } },
    { ...base, state: 'output-error', errorText: 'broken' },
    { ...base, state: 'output-denied', approval: { id: 'a1', approved: false } },
  ] as readonly UIMessage['parts'][number][]
  const message = answer(...stages)
  const [block] = logBlocks([message])
  const shown = block?.kind === 'answer' ? block.pieces : []
  expect(shown.map((piece) => (piece.kind === 'tool' ? piece.stage : piece.kind))).toEqual([
    'running',
    'asking',
    'running',
    'denied',
    'done',
    'failed',
    'denied',
  ])
  expect(openApprovals(message)).toEqual(['a1'])
  expect(finishedToolCount([message])).toBe(4)
})

test('nobody is asked by a person’s message', () => {
  expect(openApprovals(asked)).toEqual([])
  expect(openApprovals(undefined)).toEqual([])
})
