import { describe, expect, test } from 'vitest'
import {
  ann,
  createWorld,
  readAll,
  runIdOfResponse,
  submit,
  text,
  user,
  type World,
} from './chat-world.ts'

async function stop(world: World, id: string): Promise<unknown> {
  const response = await world.fetch(`/api/chat/${id}/cancel`, { method: 'POST' })
  expect(response.status).toBe(200)
  return await response.json()
}

describe('stop', () => {
  test('C4: by chat id is durable, and every reader gets the end', async () => {
    const world = createWorld()
    const response = await world.post(submit('c1', user('m1', 'hello')))
    const runId = runIdOfResponse(response)
    const other = await world.fetch('/api/chat/c1/stream')
    await world.runs.write(ann, runId, ...text('t', 'par'))
    expect(await stop(world, 'c1')).toMatchObject({
      runId,
      streamId: runId,
      status: 'running',
      alreadyEnded: false,
    })
    expect((await world.runs.run(ann, runId)).unread).toEqual(['cancel'])
    await world.runs.end(ann, runId, 'cancelled')
    for (const reader of [response, other]) {
      const read = await readAll(reader)
      expect(read.isDone).toBe(true)
      expect(read.chunks.at(-1)?.type).toBe('abort')
    }
    const { messages, status } = await world.messages('c1')
    expect(status).toBe('cancelled')
    expect(JSON.stringify(messages)).toContain('par')
  })

  test('works by run id and by stream id', async () => {
    const world = createWorld()
    for (const suffix of ['', '.1', '.2']) {
      const chat = `c${suffix.length}${suffix.slice(1)}`
      const runId = runIdOfResponse(await world.post(submit(chat, user('m1', 'hello'))))
      if (suffix === '.1') continue
      expect(await stop(world, `${runId}${suffix}`)).toMatchObject({ runId, alreadyEnded: false })
    }
    expect(world.runs.calls.cancel).toBe(2)
  })

  test('twice, or of what has ended by itself, is no error', async () => {
    const world = createWorld()
    const runId = runIdOfResponse(await world.post(submit('c1', user('m1', 'hello'))))
    await stop(world, 'c1')
    expect(await stop(world, 'c1')).toMatchObject({ runId })
    await world.runs.end(ann, runId, 'cancelled')
    expect(await stop(world, 'c1')).toMatchObject({ status: 'cancelled', alreadyEnded: true })
    const next = runIdOfResponse(await world.post(submit('c1', user('m2', 'again'))))
    await world.runs.end(ann, next, 'completed')
    expect(await stop(world, 'c1')).toEqual({
      runId: next,
      streamId: next,
      status: 'completed',
      alreadyEnded: true,
    })
  })

  test('closing the connection is none', async () => {
    const world = createWorld()
    const response = await world.post(submit('c1', user('m1', 'hello')))
    await response.body?.cancel()
    await world.system.settle()
    expect(world.runs.calls.cancel).toBe(0)
  })

  test('holds back what waits until the next message, which comes after it', async () => {
    const world = createWorld()
    const runId = runIdOfResponse(await world.post(submit('c1', user('m1', 'hello'))))
    await world.post(submit('c1', user('m2', 'and?')))
    await stop(world, 'c1')
    await world.runs.end(ann, runId, 'cancelled')
    await world.system.settle()
    expect((await world.store.runs(ann)).items).toHaveLength(1)
    const { waiting, messages } = await world.messages('c1')
    expect(waiting).toMatchObject([{ messageId: 'm2', held: true }])
    expect(messages.map(({ id }) => id)).toContain('m2')
    await world.post(submit('c1', user('m3', 'go on')))
    await world.system.settle()
    const second = await world.messages('c1')
    expect(second.waiting).toMatchObject([{ messageId: 'm3' }])
    await world.runs.end(ann, second.runId ?? '', 'completed')
    await world.system.settle()
    const third = await world.messages('c1')
    expect(third.waiting).toEqual([])
    const users = third.messages.filter(({ role }) => role === 'user').map(({ id }) => id)
    expect(users).toEqual(['m1', 'm2', 'm3'])
  })

  test('lets a message that is sent while the run is ending wait for its end', async () => {
    const world = createWorld()
    const runId = runIdOfResponse(await world.post(submit('c1', user('m1', 'hello'))))
    await stop(world, 'c1')
    const response = await world.post(submit('c1', user('m2', 'better')))
    expect(runIdOfResponse(response)).not.toBe(runId)
    expect((await world.runs.run(ann, runId)).unread).toEqual(['cancel'])
    await world.runs.end(ann, runId, 'cancelled')
    await world.system.settle()
    await world.runs.end(ann, runIdOfResponse(response), 'completed')
    expect((await readAll(response)).isDone).toBe(true)
  })
})

describe('nothing active', () => {
  test('C8: a chat whose turn has ended, or waits for a person, answers 204', async () => {
    const world = createWorld()
    const runId = runIdOfResponse(await world.post(submit('c1', user('m1', 'hello'))))
    await world.runs.interrupt(ann, runId, [{ id: 'i1', payload: { kind: 'tool-approval' } }])
    const asking = await world.fetch('/api/chat/c1/stream')
    expect(asking.status).toBe(204)
    expect(asking.body).toBeNull()
    await stop(world, 'c1')
    await world.runs.end(ann, runId, 'cancelled')
    expect((await world.fetch('/api/chat/c1/stream')).status).toBe(204)
  })

  test('C11: a chat that does not exist answers 404 everywhere', async () => {
    const world = createWorld()
    expect((await world.fetch('/api/chat/c9/stream')).status).toBe(404)
    expect((await world.fetch('/api/chat/c9/messages')).status).toBe(404)
    expect((await world.fetch('/api/chat/c9/cancel', { method: 'POST' })).status).toBe(404)
    expect((await world.fetch('/api/chat/c9', { method: 'DELETE' })).status).toBe(404)
  })
})

describe('forgetting a chat', () => {
  test('stops its run, and the chat is no more; its id begins anew', async () => {
    const world = createWorld()
    const runId = runIdOfResponse(await world.post(submit('c1', user('m1', 'hello'))))
    const deleted = await world.fetch('/api/chat/c1', { method: 'DELETE' })
    expect(deleted.status).toBe(204)
    expect((await world.runs.run(ann, runId)).unread).toEqual(['cancel'])
    for (const path of ['/api/chat/c1/messages', '/api/chat/c1/stream']) {
      expect((await world.fetch(path)).status).toBe(404)
    }
    expect(await (await world.fetch('/api/chat')).json()).toEqual({ chats: [] })
    const again = await world.post(submit('c1', user('m1', 'anew')))
    expect(runIdOfResponse(again)).not.toBe(runId)
    expect((await world.messages('c1')).messages).toEqual([user('m1', 'anew')])
  })
})
