// A handler of web requests behind a real port.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** A server of one test. */
export interface HttpServer {
  readonly url: URL
  close(): Promise<void>
}

/** Serves until it is closed, on a port that is free. */
export async function serve(handle: (request: Request) => Promise<Response>): Promise<HttpServer> {
  const server = createServer((incoming, outgoing) => void answer(handle, incoming, outgoing))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: new URL(`http://127.0.0.1:${address.port}/mcp`),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(
  handle: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const { method = 'GET', headers } = incoming
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const response = await handle(
    new Request(`http://${headers.host ?? 'localhost'}${incoming.url ?? '/'}`, {
      method,
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
      signal: gone.signal,
      ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' } : {}),
    }),
  )
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.end(Buffer.from(await response.arrayBuffer()))
}
