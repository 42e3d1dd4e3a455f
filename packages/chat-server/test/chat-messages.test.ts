import { describe, expect, test } from 'vitest'
import type { ChatList } from '../src/index.ts'
import { ann, createWorld, runIdOfResponse, submit, text, user, type World } from './chat-world.ts'

const approval = { id: 'p1', payload: { kind: 'tool-approval', toolCallId: 't', toolName: 'pay' } }

async function startedRun(world: World): Promise<string> {
  return runIdOfResponse(await world.post(submit('c1', user('m1', 'hello'))))
}

async function interrupted(world: World): Promise<string> {
  const runId = await startedRun(world)
  await world.runs.interrupt(
    ann,
    runId,
    [approval],
    { type: 'start', messageId: runId },
    { type: 'start-step' },
    ...text('a', 'May I?'),
    { type: 'tool-input-available', toolCallId: 't', toolName: 'pay', input: { n: 1 } },
    { type: 'tool-approval-request', approvalId: 'p1', toolCallId: 't' },
  )
  return runId
}

function toolPart(messages: readonly unknown[]): unknown {
  const message = messages.at(-1) as { readonly parts: readonly { readonly type: string }[] }
  return message.parts.find(({ type }) => type === 'tool-pay')
}

describe('the messages of a chat', () => {
  test('of a first stream that goes on hold nothing of it; the page resumes it from 0', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    await world.runs.write(ann, runId, { type: 'start', messageId: runId }, ...text('a', 'Hi'))
    expect(await world.messages('c1')).toEqual({
      id: 'c1',
      title: 'hello',
      createdAt: world.system.now(),
      updatedAt: world.system.now(),
      status: 'running',
      runId,
      activeStreamId: runId,
      messages: [user('m1', 'hello')],
      interrupts: [],
      waiting: [],
    })
  })

  test('of a run that waits for a person show its question and have no active stream', async () => {
    const world = createWorld()
    const runId = await interrupted(world)
    const chat = await world.messages('c1')
    expect(chat).toMatchObject({
      status: 'interrupted',
      runId,
      interrupts: [{ id: 'p1', payload: approval.payload }],
    })
    expect(chat.activeStreamId).toBeUndefined()
    expect(chat.messages.at(-1)).toMatchObject({ id: runId, role: 'assistant' })
    expect(toolPart(chat.messages)).toMatchObject({
      state: 'approval-requested',
      approval: { id: 'p1' },
    })
  })

  test('show an answer that was accepted, before the run has said so', async () => {
    const world = createWorld()
    const runId = await interrupted(world)
    const part = {
      type: 'tool-pay',
      toolCallId: 't',
      state: 'approval-responded',
      approval: { id: 'p1', approved: true, reason: 'fine' },
    }
    await world.post(submit('c1', { id: runId, role: 'assistant', parts: [part] }))
    const chat = await world.messages('c1')
    expect(chat).toMatchObject({ status: 'running', activeStreamId: `${runId}.2`, interrupts: [] })
    expect(toolPart(chat.messages)).toMatchObject({
      state: 'approval-responded',
      approval: { id: 'p1', approved: true, reason: 'fine' },
    })
    // The second stream's chunks are not among them while it is open, and once it is closed they are, once.
    await world.runs.readInbox(ann, runId)
    await world.runs.write(ann, runId, { type: 'start', messageId: runId }, ...text('b', 'Paid.'))
    expect(JSON.stringify(await world.messages('c1'))).not.toContain('Paid.')
    await world.runs.end(ann, runId, 'completed', {
      chunks: [{ type: 'tool-output-available', toolCallId: 't', output: 'ok' }],
    })
    const after = JSON.stringify((await world.messages('c1')).messages)
    expect(after.match(/Paid\./g)).toHaveLength(1)
    expect(after.match(/May I\?/g)).toHaveLength(1)
  })

  test('of a turn that was stopped have nothing open any more', async () => {
    const world = createWorld()
    const runId = await interrupted(world)
    await world.runs.end(ann, runId, 'cancelled', {
      chunks: [
        { type: 'text-start', id: 'b' },
        { type: 'text-delta', id: 'b', delta: 'par' },
        { type: 'tool-input-available', toolCallId: 'u', toolName: 'look', input: {} },
      ],
    })
    const chat = await world.messages('c1')
    expect(toolPart(chat.messages)).toMatchObject({
      state: 'output-denied',
      approval: { id: 'p1', approved: false },
    })
    const states = JSON.stringify(chat.messages.at(-1))
    expect(states).toContain('"state":"output-error"')
    expect(states).toContain('"text":"par","state":"done"')
  })

  test('come in pages of turns, the newest first asked for', async () => {
    const world = createWorld()
    for (let at = 0; at < 7; at += 1) {
      const runId = runIdOfResponse(await world.post(submit('c1', user(`m${at}`, `q${at}`))))
      await world.runs.end(ann, runId, 'completed', { chunks: text('a', `a${at}`) })
    }
    const seen: unknown[] = []
    let query = '?limit=3'
    for (;;) {
      const page = (await (await world.fetch(`/api/chat/c1/messages${query}`)).json()) as {
        readonly messages: readonly { readonly id: string }[]
        readonly before?: string
        readonly status: string
      }
      expect(page.status).toBe('completed')
      seen.unshift(...page.messages.filter(({ id }) => id.startsWith('m')).map(({ id }) => id))
      if (page.before === undefined) break
      query = `?limit=3&before=${page.before}`
    }
    expect(seen).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6'])
  })

  test('before a turn that the chat has not got is refused, lest a reader page for ever', async () => {
    const world = createWorld()
    await world.post(submit('c1', user('m1', 'hello')))
    const response = await world.fetch('/api/chat/c1/messages?before=unknown')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'arguments_invalid' } })
  })
})

describe('the list of chats', () => {
  test('has the one used last first, in pages without loss or repeat', async () => {
    const world = createWorld()
    for (let at = 0; at < 12; at += 1) {
      await world.post(submit(`c${at}`, user('m1', `chat ${at}`)))
      if (at % 3 === 2) await world.system.advance(1)
    }
    await world.system.advance(1)
    await world.post(submit('c3', user('m2', 'again')))
    const seen: string[] = []
    let query = '?limit=5'
    for (;;) {
      const response = await world.fetch(`/api/chat${query}`)
      const { chats, after } = (await response.json()) as ChatList
      seen.push(...chats.map(({ id }) => id))
      if (after === undefined) break
      query = `?limit=5&after=${after}`
    }
    expect(seen[0]).toBe('c3')
    expect(seen).toHaveLength(12)
    expect(new Set(seen).size).toBe(12)
    expect(seen.indexOf('c11')).toBeLessThan(seen.indexOf('c0'))
  })

  test('says what each is called and whether it is busy', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    const read = async (): Promise<unknown> =>
      ((await (await world.fetch('/api/chat')).json()) as ChatList).chats[0]
    expect(await read()).toEqual({
      id: 'c1',
      title: 'hello',
      createdAt: world.system.now(),
      updatedAt: world.system.now(),
      status: 'running',
    })
    await world.runs.end(ann, runId, 'failed')
    expect(await read()).toMatchObject({ status: 'failed' })
  })
})
