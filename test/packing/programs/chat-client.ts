// The transport against a server written by hand, which cuts the answer in the middle of a frame.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { ask } from '#readme/chat-client'

const chunks = [
  { type: 'start', messageId: 'a1' },
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'low ' },
  { type: 'text-delta', id: '1', delta: 'tide' },
  { type: 'text-end', id: '1' },
  { type: 'finish' },
]
const frames = chunks.map((chunk, index) => `id: ${index}\ndata: ${JSON.stringify(chunk)}\n\n`)
const asked: string[] = []
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  asked.push(`${request.method} ${pathname} ${searchParams.get('startIndex') ?? ''}`.trim())
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'x-workflow-run-id': 'stream-1',
  })
  if (request.method === 'POST') {
    response.write(frames.slice(0, 3).join('') + 'id: 3\ndata: {"ty', () => response.destroy())
  } else response.end(frames.slice(Number(searchParams.get('startIndex'))).join(''))
})
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve)
})
const address = server.address()
assert.ok(typeof address === 'object' && address !== null)

const words = await ask(`http://127.0.0.1:${address.port}/chat`, 'chat-1', 'When?')
assert.equal(words, 'low tide')
assert.deepEqual(asked, ['POST /chat', 'GET /chat/stream-1/stream 3'])
server.closeAllConnections()
server.close()
