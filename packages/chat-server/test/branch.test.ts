import { describe, expect, test } from 'vitest'
import { createConversationReader } from '../src/index.ts'
import {
  ann,
  createWorld,
  errorOf,
  runIdOfResponse,
  streamIdOfResponse,
  submit,
  text,
  user,
  type World,
} from './chat-world.ts'

async function turn(world: World, id: string, words: string): Promise<string> {
  const runId = runIdOfResponse(await world.post(submit('c1', user(id, words))))
  await world.runs.write(ann, runId, ...text('t', `re: ${words}`))
  await world.runs.end(ann, runId, 'completed', { output: { text: `re: ${words}` } })
  return runId
}

function regenerate(messageId: string | undefined, ...messages: readonly unknown[]): object {
  return {
    id: 'c1',
    trigger: 'regenerate-message',
    messages,
    ...(messageId === undefined ? {} : { messageId }),
  }
}

function edit(id: string, words: string): object {
  return { ...submit('c1', user(id, words)), messageId: id }
}

async function branch(world: World): Promise<readonly string[]> {
  const { messages } = await world.messages('c1')
  return messages.map((message) => String(JSON.stringify(message).match(/"text":"([^"]*)"/)?.[1]))
}

describe('making an answer anew', () => {
  test('begins a branch where the turn stood, with the same message', async () => {
    const world = createWorld()
    const one = await turn(world, 'm1', 'one')
    const two = await turn(world, 'm2', 'two')
    const response = await world.post(regenerate(two, user('m1', 'one'), user('m2', 'two')))
    const made = runIdOfResponse(response)
    expect(made).not.toBe(two)
    await world.runs.write(ann, made, ...text('t', 'better'))
    await world.runs.end(ann, made, 'completed')
    expect(await branch(world)).toEqual(['one', 're: one', 'two', 'better'])
    expect((await world.messages('c1')).messages.map(({ id }) => id)).toEqual([
      'm1',
      one,
      'm2',
      made,
    ])
  })

  test('of an earlier answer leaves what came after it behind', async () => {
    const world = createWorld()
    const one = await turn(world, 'm1', 'one')
    await turn(world, 'm2', 'two')
    const made = runIdOfResponse(await world.post(regenerate(one, user('m1', 'one'))))
    await world.runs.end(ann, made, 'completed', { chunks: text('t', 'anew') })
    expect(await branch(world)).toEqual(['one', 'anew'])
  })

  test('stops the run that is going', async () => {
    const world = createWorld()
    const runId = runIdOfResponse(await world.post(submit('c1', user('m1', 'one'))))
    await world.post(submit('c1', user('m2', 'steered')))
    const response = await world.post(regenerate(undefined, user('m1', 'one')))
    expect(response.status).toBe(200)
    expect((await world.runs.run(ann, runId)).unread).toContain('cancel')
    await world.runs.end(ann, runId, 'cancelled')
    await world.system.settle()
    // What waited for the branch that was left behind is given up with it.
    expect((await world.store.runs(ann)).items).toHaveLength(2)
  })

  test('sent again gives the same turn', async () => {
    const world = createWorld()
    const one = await turn(world, 'm1', 'one')
    const body = regenerate(one, user('m1', 'one'))
    const responses = await Promise.all(Array.from({ length: 6 }, () => world.post(body)))
    expect(new Set(responses.map(streamIdOfResponse)).size).toBe(1)
    expect((await world.store.runs(ann)).items).toHaveLength(2)
  })

  test('of a message whose own post never arrived answers it', async () => {
    const world = createWorld()
    const response = await world.post(regenerate(undefined, user('m1', 'one')))
    expect(response.status).toBe(200)
    expect(await branch(world)).toEqual(['one'])
  })

  test('of what the chat has not is refused', async () => {
    const world = createWorld()
    await turn(world, 'm1', 'one')
    const unknown = await world.post(regenerate('nothing', user('m1', 'one')))
    expect(unknown.status).toBe(422)
    const nowhere = await world.post({ ...regenerate('nothing'), id: 'c9' })
    expect(nowhere.status).toBe(404)
    expect((await errorOf(nowhere)).code).toBe('chat_not_found')
  })
})

describe('editing a message', () => {
  test('begins a branch where its turn stood', async () => {
    const world = createWorld()
    await turn(world, 'm1', 'one')
    await turn(world, 'm2', 'two')
    await turn(world, 'm3', 'three')
    const made = runIdOfResponse(await world.post(edit('m2', 'zwei')))
    await world.runs.end(ann, made, 'completed', { chunks: text('t', 'ja') })
    expect(await branch(world)).toEqual(['one', 're: one', 'zwei', 'ja'])
  })

  test('twice and back again makes a turn each time; the same text again does not', async () => {
    const world = createWorld()
    await turn(world, 'm1', 'a')
    const ids: string[] = []
    for (const words of ['b', 'b', 'a', 'a']) {
      ids.push(runIdOfResponse(await world.post(edit('m1', words))))
    }
    expect(new Set(ids).size).toBe(2)
    expect(ids[0]).toBe(ids[1])
    expect(ids[2]).toBe(ids[3])
    expect(await branch(world)).toEqual(['a'])
  })

  test('of a message that was steered follows the turn it was sent to', async () => {
    const world = createWorld()
    const runId = runIdOfResponse(await world.post(submit('c1', user('m1', 'one'))))
    await world.post(submit('c1', user('m2', 'two')))
    const made = runIdOfResponse(await world.post(edit('m2', 'zwei')))
    await world.runs.end(ann, runId, 'cancelled')
    await world.runs.end(ann, made, 'completed')
    await world.system.settle()
    expect((await world.store.runs(ann)).items).toHaveLength(2)
    expect(await branch(world)).toEqual(['one', 'zwei'])
  })

  test('another text under a known id, without saying that it is an edit, is refused', async () => {
    const world = createWorld()
    await turn(world, 'm1', 'one')
    const response = await world.post(submit('c1', user('m1', 'other')))
    expect(response.status).toBe(409)
    expect((await errorOf(response)).code).toBe('idempotency_key_reused')
  })
})

describe('the conversation that an agent reads', () => {
  test('is the branch of its turn with each run’s output', async () => {
    const world = createWorld()
    const reader = createConversationReader({ store: world.store, supervisors: world.runs })
    const one = await turn(world, 'm1', 'one')
    const two = await turn(world, 'm2', 'two')
    const made = runIdOfResponse(await world.post(regenerate(two, user('m2', 'two'))))
    expect(await reader.turns(ann, { chatId: 'c1', messageId: 'm2' })).toEqual([
      {
        messageId: 'm1',
        message: user('m1', 'one'),
        runId: one,
        status: 'completed',
        output: { text: 're: one' },
      },
      { messageId: 'm2', message: user('m2', 'two'), runId: made, status: 'running' },
    ])
  })

  test('ends with the message that is asked for, and has its newest edition', async () => {
    const world = createWorld()
    const reader = createConversationReader({ store: world.store, supervisors: world.runs })
    await turn(world, 'm1', 'one')
    await turn(world, 'm2', 'two')
    await world.post(edit('m1', 'uno'))
    const turns = await reader.turns(ann, { chatId: 'c1', messageId: 'm1' })
    expect(turns.map(({ message }) => message)).toEqual([user('m1', 'uno')])
  })

  test('of an unknown chat, message or session is an error', async () => {
    const world = createWorld()
    const reader = createConversationReader({ store: world.store, supervisors: world.runs })
    await turn(world, 'm1', 'one')
    await expect(reader.turns(ann, { chatId: 'c9', messageId: 'm1' })).rejects.toMatchObject({
      code: 'chat_not_found',
    })
    await expect(reader.turns(ann, { chatId: 'c1', messageId: 'm9' })).rejects.toMatchObject({
      code: 'message_invalid',
    })
  })
})
