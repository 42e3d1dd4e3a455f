import type { UIMessage } from 'ai'
import { expect, test } from 'vitest'
import {
  brokenAt,
  changeAtEnd,
  changed,
  changeFrom,
  notTaken,
  personMessage,
  released,
  unknownChat,
  withApprovalsTakenBack,
} from '../src/chat/open-chat-state.ts'

const answer: UIMessage = { id: 'r1', role: 'assistant', parts: [{ type: 'text', text: 'half' }] }
const problem = { title: 'a', detail: 'b', remedy: 'reconnect' } as const

test('a problem stays until it is taken back', () => {
  const troubled = changed(unknownChat, { problem })
  expect(changed(troubled, { isStopping: true }).problem).toEqual(problem)
  expect(changed(troubled, { problem: undefined })).toEqual(unknownChat)
})

test('a stop marks the answer and holds back what waits', () => {
  const state = changed(unknownChat, {
    isStopping: true,
    waiting: [
      { id: 'm1', text: 'a', state: 'accepted' },
      { id: 'm2', text: 'b', state: 'failed' },
    ],
  })
  const stopped = changed(state, changeAtEnd(state, 'aborted', answer))
  expect(stopped.isStopping).toBe(false)
  expect([...stopped.broken]).toEqual([['r1', 'stopped']])
  expect(stopped.waiting.map((message) => message.state)).toEqual(['held', 'failed'])
  expect(released(stopped.waiting).map((message) => message.state)).toEqual(['accepted', 'failed'])
})

test('an end that was no stop marks nothing', () => {
  const ended = changed(unknownChat, changeAtEnd(unknownChat, 'finished', answer))
  expect(ended).toEqual(unknownChat)
})

test('a stop before the answer began does not mark an older one', () => {
  expect(brokenAt(unknownChat, personMessage('m1', 'hello'), 'stopped')).toEqual({})
})

test('what an answer took up, or has a turn of its own, waits no more', () => {
  const waiting = ['m1', 'm2', 'm3'].map((id) => ({ id, text: id, state: 'accepted' as const }))
  const taken: UIMessage = {
    ...answer,
    parts: [...answer.parts, { type: 'steering-message', id: 'm1', parts: [] }],
  }
  const left = notTaken(waiting, [taken, personMessage('m2', 'm2')])
  expect(left.map(({ id }) => id)).toEqual(['m3'])
})

test('what the server holds back is held here', () => {
  const change = changeFrom({
    messages: [],
    waiting: [{ id: 'm1', text: 'a', isHeld: true }],
    broken: { messageId: 'r1', how: 'failed' },
    earlier: 'r0',
  })
  expect(changed(unknownChat, change)).toMatchObject({
    waiting: [{ id: 'm1', text: 'a', state: 'held' }],
    hasEarlier: true,
    broken: new Map([['r1', 'failed']]),
  })
})

test('only open questions are taken back', () => {
  const call = { type: 'tool-cancel_order', toolCallId: 'c1', input: {} } as const
  const message: UIMessage = {
    id: 'r1',
    role: 'assistant',
    parts: [
      { ...call, state: 'output-available', output: 1, approval: { id: 'a1', approved: true } },
      { ...call, toolCallId: 'c2', state: 'approval-requested', approval: { id: 'a2' } },
    ],
  }
  const [done, asked] = withApprovalsTakenBack(message).parts
  expect(done).toEqual(message.parts[0])
  expect(asked).toMatchObject({
    state: 'approval-responded',
    approval: { id: 'a2', approved: false, reason: 'superseded' },
  })
})
