import { describe, expect, test } from 'vitest'
import { readableJson } from '../src/chat/readable-json.ts'
import { problemFrom } from '../src/chat/problem.ts'
import { shortId, toolTitle } from '../src/chat/tool-title.ts'
import { timeAgo } from '../src/chats/time-ago.ts'
import { activityWords, progressPercent, statusWords } from '../src/runs/run-words.ts'
import { chatIdFromPath, pathOfChat } from '../src/shell/use-route.ts'

describe('the title of a tool call', () => {
  test.each([
    ['lookup_order', { order_id: '1001' }, 'running', 'Looking up order 1001…'],
    ['lookup_order', { order_id: '1001' }, 'done', 'Looked up order 1001'],
    ['lookup_order', undefined, 'running', 'Looking up an order…'],
    ['lookup_order', { order_id: '1' }, 'failed', 'Could not look up order 1'],
    ['cancel_order', { order_id: '1003' }, 'asking', 'May I cancel order 1003?'],
    ['cancel_order', { order_id: '1003' }, 'denied', 'Was not allowed to cancel order 1003'],
    ['workflow_run_start', { definition_name: 'refund_order' }, 'done', 'Started refund order'],
    ['workflow_run_cancel', { run_id: '0197-abcdef123456' }, 'done', 'Stopped run …123456'],
    ['send_mail', {}, 'done', 'Send mail'],
    ['send_mail', {}, 'asking', 'May I use “Send mail”?'],
  ] as const)('%s %j %s', (name, input, stage, title) => {
    expect(toolTitle({ name, input, stage })).toBe(title)
  })

  test('does not claim what the result denies', () => {
    const call = { name: 'cancel_order', input: { order_id: '1003' }, stage: 'done' } as const
    expect(toolTitle({ ...call, output: { outcome: 'cancelled' } })).toBe('Cancelled order 1003')
    expect(toolTitle({ ...call, output: { outcome: 'it is refunded already' } })).toBe(
      'Did not cancel order 1003',
    )
  })

  test('a long id is cut, a short one is not', () => {
    expect(shortId('12345678')).toBe('12345678')
    expect(shortId('123456789')).toBe('…456789')
  })
})

describe('readable JSON', () => {
  test('is indented, and unwrapped from a text block', () => {
    const inner = '{\n  "a": 1\n}'
    expect(readableJson({ a: 1 })).toBe(inner)
    expect(readableJson('{"a":1}')).toBe(inner)
    expect(readableJson({ content: [{ type: 'text', text: '{"a":1}' }] })).toBe(inner)
  })

  test('leaves plain text alone', () => {
    expect(readableJson('hello')).toBe('hello')
    expect(readableJson('12')).toBe('12')
  })

  test('cuts what is very long', () => {
    expect(readableJson('x'.repeat(30_000))).toMatch(/^x{20000}\n… \(30000 characters\)$/)
  })
})

describe('the words for a run', () => {
  const run = { isCancelRequested: false } as const
  test.each([
    [{ ...run, status: 'interrupted' }, 'waits for you'],
    [{ ...run, status: 'running' }, 'running'],
    [{ ...run, status: 'running', waitingFor: 'sleep' }, 'running, pausing'],
    [{ ...run, status: 'running', waitingFor: 'tides' }, 'running'],
    [{ isCancelRequested: true, status: 'running' }, 'stopping'],
    [{ isCancelRequested: true, status: 'cancelled' }, 'cancelled'],
  ] as const)('%j', (shown, words) => {
    expect(statusWords(shown)).toBe(words)
  })

  test('progress is a percentage only where the whole is known', () => {
    expect(progressPercent({ progress: { completed: 3, total: 8 } })).toBe(38)
    expect(progressPercent({ progress: { completed: 9, total: 8 } })).toBe(100)
    expect(progressPercent({ progress: { completed: 3 } })).toBeUndefined()
    expect(progressPercent({})).toBeUndefined()
  })

  test('activities name their step', () => {
    expect(activityWords('step_completed', 'load order')).toBe('Done: load order')
    expect(activityWords('run_completed', undefined)).toBe('Completed')
    expect(activityWords('tide_turned', undefined)).toBe('Tide turned')
  })
})

describe('a problem', () => {
  function error(name: string, message: string): Error {
    return Object.assign(new Error(message), { name })
  }

  test('after the server had accepted is a matter of the connection', () => {
    const lost = error('ChatDisconnectedError', 'gone')
    expect(problemFrom(lost, { kind: 'send', wasAccepted: true }).remedy).toBe('reconnect')
  })

  test('before that, the message was not sent', () => {
    const lost = error('ChatDisconnectedError', 'gone')
    expect(problemFrom(lost, { kind: 'send', wasAccepted: false })).toMatchObject({
      title: 'Your message was not sent',
      remedy: 'send-again',
    })
  })

  test('of the run itself is answered anew, with its own words', () => {
    expect(problemFrom(new Error('No model.'), { kind: 'send', wasAccepted: true })).toEqual({
      title: 'The answer failed',
      detail: 'No model.',
      remedy: 'answer-again',
    })
  })

  test('of a refusal tells the server’s words and no JSON', () => {
    const body = '{"error":{"code":"message_invalid","message":"It is empty."}}'
    const refused = error('ChatTransportError', `Failed to fetch chat: 422 ${body}`)
    expect(problemFrom(refused, { kind: 'decide', wasAccepted: false }).detail).toBe('It is empty.')
  })
})

describe('times', () => {
  const now = Date.UTC(2026, 0, 10, 12)
  test.each([
    [0, 'just now'],
    [59_999, 'just now'],
    [60_000, '1 min ago'],
    [3_600_000, '1 h ago'],
    [86_400_000, 'yesterday'],
    [3 * 86_400_000, '3 days ago'],
    [-5_000, 'just now'],
  ])('%d ms ago', (passed, words) => {
    expect(timeAgo(now - passed, now)).toBe(words)
  })
})

test('a chat has a path, and only a chat’s path has a chat', () => {
  expect(chatIdFromPath(pathOfChat('chat-Ab_1'))).toBe('chat-Ab_1')
  expect(chatIdFromPath(pathOfChat(undefined))).toBeUndefined()
  expect(chatIdFromPath('/chat/a b')).toBeUndefined()
  expect(chatIdFromPath('/chat/a/b')).toBeUndefined()
  expect(chatIdFromPath(`/chat/${'x'.repeat(65)}`)).toBeUndefined()
})
