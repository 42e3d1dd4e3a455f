import { renderMessage, type UiChunk } from '@holdfast/chat-protocol'
import type { JsonValue, Store } from '@holdfast/core'
import { createMemoryStore } from '@holdfast/store-memory'
import { createManualSystem, createSeededRandom } from '@holdfast/testing'
import { describe, expect, test } from 'vitest'
import {
  ann,
  createWorld,
  errorOf,
  readAll,
  readerOf,
  runIdOfResponse,
  submit,
  text,
  user,
  type World,
} from './chat-world.ts'
import { createScriptedRuns } from './scripted-runs.ts'

/** A turn with two steps, a tool, parts that overlap, and a step that was tried again. */
const chunks: readonly JsonValue[] = [
  { type: 'start', messageId: 'r' },
  { type: 'start-step' },
  ...text('a', 'one ', 'two '),
  { type: 'reasoning-start', id: 'b' },
  { type: 'text-start', id: 'c' },
  { type: 'reasoning-delta', id: 'b', delta: 'hm' },
  { type: 'text-delta', id: 'c', delta: 'three ' },
  { type: 'reasoning-end', id: 'b' },
  { type: 'text-end', id: 'c' },
  { type: 'tool-input-start', toolCallId: 't1', toolName: 'look' },
  { type: 'tool-input-delta', toolCallId: 't1', inputTextDelta: '{"n":' },
  { type: 'tool-input-delta', toolCallId: 't1', inputTextDelta: '1}' },
  { type: 'tool-input-available', toolCallId: 't1', toolName: 'look', input: { n: 1 } },
  { type: 'tool-output-available', toolCallId: 't1', output: { found: true } },
  { type: 'finish-step' },
  { type: 'start-step' },
  { type: 'text-start', id: 'a' },
  { type: 'text-delta', id: 'a', delta: 'lost' },
  { type: 'reset-step' },
  ...text('a', 'four'),
  { type: 'data-note', id: 'n', data: 1 },
  { type: 'finish-step' },
]

async function startedRun(world: World): Promise<string> {
  const response = await world.post(submit('c1', user('m1', 'hello')))
  await response.body?.cancel()
  return runIdOfResponse(response)
}

async function finishedRun(world: World): Promise<string> {
  const runId = await startedRun(world)
  await world.runs.write(ann, runId, ...chunks)
  await world.runs.end(ann, runId, 'completed')
  return runId
}

describe('reading a stream', () => {
  test('C1: for every k, the first k chunks and a read from k are the whole', async () => {
    const world = createWorld()
    const runId = await finishedRun(world)
    const whole = await readAll(await world.fetch(`/api/chat/${runId}/stream`))
    expect(whole.chunks).toHaveLength(chunks.length + 1)
    for (let k = 0; k <= whole.chunks.length; k += 1) {
      const response = await world.fetch(`/api/chat/${runId}/stream?startIndex=${k}`)
      expect(response.headers.get('x-holdfast-start-index')).toBe(String(k))
      const rest = await readAll(response)
      expect(rest.isDone).toBe(true)
      expect(rest.frames.map(({ index }) => index)).toEqual(rest.chunks.map((_, at) => k + at))
      expect([...whole.chunks.slice(0, k), ...rest.chunks]).toEqual(whole.chunks)
    }
  })

  test('C1: a cut at every k of a stream that grows loses and doubles nothing', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    const seen: UiChunk[] = []
    for (const chunk of chunks) {
      await world.runs.write(ann, runId, chunk)
      const reader = readerOf(
        await world.fetch(`/api/chat/${runId}/stream?startIndex=${seen.length}`),
      )
      seen.push(...(await reader.until(1)).chunks)
      await reader.cancel()
    }
    expect(seen).toEqual(chunks)
  })

  test('a Last-Event-ID goes on after that chunk, whatever the URL says', async () => {
    const world = createWorld()
    const runId = await finishedRun(world)
    const response = await world.fetch(`/api/chat/${runId}/stream?startIndex=0`, {
      headers: { 'last-event-id': '20' },
    })
    expect((await readAll(response)).frames[0]?.index).toBe(21)
  })

  test('C2: for a tail of every n, all that is rendered equals that part of the whole', async () => {
    const world = createWorld()
    const runId = await finishedRun(world)
    const whole = await readAll(await world.fetch(`/api/chat/${runId}/stream`))
    for (let n = 1; n <= whole.chunks.length + 3; n += 1) {
      const response = await world.fetch(`/api/chat/${runId}/stream?startIndex=-${n}`)
      const tail = Number(response.headers.get('x-workflow-stream-tail-index'))
      expect(tail).toBe(whole.chunks.length - 1)
      const served = Number(response.headers.get('x-holdfast-start-index'))
      expect(served).toBeLessThanOrEqual(Math.max(0, tail + 1 - n))
      const read = await readAll(response)
      expect(read.frames[0]?.index).toBe(served)
      expect(read.chunks).toEqual(whole.chunks.slice(served))
      const rendered = renderMessage(read.chunks)
      expect(rendered.orphans).toBe(0)
      const expected = renderMessage(whole.chunks).parts
      expect(expected.slice(expected.length - rendered.parts.length)).toEqual(rendered.parts)
    }
  })

  test('C2: a tail of a stream that grows begins where nothing is open', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    await world.runs.write(ann, runId, ...chunks.slice(0, 9))
    const response = await world.fetch(`/api/chat/${runId}/stream?startIndex=-1`)
    // Two parts are open at the tail; they began at 6 and 7.
    expect(response.headers.get('x-holdfast-start-index')).toBe('6')
    await world.runs.write(ann, runId, ...chunks.slice(9))
    await world.runs.end(ann, runId, 'completed')
    const read = await readAll(response)
    expect(renderMessage(read.chunks).orphans).toBe(0)
    expect(read.frames.at(-1)?.index).toBe(chunks.length)
  })

  test('a beginning beyond the end waits for that chunk', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    const response = await world.fetch(`/api/chat/${runId}/stream?startIndex=3`)
    await world.runs.write(ann, runId, ...chunks.slice(0, 5))
    await world.runs.end(ann, runId, 'completed')
    expect((await readAll(response)).frames.map(({ index }) => index)).toEqual([3, 4, 5])
  })

  test('chunks that come while others are read arrive once and in order', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    const random = createSeededRandom(7)
    const readers = Array.from({ length: 8 }, (_, at) =>
      world.fetch(`/api/chat/${runId}/stream?startIndex=${at * 40}`).then(readAll),
    )
    let written = 0
    while (written < 1_500) {
      const some = Math.ceil(random.next() * 90)
      await world.runs.write(
        ann,
        runId,
        ...Array.from({ length: some }, (_, at) => ({ type: 'data-n', data: written + at })),
      )
      written += some
      if (random.next() < 0.3) await world.system.settle(1)
    }
    await world.runs.end(ann, runId, 'completed')
    for (const [at, reader] of readers.entries()) {
      const { frames, isDone } = await reader
      expect(isDone).toBe(true)
      expect(frames.map(({ index }) => index)).toEqual(
        Array.from({ length: written + 1 - at * 40 }, (_, offset) => at * 40 + offset),
      )
    }
  })

  test('many readers share one watch, and the last one to go ends it', async () => {
    const store = createMemoryStore()
    let open = 0
    let most = 0
    const counting: Store = {
      ...store,
      watch(topic, signal) {
        if (topic.kind === 'stream') {
          open += 1
          most = Math.max(most, open)
          signal.addEventListener('abort', () => (open -= 1), { once: true })
        }
        return store.watch(topic, signal)
      },
    }
    const world = createWorld({ store: counting })
    // The scripted runs write to the world's own store: only the watches matter here.
    const runId = '0190a0a0-0000-7000-8000-000000000001'
    await createRunIn(store, runId)
    await appendTo(store, runId, 0, { type: 'data-n', data: 1 })
    const readers = await Promise.all(
      Array.from({ length: 5 }, async () =>
        readerOf(await world.fetch(`/api/chat/${runId}/stream`)),
      ),
    )
    await Promise.all(readers.map((reader) => reader.until(1)))
    expect({ open, most }).toEqual({ open: 1, most: 1 })
    await Promise.all(readers.map((reader) => reader.cancel()))
    await world.system.settle()
    expect(open).toBe(0)
  })

  test('a client that goes takes only its own reader with it', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    const one = readerOf(await world.fetch(`/api/chat/${runId}/stream`))
    const other = await world.fetch(`/api/chat/${runId}/stream`)
    await world.runs.write(ann, runId, ...chunks.slice(0, 3))
    await one.until(2)
    await one.cancel()
    await world.runs.end(ann, runId, 'completed')
    expect((await readAll(other)).isDone).toBe(true)
    expect(world.runs.calls.cancel).toBe(0)
  })

  test('a reader that takes nothing is let go of at its cursor; the run and other readers go on', async () => {
    const world = createWorld({ limits: { readerBufferChunks: 16, readerStalledMs: 1_000 } })
    const runId = await startedRun(world)
    const slow = readerOf(await world.fetch(`/api/chat/${runId}/stream`))
    const quick = world.fetch(`/api/chat/${runId}/stream`).then(readAll)
    await world.runs.write(ann, runId, { type: 'data-n', data: 0 })
    await slow.until(1)
    for (let at = 1; at <= 60; at += 1) {
      await world.runs.write(ann, runId, { type: 'data-n', data: at })
      await world.system.advance(100)
    }
    const cut = await slow.until(Infinity)
    expect(cut.isDone).toBe(false)
    expect(cut.chunks.length).toBeLessThan(61)
    await world.runs.end(ann, runId, 'completed')
    expect((await quick).chunks).toHaveLength(62)
    const rest = await readAll(
      await world.fetch(`/api/chat/${runId}/stream?startIndex=${cut.chunks.length}`),
    )
    expect([...cut.chunks, ...rest.chunks]).toEqual((await quick).chunks)
  })

  test('a burst larger than the buffer is not held against a reader that takes it', async () => {
    const world = createWorld({ limits: { readerBufferChunks: 16 } })
    const runId = await startedRun(world)
    const reader = world.fetch(`/api/chat/${runId}/stream`).then(readAll)
    await world.system.settle()
    await world.runs.write(
      ann,
      runId,
      ...Array.from({ length: 600 }, (_, at) => ({ type: 'data-n', data: at })),
    )
    await world.runs.end(ann, runId, 'completed')
    expect(await reader).toMatchObject({ isDone: true, chunks: { length: 601 } })
  })

  test('a silent stream gets a heartbeat every 15 s', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    await world.runs.write(ann, runId, chunks[0] ?? null)
    const reader = readerOf(await world.fetch(`/api/chat/${runId}/stream`))
    await reader.until(1)
    const rest = reader.until(2)
    await world.system.settle()
    await world.system.advance(14_999)
    await world.system.advance(1)
    await world.system.advance(15_000)
    await world.runs.write(ann, runId, chunks[1] ?? null)
    expect((await rest).heartbeats).toBe(2)
    await reader.cancel()
    await world.system.settle()
    expect(world.system.timerCount).toBe(0)
  })

  test('a stream that was promised is waited for, 30 s at most, and then asked for again', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    const reading = world.fetch(`/api/chat/${runId}/stream`).then(readAll)
    await world.system.settle()
    await world.system.advance(30_000)
    const read = await reading
    expect(read).toMatchObject({ chunks: [], isDone: false, heartbeats: 1 })
    const again = world.fetch(`/api/chat/${runId}/stream`).then(readAll)
    await world.system.settle()
    await world.system.advance(29_000)
    await world.runs.write(ann, runId, ...chunks)
    await world.system.settle()
    await world.system.advance(60_000)
    await world.runs.end(ann, runId, 'completed')
    expect(await again).toMatchObject({ isDone: true, chunks: { length: chunks.length + 1 } })
  })

  test('a store that fails in mid-stream ends the response without a last word', async () => {
    const system = createManualSystem()
    const store = createMemoryStore({ system })
    let isBroken = false
    const failing: Store = {
      ...store,
      async streamPage(...read) {
        if (isBroken) throw new Error('secret: disk 7 is gone')
        return await store.streamPage(...read)
      },
    }
    const world = createWorld({ store: failing, system })
    const runId = '0190a0a0-0000-7000-8000-000000000002'
    await createRunIn(store, runId)
    await appendTo(store, runId, 0, { type: 'data-n', data: 1 })
    const reader = readerOf(await world.fetch(`/api/chat/${runId}/stream`))
    await reader.until(1)
    isBroken = true
    await appendTo(store, runId, 1, { type: 'data-n', data: 2 })
    const cut = await reader.until(Infinity)
    expect(cut.isDone).toBe(false)
    expect(JSON.stringify(cut)).not.toContain('secret')
    expect(world.log.records.some(({ level }) => level === 'warn')).toBe(true)
    isBroken = false
    const again = readerOf(await world.fetch(`/api/chat/${runId}/stream?startIndex=1`))
    expect((await again.until(1)).chunks).toEqual([{ type: 'data-n', data: 2 }])
    await again.cancel()
  })

  test('a stream that ended without a terminal chunk has no more to say to who has it all', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    await world.runs.write(ann, runId, { type: 'data-n', data: 1 })
    const { epoch } = await world.store.claimSession(ann)
    await world.store.commit({
      sessionId: ann,
      fence: { epoch },
      writes: [{ kind: 'stream-close', streamId: runId, end: 'completed' }],
    })
    expect((await world.fetch(`/api/chat/${runId}/stream`)).status).toBe(200)
    expect((await world.fetch(`/api/chat/${runId}/stream?startIndex=1`)).status).toBe(204)
  })

  test('a beginning that is no longer kept is gone', async () => {
    const store = createMemoryStore()
    const purged: Store = {
      ...store,
      streamHead: () => Promise.resolve({ first: 5, next: 9 }),
    }
    const world = createWorld({ store: purged })
    const runId = '0190a0a0-0000-7000-8000-000000000003'
    await createRunIn(store, runId)
    const response = await world.fetch(`/api/chat/${runId}/stream?startIndex=4`)
    expect(response.status).toBe(410)
    expect((await errorOf(response)).code).toBe('stream_gone')
  })

  test('draining lets go of readers and refuses requests for now', async () => {
    const world = createWorld()
    const runId = await startedRun(world)
    await world.runs.write(ann, runId, ...chunks.slice(0, 2))
    const reader = readerOf(await world.fetch(`/api/chat/${runId}/stream`))
    await reader.until(2)
    world.handler.drain()
    expect((await reader.until(Infinity)).isDone).toBe(false)
    const refused = await world.fetch(`/api/chat/${runId}/stream`)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await errorOf(refused)).code).toBe('draining')
  })
})

async function createRunIn(store: Store, runId: string): Promise<void> {
  const runs = createScriptedRuns(store, createManualSystem())
  const definition = { name: 'flow', version: 'v1' }
  await runs.session(ann).start({ id: runId, definition }, new TextEncoder().encode('{}'))
}

async function appendTo(
  store: Store,
  streamId: string,
  expectedNext: number,
  chunk: JsonValue,
): Promise<void> {
  const { epoch } = await store.claimSession(ann)
  await store.commit({
    sessionId: ann,
    fence: { epoch },
    writes: [
      { kind: 'stream-append', streamId, expectedNext, chunks: [{ data: JSON.stringify(chunk) }] },
    ],
  })
}
