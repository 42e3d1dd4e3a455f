// The isolation kit over the routes and streams of chats, and over those of runs.
import { describeIsolation } from '@holdfast/conformance'
import type { IsolationActor, IsolationIds } from '@holdfast/conformance'
import { sessionIdFor } from '@holdfast/core'
import { createCatalog } from '@holdfast/workflow'
import { createRunsHandler } from '../src/index.ts'
import { createWorld, origin, runIdOfResponse, submit, user } from './chat-world.ts'

const secret = 'of-ann-alone'
const json = { 'content-type': 'application/json' }

describeIsolation('the chat server', async () => {
  const world = createWorld()
  const ann = sessionIdFor('ann')
  const run = runIdOfResponse(await world.post(submit('chat-of-ann', user('m1', secret))))
  await world.runs.interrupt(ann, run, [
    { id: 'approval-of-ann', payload: { kind: 'tool-approval', toolCallId: secret } },
  ])
  const runs = createRunsHandler({
    authorize(request) {
      const name = request.headers.get('x-user')
      return name === null ? undefined : { sessionId: sessionIdFor(name) }
    },
    store: world.store,
    supervisors: world.runs,
    catalog: createCatalog([]),
    limits: { requestsPerSecond: 1_000_000 },
  })
  const users = { owner: 'ann', stranger: 'bob', nobody: undefined }
  const send = async (actor: IsolationActor, path: string, init: RequestInit): Promise<string> => {
    const headers = new Headers(init.headers)
    const name = users[actor]
    if (name !== undefined) headers.set('x-user', name)
    const request = new Request(`${origin}${path}`, { ...init, headers })
    const response = (await world.handler.handle(request.clone())) ?? (await runs.handle(request))
    if (response === undefined) return 'outside'
    const told = [...response.headers].map(([header, value]) => `${header}: ${value}`)
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    // A stream of a run that goes on has no end: that it was opened tells enough.
    if (isStream) await response.body?.cancel()
    return [response.status, ...told, isStream ? 'a stream' : await response.text()].join('\n')
  }

  const chatRoutes = [
    ['GET', '/stream'],
    ['GET', '/stream?startIndex=-5'],
    ['POST', '/cancel'],
    ['GET', '/messages'],
    ['DELETE', ''],
  ] as const
  const runRoutes = [
    ['GET', ''],
    ['GET', '/history'],
    ['POST', '/resume', '{"resume":{"approved":true}}'],
    ['POST', '/resume', '{"interrupt_id":"approval-of-ann","resume":{"approved":true}}'],
    ['POST', '/cancel', '{}'],
  ] as const
  const decision = (ids: IsolationIds): string =>
    JSON.stringify({
      id: ids['chat'],
      messageId: ids['run'],
      messages: [
        {
          id: ids['run'],
          role: 'assistant',
          parts: [
            {
              type: 'tool-x',
              toolCallId: 't1',
              state: 'approval-responded',
              approval: { id: 'approval-of-ann', approved: true },
            },
          ],
        },
      ],
    })

  return {
    owned: { chat: 'chat-of-ann', run },
    missing: { chat: 'chat-of-non', run: '0190a0a0-0000-7000-8000-00000000dead' },
    secrets: [secret],
    async state() {
      const [stored, documents, inbox] = await Promise.all([
        world.store.runs(ann),
        world.messages('chat-of-ann'),
        world.store.logPage(ann, `inbox/${run}`, { from: 0, limit: 100 }),
      ])
      return JSON.stringify({ stored, documents, inbox })
    },
    probes: [
      ...chatRoutes.flatMap(([method, path]) =>
        (['chat', 'run'] as const)
          // A run's id reads its stream and stops it; the other routes are a chat's alone.
          .filter((id) => id === 'chat' || path.startsWith('/stream') || path === '/cancel')
          .map((id) => ({
            name: `${method} /api/chat/{${id}}${path}`,
            ask: (actor: IsolationActor, ids: IsolationIds) =>
              send(actor, `/api/chat/${ids[id]}${path}`, { method }),
          })),
      ),
      {
        name: 'POST /api/chat with a decision',
        ask: (actor, ids) =>
          send(actor, '/api/chat', { method: 'POST', headers: json, body: decision(ids) }),
      },
      ...runRoutes.map(([method, path, body]) => ({
        name: `${method} /api/runs/{run}${path} ${body ?? ''}`,
        ask: (actor: IsolationActor, ids: IsolationIds) =>
          send(actor, `/api/runs/${ids['run']}${path}`, {
            method,
            ...(body === undefined ? {} : { headers: json, body }),
          }),
      })),
      { name: 'GET /api/chat', kind: 'list', ask: (actor) => send(actor, '/api/chat', {}) },
      { name: 'GET /api/runs', kind: 'list', ask: (actor) => send(actor, '/api/runs', {}) },
    ],
    close: () => world.store.close(),
  }
})
