import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { createRecordingLog } from '@holdfast/testing'
import { toNodeListener } from '../src/node.ts'
import type { NodeListenerOptions, RequestHandler } from '../src/node.ts'
import {
  ann,
  createWorld,
  readAll,
  readerOf,
  runIdOfResponse,
  submit,
  text,
  user,
} from './chat-world.ts'

const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()))
})

/** Serves over a real port; resolves with the origin. */
async function serve(
  handlers: RequestHandler | readonly RequestHandler[],
  options?: NodeListenerOptions,
): Promise<string> {
  const server = createServer(toNodeListener(handlers, options))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const headers = { 'content-type': 'application/json', 'x-user': 'ann' }

describe('over node:http', () => {
  test('a turn streams as it is written, and C1 holds from every index', async () => {
    const world = createWorld()
    const origin = await serve((request) => world.handler.handle(request))
    const response = await fetch(`${origin}/api/chat`, {
      method: 'POST',
      headers,
      body: JSON.stringify(submit('c1', user('m1', 'hello'))),
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
    const runId = runIdOfResponse(response)
    const reader = readerOf(response)
    await world.runs.write(ann, runId, ...text('t', 'one'))
    expect((await reader.until(3)).chunks).toHaveLength(3)
    await world.runs.end(ann, runId, 'completed')
    const whole = await reader.until(Infinity)
    expect(whole.isDone).toBe(true)
    for (let k = 0; k <= 4; k += 1) {
      const rest = await readAll(
        await fetch(`${origin}/api/chat/${runId}/stream?startIndex=${k}`, { headers }),
      )
      expect([...whole.chunks.slice(0, k), ...rest.chunks]).toEqual(whole.chunks)
    }
  })

  test('headers come before the first chunk', async () => {
    const world = createWorld()
    const origin = await serve((request) => world.handler.handle(request))
    const response = await fetch(`${origin}/api/chat`, {
      method: 'POST',
      headers,
      body: JSON.stringify(submit('c1', user('m1', 'hello'))),
    })
    expect(runIdOfResponse(response)).not.toBe('')
    await response.body?.cancel()
  })

  test('a client that goes ends its reader, and the run goes on', async () => {
    const world = createWorld()
    let onGone: () => void = () => undefined
    const gone = new Promise<void>((resolve) => (onGone = resolve))
    const origin = await serve(async (request) => {
      request.signal.addEventListener('abort', () => onGone(), { once: true })
      return await world.handler.handle(request)
    })
    const controller = new AbortController()
    const response = await fetch(`${origin}/api/chat`, {
      method: 'POST',
      headers,
      body: JSON.stringify(submit('c1', user('m1', 'hello'))),
      signal: controller.signal,
    })
    const runId = runIdOfResponse(response)
    const reader = readerOf(response)
    await world.runs.write(ann, runId, ...text('t', 'one'))
    await reader.until(1)
    controller.abort()
    await expect(reader.until(Infinity)).rejects.toMatchObject({ name: 'AbortError' })
    await gone
    await world.system.settle()
    // Its heartbeat was the last timer.
    expect(world.system.timerCount).toBe(0)
    expect(world.runs.calls.cancel).toBe(0)
    await world.runs.end(ann, runId, 'completed')
    const again = await fetch(`${origin}/api/chat/${runId}/stream`, { headers })
    expect((await readAll(again)).chunks).toHaveLength(4)
  })

  test('a body above the limit is answered with 413, and the connection serves the next request', async () => {
    const world = createWorld({ limits: { bodyBytes: 1_000 } })
    const origin = await serve((request) => world.handler.handle(request))
    const refused = await fetch(`${origin}/api/chat`, {
      method: 'POST',
      headers,
      body: `{"id":"${'x'.repeat(300_000)}"}`,
    })
    expect(refused.status).toBe(413)
    expect(await refused.json()).toMatchObject({ error: { code: 'body_too_large' } })
    expect((await fetch(`${origin}/api/chat`, { headers })).status).toBe(200)
  })

  test('a body that nobody reads does not hold up the connection', async () => {
    const origin = await serve(() => Promise.resolve(new Response('no', { status: 401 })))
    const agentless = { agent: false as const, method: 'POST' }
    const sent = httpRequest(`${origin}/x`, { ...agentless, headers: { connection: 'keep-alive' } })
    sent.end('y'.repeat(500_000))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(401)
    response.resume()
    await once(response, 'end')
  })

  test('a response is not read faster than the client takes it', async () => {
    let pulled = 0
    const origin = await serve(() =>
      Promise.resolve(
        new Response(
          new ReadableStream<Uint8Array>({
            pull(controller) {
              pulled += 1
              if (pulled > 2_000) controller.close()
              else controller.enqueue(new Uint8Array(65_536))
            },
          }),
        ),
      ),
    )
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    // Until what is under way fills the sockets, and not one piece more.
    let before = -1
    while (before !== pulled) {
      before = pulled
      for (let turn = 0; turn < 200; turn += 1) {
        await new Promise<void>((resolve) => setImmediate(resolve))
      }
    }
    expect(pulled).toBeLessThan(1_000)
    socket.destroy()
  })

  test('handlers are asked in turn, and 404 is the last word', async () => {
    const origin = await serve([
      (request) =>
        Promise.resolve(new URL(request.url).pathname === '/a' ? new Response('a') : undefined),
      (request) =>
        Promise.resolve(new URL(request.url).pathname === '/b' ? new Response('b') : undefined),
    ])
    expect(await (await fetch(`${origin}/a`)).text()).toBe('a')
    expect(await (await fetch(`${origin}/b`)).text()).toBe('b')
    const missing = await fetch(`${origin}/c`)
    expect(missing.status).toBe(404)
    expect(await missing.json()).toMatchObject({ error: { code: 'not_found' } })
  })

  test('a handler that throws is a 500 that tells nothing', async () => {
    const log = createRecordingLog()
    const origin = await serve(() => Promise.reject(new Error('password 1234')), { log })
    const response = await fetch(`${origin}/x`)
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('1234')
    expect(log.records).toHaveLength(1)
  })

  test('a body that fails breaks the connection off', async () => {
    const log = createRecordingLog()
    const origin = await serve(
      () =>
        Promise.resolve(
          new Response(
            new ReadableStream<Uint8Array>({
              start: (controller) => controller.enqueue(new Uint8Array(10)),
              pull: () => Promise.reject(new Error('broken')),
            }),
          ),
        ),
      { log },
    )
    const response = await fetch(`${origin}/x`)
    await expect(response.arrayBuffer()).rejects.toBeInstanceOf(TypeError)
  })

  test('cookies, several headers of a name and HEAD pass', async () => {
    const origin = await serve((request) => {
      const response = new Response('body', {
        headers: { 'x-got': request.headers.get('x-two') ?? '' },
      })
      response.headers.append('set-cookie', 'a=1')
      response.headers.append('set-cookie', 'b=2')
      return Promise.resolve(response)
    })
    const response = await fetch(`${origin}/x`, {
      headers: [
        ['x-two', '1'],
        ['x-two', '2'],
      ],
    })
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(response.headers.get('x-got')).toBe('1, 2')
    const head = await fetch(`${origin}/x`, { method: 'HEAD' })
    expect(await head.text()).toBe('')
  })

  test('a path that looks like another host stays on this one', async () => {
    const seen: string[] = []
    const origin = await serve((request) => {
      seen.push(request.url)
      return Promise.resolve(new Response('ok'))
    })
    for (const target of ['//evil.test/x', 'http://evil.test/y']) {
      const socket = connect(Number(new URL(origin).port), '127.0.0.1')
      socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
      await once(socket, 'data')
      socket.destroy()
    }
    expect(seen.map((url) => new URL(url).host)).toEqual(['localhost', 'localhost'])
  })
})
