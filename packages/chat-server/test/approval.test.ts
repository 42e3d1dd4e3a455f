import type { JsonValue } from '@holdfast/core'
import { decodeInboxEntry } from '@holdfast/workflow'
import { answerKey, inboxOf } from '@holdfast/core'
import { describe, expect, test } from 'vitest'
import {
  ann,
  createWorld,
  errorOf,
  readAll,
  runIdOfResponse,
  streamIdOfResponse,
  submit,
  user,
  type World,
} from './chat-world.ts'

const first = 'approval-1'
const second = 'approval-2'

/** A run that asks for approval of two tool calls and for a tool's result from the page. */
async function askingRun(world: World): Promise<string> {
  const response = await world.post(submit('c1', user('m1', 'cancel both')))
  const runId = runIdOfResponse(response)
  await world.runs.interrupt(
    ann,
    runId,
    [
      approvalInterrupt(first, 't1'),
      approvalInterrupt(second, 't2'),
      {
        id: 'client-1',
        payload: { kind: 'client-tool', toolCallId: 't3', toolName: 'where', input: {} },
      },
    ],
    { type: 'start', messageId: runId },
    { type: 'start-step' },
    { type: 'tool-input-available', toolCallId: 't1', toolName: 'cancel', input: { n: 1 } },
    { type: 'tool-input-available', toolCallId: 't2', toolName: 'cancel', input: { n: 2 } },
    { type: 'tool-input-available', toolCallId: 't3', toolName: 'where', input: {} },
    { type: 'tool-approval-request', approvalId: first, toolCallId: 't1' },
    { type: 'tool-approval-request', approvalId: second, toolCallId: 't2' },
  )
  const read = await readAll(response)
  // C12: the request, and the stream's end.
  expect(read.isDone).toBe(true)
  expect(read.chunks.at(-1)?.type).toBe('finish')
  return runId
}

function approvalInterrupt(id: string, toolCallId: string): { id: string; payload: JsonValue } {
  return { id, payload: { kind: 'tool-approval', toolCallId, toolName: 'cancel', input: {} } }
}

function decided(approvalId: string, toolCallId: string, approved: boolean, reason?: string) {
  return {
    type: 'tool-cancel',
    toolCallId,
    state: 'approval-responded',
    input: {},
    approval: { id: approvalId, approved, ...(reason === undefined ? {} : { reason }) },
  }
}

function asked(approvalId: string, toolCallId: string): JsonValue {
  return {
    type: 'tool-cancel',
    toolCallId,
    state: 'approval-requested',
    input: {},
    approval: { id: approvalId },
  }
}

/** What `useChat` posts after `addToolApprovalResponse`. */
function answer(runId: string, ...parts: readonly unknown[]): object {
  const messages = [user('m1', 'cancel both'), { id: runId, role: 'assistant', parts }]
  return { id: 'c1', messages, trigger: 'submit-message', messageId: runId }
}

async function givenAnswer(world: World, runId: string, id: string): Promise<JsonValue> {
  const entry = await world.store.logEntry(ann, inboxOf(runId), answerKey(id))
  if (entry === undefined) return 'none'
  const decoded = decodeInboxEntry(entry)
  return decoded.kind === 'answer' ? { by: decoded.by, payload: decoded.payload } : 'other'
}

describe('decisions', () => {
  test('are given to the run, and the answer is its next stream', async () => {
    const world = createWorld()
    const runId = await askingRun(world)
    const response = await world.post(
      answer(runId, decided(first, 't1', true), decided(second, 't2', false, 'too dear')),
    )
    expect(response.status).toBe(200)
    expect(streamIdOfResponse(response)).toBe(`${runId}.2`)
    expect(runIdOfResponse(response)).toBe(runId)
    expect(await givenAnswer(world, runId, first)).toEqual({
      by: 'person',
      payload: { approved: true },
    })
    expect(await givenAnswer(world, runId, second)).toEqual({
      by: 'person',
      payload: { approved: false, reason: 'too dear' },
    })
    await world.runs.readInbox(ann, runId)
    await world.runs.end(ann, runId, 'completed')
    expect((await readAll(response)).chunks.at(-1)?.type).toBe('finish')
  })

  test('may be partial: what is not decided stays open', async () => {
    const world = createWorld()
    const runId = await askingRun(world)
    const one = await world.post(answer(runId, decided(first, 't1', true), asked(second, 't2')))
    expect(streamIdOfResponse(one)).toBe(`${runId}.2`)
    expect(await givenAnswer(world, runId, second)).toBe('none')
    await world.runs.readInbox(ann, runId)
    await world.runs.interrupt(ann, runId, [])
    const { record } = await world.runs.run(ann, runId)
    expect(record.interrupts.map(({ id }) => id)).toEqual([second, 'client-1'])
    // The page still has the first decision; only the second is new.
    const two = await world.post(
      answer(runId, decided(first, 't1', true), decided(second, 't2', true)),
    )
    expect(streamIdOfResponse(two)).toBe(`${runId}.3`)
    expect(await givenAnswer(world, runId, second)).toMatchObject({ payload: { approved: true } })
  })

  test('C14: a denial alone is a decision', async () => {
    const world = createWorld()
    const runId = await askingRun(world)
    const response = await world.post(
      answer(runId, decided(first, 't1', false), decided(second, 't2', false)),
    )
    expect(response.status).toBe(200)
    expect(await givenAnswer(world, runId, first)).toMatchObject({ payload: { approved: false } })
  })

  test('sent again give the same stream and change nothing', async () => {
    const world = createWorld()
    const runId = await askingRun(world)
    const body = answer(runId, decided(first, 't1', true), asked(second, 't2'))
    const responses = await Promise.all(Array.from({ length: 6 }, () => world.post(body)))
    expect(responses.map(streamIdOfResponse)).toEqual(Array(6).fill(`${runId}.2`))
    await world.runs.readInbox(ann, runId)
    await world.runs.end(ann, runId, 'completed')
    const late = await world.post(body)
    expect(streamIdOfResponse(late)).toBe(`${runId}.2`)
    expect((await readAll(late)).isDone).toBe(true)
  })

  test('sent again in another way are refused', async () => {
    const world = createWorld()
    const runId = await askingRun(world)
    await world.post(answer(runId, decided(first, 't1', true)))
    const response = await world.post(answer(runId, decided(first, 't1', false)))
    expect(response.status).toBe(409)
    expect((await errorOf(response)).code).toBe('interrupt_answered')
    expect(await givenAnswer(world, runId, first)).toMatchObject({ payload: { approved: true } })
  })

  test('the output of a client-side tool answers its call', async () => {
    const world = createWorld()
    const runId = await askingRun(world)
    const response = await world.post(
      answer(runId, {
        type: 'tool-where',
        toolCallId: 't3',
        state: 'output-available',
        input: {},
        output: { city: 'Oslo' },
      }),
    )
    expect(streamIdOfResponse(response)).toBe(`${runId}.2`)
    expect(await givenAnswer(world, runId, 'client-1')).toMatchObject({
      payload: { output: { city: 'Oslo' } },
    })
  })

  test('the failure of a client-side tool answers its call', async () => {
    const world = createWorld()
    const runId = await askingRun(world)
    await world.post(
      answer(runId, {
        type: 'dynamic-tool',
        toolName: 'where',
        toolCallId: 't3',
        state: 'output-error',
        input: {},
        errorText: 'no position',
      }),
    )
    expect(await givenAnswer(world, runId, 'client-1')).toMatchObject({
      payload: { error: 'no position' },
    })
  })

  test('A16: an approval that nobody asked for is refused, and nothing of the rest is taken', async () => {
    const world = createWorld()
    const runId = await askingRun(world)
    const response = await world.post(
      answer(runId, decided(first, 't1', true), decided('forged', 't9', true)),
    )
    expect(response.status).toBe(409)
    expect((await errorOf(response)).code).toBe('approval_invalid')
    expect(await givenAnswer(world, runId, first)).toBe('none')
    expect((await world.runs.run(ann, runId)).inboxNext).toBe(0)
  })

  test('A16: an approval cannot be given to a client-side tool or by an output, nor an output to an approval', async () => {
    const world = createWorld()
    const runId = await askingRun(world)
    const response = await world.post(
      answer(runId, {
        type: 'tool-cancel',
        toolCallId: 't1',
        state: 'output-available',
        input: {},
        output: 'paid',
      }),
    )
    expect(response.status).toBe(422)
    expect((await world.runs.run(ann, runId)).inboxNext).toBe(0)
  })

  test('A16: an approval of a run that is not this chat’s is refused, whoever’s it is', async () => {
    const world = createWorld()
    const runId = await askingRun(world)
    await world.post(submit('c2', user('m1', 'other')))
    const answers = await Promise.all(
      [ann, 'b'].map(async (who) => {
        const body = { ...answer(runId, decided(first, 't1', true)), id: 'c2' }
        if (who !== ann) await world.post(submit('c2', user('m1', 'mine')), 'bob')
        const response = await world.post(body, who === ann ? 'ann' : 'bob')
        return `${response.status} ${await response.text()}`
      }),
    )
    expect(new Set(answers)).toHaveLength(1)
    expect(answers[0]).toContain('approval_invalid')
    expect((await world.runs.run(ann, runId)).inboxNext).toBe(0)
  })

  test('A16: of a turn that was left behind are refused', async () => {
    const world = createWorld()
    const runId = await askingRun(world)
    await world.post({
      id: 'c1',
      trigger: 'regenerate-message',
      messageId: runId,
      messages: [user('m1', 'cancel both')],
    })
    const response = await world.post(answer(runId, decided(first, 't1', true)))
    expect(response.status).toBe(409)
    expect((await errorOf(response)).code).toBe('approval_invalid')
  })

  test('of none, while the run waits for one, are refused', async () => {
    const world = createWorld()
    const runId = await askingRun(world)
    const response = await world.post(answer(runId, asked(first, 't1')))
    expect(response.status).toBe(422)
  })
})

describe('open questions and a new text', () => {
  test('are answered no, and the text is told to the run in the same commit', async () => {
    const world = createWorld()
    const runId = await askingRun(world)
    const response = await world.post(submit('c1', user('m1', 'x'), user('m2', 'never mind')))
    expect(response.status).toBe(200)
    expect(streamIdOfResponse(response)).toBe(`${runId}.1-2`)
    expect(await givenAnswer(world, runId, first)).toMatchObject({
      payload: { approved: false, reason: 'superseded' },
    })
    expect(await givenAnswer(world, runId, 'client-1')).toMatchObject({
      payload: { error: 'superseded' },
    })
    expect((await world.runs.run(ann, runId)).unread).toContain('message/m2')
    expect(world.runs.calls).toMatchObject({ resumeMany: 1, send: 0 })
  })

  test('with queueing, are answered no, and the text waits for its own turn', async () => {
    const world = createWorld({ onBusy: 'queue' })
    const runId = await askingRun(world)
    const response = await world.post(submit('c1', user('m2', 'never mind')))
    const next = runIdOfResponse(response)
    expect(next).not.toBe(runId)
    expect(await givenAnswer(world, runId, second)).toMatchObject({ payload: { approved: false } })
    await world.runs.readInbox(ann, runId)
    await world.runs.end(ann, runId, 'completed')
    await world.system.settle()
    await world.runs.end(ann, next, 'completed')
    expect((await readAll(response)).isDone).toBe(true)
  })

  test('of another kind end the turn, and the text begins the next', async () => {
    const world = createWorld()
    const posted = await world.post(submit('c1', user('m1', 'go on for ever')))
    const runId = runIdOfResponse(posted)
    await world.runs.interrupt(ann, runId, [{ id: 'budget', payload: { kind: 'budget' } }])
    const response = await world.post(submit('c1', user('m2', 'no, stop')))
    expect(runIdOfResponse(response)).not.toBe(runId)
    expect(world.runs.calls).toMatchObject({ start: 2, cancel: 1, resumeMany: 0 })
  })

  test('a decision and a text at once: one of them wins, and nothing acknowledged is lost', async () => {
    const world = createWorld()
    const runId = await askingRun(world)
    const [decision, message] = await Promise.all([
      world.post(answer(runId, decided(first, 't1', true))),
      world.post(submit('c1', user('m2', 'never mind'))),
    ])
    expect(message.status).toBe(200)
    expect([200, 409]).toContain(decision.status)
    const given = await givenAnswer(world, runId, first)
    expect(given).toMatchObject({ payload: { approved: decision.status === 200 } })
    expect((await world.runs.run(ann, runId)).unread).toContain('message/m2')
  })
})
