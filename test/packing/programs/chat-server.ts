// Chats over a definition of one's own: neither the agent nor a model.
import assert from 'node:assert/strict'
import { createEngine } from '@holdfast/engine'
import { createMemoryStore } from '@holdfast/store-memory'
import { defineWorkflow } from '@holdfast/workflow'
import Type from 'typebox'
import { chatServer } from '#readme/chat-server'

const assistant = defineWorkflow({
  name: 'assistant',
  version: 'v1',
  description: 'Says what the tide does.',
  kind: 'agent',
  input: Type.Object(
    { chatId: Type.String(), messageId: Type.String() },
    { additionalProperties: false },
  ),
  stream: {
    opening: ({ runId }) => [{ type: 'start', messageId: runId }],
    closing: () => [{ type: 'finish' }],
  },
  async run(context) {
    await context.output('words', [
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'It turns.' },
      { type: 'text-end', id: '1' },
    ])
    return null
  },
})

const store = createMemoryStore()
const engine = createEngine({ store, definitions: [assistant] })
const userOf = (request: Request) => request.headers.get('x-user') ?? undefined
const server = chatServer(store, engine.supervisors, userOf)
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve)
})
const address = server.address()
assert.ok(typeof address === 'object' && address !== null)
const api = `http://127.0.0.1:${address.port}/api/chat`
const headers = { 'content-type': 'application/json', 'x-user': 'ann' }
const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'What of the tide?' }] }]
const body = JSON.stringify({ id: 'chat-1', messages, trigger: 'submit-message' })

const answer = await fetch(api, { method: 'POST', headers, body })
assert.equal(answer.status, 200)
assert.match(await answer.text(), /It turns\.[^]*"finish"[^]*\[DONE\]/)
const stranger = await fetch(`${api}/chat-1/messages`, { headers: { 'x-user': 'bob' } })
assert.equal(stranger.status, 404)
assert.equal((await fetch(api)).status, 401)

server.closeAllConnections()
server.close()
await engine.close()
await store.close()
