import { describe, expect, test } from 'vitest'
import {
  ann,
  createWorld,
  errorOf,
  readAll,
  runIdOfResponse,
  streamIdOfResponse,
  submit,
  text,
  user,
  type World,
} from './chat-world.ts'

async function startedRun(world: World): Promise<string> {
  return runIdOfResponse(await world.post(submit('c1', user('m1', 'hello'))))
}

async function runIds(world: World): Promise<readonly string[]> {
  return (await world.store.runs(ann)).items.map(({ record }) => record.id)
}

describe('a message while the run is going, steered', () => {
  test('A24: is in the run’s inbox, and the answer is the run’s stream from its beginning', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    await world.runs.write(ann, runId, { type: 'start', messageId: runId })
    const response = await world.post(submit('c1', user('m1', 'hello'), user('m2', 'in French')))
    expect(response.status).toBe(200)
    expect(streamIdOfResponse(response)).toBe(runId)
    expect((await world.runs.run(ann, runId)).unread).toEqual(['message/m2'])
    expect((await world.messages('c1')).waiting).toMatchObject([{ messageId: 'm2', kind: 'steer' }])
    await world.runs.readInbox(ann, runId)
    const taken = {
      type: 'steering-message',
      id: 'm2',
      parts: [{ type: 'text', text: 'in French' }],
    }
    await world.runs.write(ann, runId, taken, ...text('t', 'Bonjour'))
    await world.runs.end(ann, runId, 'completed')
    const read = await readAll(response)
    expect(read.frames[0]?.index).toBe(0)
    expect(read.chunks).toContainEqual(taken)
    const after = await world.messages('c1')
    expect(after.waiting).toEqual([])
    expect(after.messages.map(({ id }) => id)).toEqual(['m1', runId])
    expect(await runIds(world)).toHaveLength(1)
  })

  test('that came too late becomes the next turn, with the run its sender was promised', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    await world.post(submit('c1', user('m2', 'and?')))
    const [promised] = (await world.messages('c1')).waiting
    // The run ends without having read its inbox: its end names the message as undelivered.
    await world.runs.end(ann, runId, 'completed')
    await world.system.settle()
    expect(await runIds(world)).toEqual([runId, promised?.runId])
    const after = await world.messages('c1')
    expect(after.messages.map(({ id }) => id)).toEqual(['m1', 'm2'])
    expect(after).toMatchObject({
      waiting: [],
      runId: promised?.runId,
      activeStreamId: promised?.runId,
    })
    const again = await world.post(submit('c1', user('m2', 'and?')))
    expect(streamIdOfResponse(again)).toBe(promised?.runId)
  })

  test('several that came too late become a turn each, in their order', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    for (const id of ['m2', 'm3', 'm4']) await world.post(submit('c1', user(id, id)))
    const promised = (await world.messages('c1')).waiting.map(({ runId: own }) => own)
    for (const id of [runId, ...promised]) {
      await world.runs.end(ann, id, 'completed')
      await world.system.settle()
    }
    expect(await runIds(world)).toEqual([runId, ...promised].toSorted())
    const { messages, waiting } = await world.messages('c1')
    expect(waiting).toEqual([])
    expect(messages.filter(({ role }) => role === 'user').map(({ id }) => id)).toEqual([
      'm1',
      'm2',
      'm3',
      'm4',
    ])
  })

  test('a watch that was lost with its process is made up for by the next request', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    await world.post(submit('c1', user('m2', 'and?')))
    world.handler.drain()
    await world.runs.end(ann, runId, 'completed')
    await world.system.settle()
    expect(await runIds(world)).toHaveLength(1)
    const restarted = createWorld({ store: world.store, supervisors: world.runs })
    const response = await restarted.fetch('/api/chat/c1/stream')
    expect(response.status).toBe(200)
    expect(await runIds(world)).toHaveLength(2)
  })

  test('settled by many at once becomes one turn', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    await world.post(submit('c1', user('m2', 'and?')))
    await world.runs.end(ann, runId, 'completed')
    await Promise.all(Array.from({ length: 12 }, () => world.handler.settle(ann, 'c1')))
    expect(await runIds(world)).toHaveLength(2)
  })

  test('sent again is taken once', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => world.post(submit('c1', user('m2', 'and?')))),
    )
    expect(responses.map(streamIdOfResponse)).toEqual(Array(8).fill(runId))
    expect((await world.runs.run(ann, runId)).unread).toEqual(['message/m2'])
  })

  test('whose id the run’s inbox has from elsewhere is in the chat all the same', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    const supervisor = world.runs.session(ann)
    await supervisor.send({ runId, message: { id: 'm2', body: 'from the host' } })
    expect((await world.post(submit('c1', user('m2', 'and?')))).status).toBe(200)
    expect((await world.messages('c1')).messages.map(({ id }) => id)).toEqual(['m1', 'm2'])
  })

  test('too large for an inbox waits for its own turn', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    const response = await world.post(submit('c1', user('m2', 'x'.repeat(70_000))))
    expect(runIdOfResponse(response)).not.toBe(runId)
    expect((await world.runs.run(ann, runId)).unread).toEqual([])
  })

  test('that a stopped run took up before it ended is not said again', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    await world.post(submit('c1', user('m2', 'and?')))
    await world.runs.readInbox(ann, runId)
    await world.runs.write(ann, runId, { type: 'steering-message', id: 'm2', parts: [] })
    await world.runs.end(ann, runId, 'failed')
    await world.system.settle()
    expect(await runIds(world)).toHaveLength(1)
    expect((await world.messages('c1')).waiting).toEqual([])
  })

  test('that a run had and did not look at before it failed becomes the next turn', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    await world.post(submit('c1', user('m2', 'and?')))
    await world.runs.readInbox(ann, runId)
    await world.runs.end(ann, runId, 'failed')
    await world.system.settle()
    expect(await runIds(world)).toHaveLength(2)
  })
})

describe('a message while the run is going, queued', () => {
  test('waits, is promised its own stream, and comes to its turn when the run has ended', async () => {
    const world = createWorld({ onBusy: 'queue' })
    const runId = await startedRun(world)
    const response = await world.post(submit('c1', user('m2', 'next')))
    const next = runIdOfResponse(response)
    expect(streamIdOfResponse(response)).toBe(next)
    expect(await runIds(world)).toEqual([runId])
    // A client that lost the connection finds the stream again before the run is there.
    expect((await world.fetch(`/api/chat/${next}/stream`)).status).toBe(200)
    await world.runs.end(ann, runId, 'completed')
    await world.system.settle()
    expect(await runIds(world)).toEqual([runId, next])
    await world.runs.write(ann, next, ...text('t', 'done'))
    await world.runs.end(ann, next, 'completed')
    expect((await readAll(response)).chunks).toHaveLength(4)
  })

  test('can be withdrawn by its stream’s id', async () => {
    const world = createWorld({ onBusy: 'queue' })
    const runId = await startedRun(world)
    const next = runIdOfResponse(await world.post(submit('c1', user('m2', 'next'))))
    const stopped = await world.fetch(`/api/chat/${next}/cancel`, { method: 'POST' })
    expect(await stopped.json()).toEqual({ runId: next, status: 'cancelled', alreadyEnded: false })
    await world.runs.end(ann, runId, 'completed')
    await world.system.settle()
    expect(await runIds(world)).toEqual([runId])
    expect((await world.fetch(`/api/chat/${next}/stream`)).status).toBe(404)
  })

  test('beyond what may wait is refused for now', async () => {
    const world = createWorld({ onBusy: 'queue', limits: { waitingMessages: 2 } })
    await startedRun(world)
    const statuses: number[] = []
    for (const id of ['m2', 'm3', 'm4']) {
      statuses.push((await world.post(submit('c1', user(id, id)))).status)
    }
    expect(statuses).toEqual([200, 200, 429])
  })
})

describe('a message while the run is going, rejected', () => {
  test('is refused for now and leaves no trace', async () => {
    const world = createWorld({ onBusy: 'reject' })
    const runId = await startedRun(world)
    const response = await world.post(submit('c1', user('m2', 'next')))
    expect(response.status).toBe(409)
    expect(response.headers.get('retry-after')).toBe('1')
    expect((await errorOf(response)).code).toBe('chat_busy')
    await world.runs.end(ann, runId, 'completed')
    const later = await world.post(submit('c1', user('m2', 'next')))
    expect(later.status).toBe(200)
    expect(await runIds(world)).toHaveLength(2)
  })
})

describe('two different messages at once', () => {
  for (const onBusy of ['steer', 'queue', 'reject'] as const) {
    test(`to an idle chat: one begins the turn, the other is ${onBusy}ed`, async () => {
      const world = createWorld({ onBusy })
      const responses = await Promise.all(
        ['m1', 'm2', 'm3'].map((id) => world.post(submit('c1', user(id, id)))),
      )
      expect(await runIds(world)).toHaveLength(1)
      const statuses = responses.map(({ status }) => status).toSorted((one, other) => one - other)
      expect(statuses).toEqual(onBusy === 'reject' ? [200, 409, 409] : [200, 200, 200])
      expect((await world.messages('c1')).waiting).toHaveLength(onBusy === 'reject' ? 0 : 2)
    })
  }

  test('by the dozen are all taken, in the order in which they came', async () => {
    const world = createWorld({ onBusy: 'queue' })
    const ids = Array.from({ length: 40 }, (_, at) => `m${at}`)
    const responses = await Promise.all(ids.map((id) => world.post(submit('c1', user(id, id)))))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    const { messages } = await world.messages('c1')
    expect(messages.map(({ id }) => id)).toEqual(ids)
  })
})
