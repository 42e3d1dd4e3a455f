import { describe, expect, test } from 'vitest'
import {
  ann,
  createWorld,
  readAll,
  runIdOfResponse,
  streamIdOfResponse,
  submit,
  text,
  user,
} from './chat-world.ts'

describe('a new message', () => {
  test('starts a run, and its stream is the answer', async () => {
    const world = createWorld()
    const response = await world.post(submit('c1', user('m1', 'hello')))
    expect(response.status).toBe(200)
    const runId = runIdOfResponse(response)
    expect(streamIdOfResponse(response)).toBe(runId)
    await world.runs.write(ann, runId, { type: 'start', messageId: runId }, ...text('t', 'Hi', '!'))
    await world.runs.end(ann, runId, 'completed')
    const read = await readAll(response)
    expect(read.frames.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5])
    expect(read.chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' })
    expect(read.isDone).toBe(true)
    const input = await world.store.input(
      ann,
      (await world.runs.run(ann, runId)).record.input.digest,
    )
    expect(new TextDecoder().decode(input)).toBe('{"chatId":"c1","messageId":"m1"}')
  })

  test('sent sixteen times at once makes one run', async () => {
    const world = createWorld()
    const responses = await Promise.all(
      Array.from({ length: 16 }, () => world.post(submit('c1', user('m1', 'hello')))),
    )
    expect(responses.map(({ status }) => status)).toEqual(Array(16).fill(200))
    expect(new Set(responses.map(streamIdOfResponse)).size).toBe(1)
    const { items } = await world.store.runs(ann)
    expect(items).toHaveLength(1)
  })
})
