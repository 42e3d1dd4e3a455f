import { describe, expect, test } from 'vitest'
import { requestErrorFrom } from '../src/api/request.ts'
import { chatContentsFrom, chatPageFrom } from '../src/chats/chat-api.ts'
import { historyEntryFrom } from '../src/runs/history-entry.ts'
import { runTree } from '../src/runs/run-tree.ts'
import { type RunView, runViewFrom } from '../src/runs/run-view.ts'

const run = {
  run_id: 'r1',
  definition_name: 'refund_order',
  definition_version: 'v1',
  run_status: 'running',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:01.000Z',
}

describe('a run', () => {
  test('is read with its question and progress', () => {
    const read = runViewFrom({
      ...run,
      run_status: 'interrupted',
      interrupts: [{ id: 'i1', reason: 'Refund?', schema: { type: 'object' } }, { no: 'id' }],
      progress: { completed: 3, total: 8, message: 'drafted', completed_steps: 5 },
    })
    expect(read).toMatchObject({
      id: 'r1',
      definition: 'refund_order',
      questions: [{ id: 'i1', reason: 'Refund?', schema: { type: 'object' } }],
      progress: { completed: 3, total: 8, message: 'drafted' },
      createdAt: Date.UTC(2026, 0, 1),
    })
  })

  test('counts steps where it says nothing of itself', () => {
    const read = runViewFrom({ ...run, progress: { completed_steps: 2, total_steps: 0 } })
    expect(read?.progress).toEqual({ completed: 2 })
  })

  test.each([undefined, null, [], {}, { ...run, run_status: 'dancing' }, { ...run, run_id: 1 }])(
    'is not %j',
    (value) => {
      expect(runViewFrom(value)).toBeUndefined()
    },
  )

  function view(id: string, more: Partial<RunView> = {}): RunView {
    return {
      id,
      definition: 'd',
      version: 'v1',
      status: 'completed',
      isCancelRequested: false,
      questions: [],
      createdAt: 0,
      updatedAt: 0,
      ...more,
    }
  }

  test('stands below its parent; what asks comes first, then what goes on, then the newest', () => {
    const tree = runTree([
      view('old', { createdAt: 1 }),
      view('new', { createdAt: 2 }),
      view('going', { status: 'running' }),
      view('asking', { status: 'interrupted', questions: [{ id: 'i' }] }),
      view('child', { parentId: 'new' }),
      view('orphan', { parentId: 'purged', createdAt: 3 }),
    ])
    expect(tree.map((node) => node.run.id)).toEqual(['asking', 'going', 'orphan', 'new', 'old'])
    expect(tree[3]?.children.map((node) => node.run.id)).toEqual(['child'])
  })
})

describe('a chat', () => {
  const asked = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hello' }] }
  const said = { id: 'm2', role: 'user', parts: [{ type: 'text', text: 'wait' }] }
  const answer = { id: 'r1', role: 'assistant', parts: [{ type: 'text', text: 'hi' }] }

  test('keeps what waits apart from its messages', () => {
    const contents = chatContentsFrom({
      status: 'running',
      runId: 'r1',
      activeStreamId: 'r1.2',
      before: 'r0',
      messages: [asked, answer, said],
      waiting: [{ messageId: 'm2', runId: 'r2', kind: 'steer' }],
    })
    expect(contents).toEqual({
      messages: [asked, answer],
      activeStreamId: 'r1.2',
      earlier: 'r0',
      waiting: [{ id: 'm2', text: 'wait', isHeld: false }],
    })
  })

  test('says that its newest answer was stopped, and gives it a place', () => {
    const body = { status: 'cancelled', runId: 'r1', messages: [asked], waiting: [] }
    expect(chatContentsFrom(body)).toEqual({
      messages: [asked, { id: 'r1', role: 'assistant', parts: [] }],
      waiting: [],
      broken: { messageId: 'r1', how: 'stopped' },
    })
  })

  test('leaves out what is no message', () => {
    const messages = [
      null,
      {},
      { id: 'x', role: 'tool', parts: [] },
      { ...asked, parts: [{}] },
      asked,
    ]
    expect(chatContentsFrom({ messages }).messages).toEqual([asked])
  })

  test('has a title and an activity in the list', () => {
    const page = chatPageFrom({
      chats: [
        { id: 'a', title: ' ', updatedAt: 5, status: 'interrupted' },
        { id: 'b', title: 'Kelp', updatedAt: 4, status: 'completed' },
        { title: 'no id' },
      ],
      after: '4.b',
    })
    expect(page).toEqual({
      chats: [
        { id: 'a', title: 'Untitled chat', updatedAt: 5, activity: 'asking' },
        { id: 'b', title: 'Kelp', updatedAt: 4, activity: 'idle' },
      ],
      after: '4.b',
    })
  })
})

test('an activity is read', () => {
  const entry = { event_id: 'e1', kind: 'step_completed', step_label: 'plan', occurred_at: 7 }
  expect(historyEntryFrom(entry)).toEqual({
    id: 'e1',
    kind: 'step_completed',
    label: 'plan',
    at: 7,
  })
  expect(historyEntryFrom({ kind: 'step_completed' })).toBeUndefined()
})

test('an error has the server’s code and words, or says what it was', () => {
  const told = requestErrorFrom(422, '{"error":{"code":"input_invalid","message":"No."}}')
  expect(told).toMatchObject({ status: 422, code: 'input_invalid', message: 'No.' })
  const other = requestErrorFrom(502, '<html>')
  expect(other).toMatchObject({
    code: 'unexpected',
    message: 'The server answered with status 502.',
  })
})
