import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import {
  createStartTracker,
  doneFrame,
  frameFromChunk,
  heartbeatFrame,
  parseStartIndex,
  renderMessage,
  resolveStartIndex,
  sseResponseHeaders,
  tailIndexOf,
  type UiChunk,
} from '@holdfast/chat-protocol'
import { afterEach, describe, expect, test } from 'vitest'
import { WorkflowChatTransport } from '../src/index.ts'
import { readAll, textMessage } from './scripted-fetch.ts'
import { question } from './setup.ts'

// Over real sockets: a server with one stream that cuts each connection after some frames.

const servers: { close(): Promise<void> }[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

const whole: readonly UiChunk[] = [
  { type: 'start', messageId: 'm' },
  { type: 'start-step' },
  { type: 'reasoning-start', id: '0' },
  { type: 'reasoning-delta', id: '0', delta: 'flut 🌊' },
  { type: 'reasoning-end', id: '0' },
  { type: 'tool-input-available', toolCallId: 'c', toolName: 'dig', input: {} },
  { type: 'tool-output-available', toolCallId: 'c', output: 'sand' },
  { type: 'finish-step' },
  ...textMessage('low ', 'tide ', 'at ', 'noon').slice(1),
]

/** How a connection goes: how many frames, then what. */
type Fate = { readonly frames: number; readonly ending: 'end' | 'destroy' | 'halve' | 'stay' }

async function serve(fates: readonly Fate[]) {
  const requests: string[] = []
  let isLastLetGo = false
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    respond(request, response, fates[requests.length - 1] ?? { frames: Infinity, ending: 'stay' })
    response.on('close', () => {
      isLastLetGo = true
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  servers.push({
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => {
          resolve()
        })
      }),
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('No port.')
  return {
    api: `http://127.0.0.1:${address.port}/api/chat`,
    requests,
    isLastLetGo: () => isLastLetGo,
  }
}

function respond(request: IncomingMessage, response: ServerResponse, fate: Fate): void {
  const query = new URL(request.url ?? '', 'http://localhost').searchParams
  const asked = parseStartIndex(query.get('startIndex'))
  const tracker = createStartTracker()
  const starts = whole.map((chunk) => tracker.push(chunk))
  const cursor = resolveStartIndex(asked, whole.length)
  const from = asked < 0 ? (starts[cursor] ?? cursor) : cursor
  response.writeHead(200, {
    ...sseResponseHeaders,
    'x-workflow-run-id': 'run-1',
    'x-holdfast-start-index': String(from),
    'x-workflow-stream-tail-index': String(tailIndexOf(whole.length)),
  })
  response.write(heartbeatFrame)
  const frames = whole
    .slice(from, from + fate.frames)
    .map((chunk, at) => frameFromChunk(chunk, { index: from + at }))
  for (const frame of frames) response.write(frame)
  switch (fate.ending) {
    case 'end':
      response.end()
      break
    case 'destroy':
      setImmediate(() => response.destroy())
      break
    case 'halve':
      response.write(frameFromChunk(whole[from + fate.frames] ?? { type: 'finish' }).slice(0, 15))
      setImmediate(() => response.destroy())
      break
    case 'stay':
      response.write(doneFrame)
  }
}

function transportTo(api: string, ends: unknown[] = []): WorkflowChatTransport {
  return new WorkflowChatTransport({
    api,
    backoff: { initialDelayMs: 1, maxDelayMs: 2 },
    onChatEnd: (event) => {
      ends.push(event)
    },
  })
}

describe('over node:http', () => {
  test('C1, C5, C9: cut seven times in every way, the message is whole and the last connection is let go', async () => {
    const server = await serve([
      { frames: 3, ending: 'destroy' },
      { frames: 1, ending: 'end' },
      { frames: 2, ending: 'halve' },
      { frames: 0, ending: 'end' },
      { frames: 1, ending: 'halve' },
      { frames: 0, ending: 'halve' },
      { frames: 2, ending: 'end' },
      { frames: Infinity, ending: 'stay' },
    ])
    const ends: unknown[] = []
    const stream = await transportTo(server.api, ends).sendMessages({
      chatId: 'chat',
      trigger: 'submit-message',
      messages: [question],
    })
    expect(await readAll(stream)).toEqual(whole)
    expect(server.requests[0]).toBe('POST /api/chat')
    expect(
      server.requests.every(
        (line, at) => at === 0 || line.startsWith('GET /api/chat/run-1/stream?startIndex='),
      ),
    ).toBe(true)
    expect(ends).toEqual([{ chatId: 'chat', chunkIndex: whole.length, outcome: 'finished' }])
    await expect.poll(server.isLastLetGo).toBe(true)
  })

  test('C2: for every tail, what is shown equals that part of the whole', async () => {
    const server = await serve([])
    const parts = renderMessage(whole).parts
    for (let size = 1; size <= whole.length; size += 1) {
      const stream = await transportTo(server.api).reconnectToStream({
        chatId: 'chat',
        startIndex: -size,
      })
      const shown = renderMessage((await readAll(stream)) as UiChunk[])
      expect(shown.orphans).toBe(0)
      expect(shown.parts).toEqual(parts.slice(parts.length - shown.parts.length))
    }
  })

  test('an abort lets the connection go while the page does not read', async () => {
    const server = await serve([{ frames: 4, ending: 'stay' }])
    const page = new AbortController()
    const ends: unknown[] = []
    const stream = await transportTo(server.api, ends).sendMessages({
      chatId: 'chat',
      trigger: 'submit-message',
      messages: [question],
      abortSignal: page.signal,
    })
    const reader = stream.getReader()
    await reader.read()
    page.abort()
    expect(await reader.read()).toEqual({ done: true, value: undefined })
    await expect.poll(server.isLastLetGo).toBe(true)
    expect(ends).toEqual([{ chatId: 'chat', chunkIndex: 1, outcome: 'disconnected' }])
  })

  test('a server that is not there is told as a lost connection', async () => {
    const server = await serve([])
    await Promise.all(servers.splice(0).map((one) => one.close()))
    const call = transportTo(server.api).reconnectToStream({ chatId: 'chat' })
    await expect(call).rejects.toMatchObject({ code: 'disconnected' })
  })
})
