import { describe, expect, test } from 'vitest'
import { createCatalog } from '@holdfast/workflow'
import { createRunsHandler } from '../src/index.ts'
import { sessionIdFor } from '@holdfast/core'
import { createWorld, origin, runIdOfResponse, submit, user, type World } from './chat-world.ts'

const unknownRun = '0190a0a0-0000-7000-8000-00000000dead'

/** All that a response tells. */
async function told(response: Response | undefined): Promise<string> {
  if (response === undefined) return 'outside'
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`)
  return [response.status, ...headers, await response.text()].join('\n')
}

describe('C13: another session’s things answer byte for byte as what does not exist', () => {
  async function annsChat(world: World): Promise<string> {
    const runId = runIdOfResponse(await world.post(submit('chat-of-ann', user('m1', 'secret'))))
    await world.runs.interrupt(world.runs.session(sessionIdFor('ann')).sessionId, runId, [
      { id: 'approval-of-ann', payload: { kind: 'tool-approval', toolCallId: 't1' } },
    ])
    return runId
  }

  const requests: readonly (readonly [string, string])[] = [
    ['GET', '/stream'],
    ['GET', '/stream?startIndex=-5'],
    ['POST', '/cancel'],
    ['GET', '/messages'],
    ['DELETE', ''],
  ]

  for (const [method, path] of requests) {
    test(`${method} {api}/{id}${path}`, async () => {
      const world = createWorld()
      const runId = await annsChat(world)
      const ask = async (id: string): Promise<string> =>
        await told(await world.fetch(`/api/chat/${id}${path}`, { method, as: 'bob' }))
      expect(await ask('chat-of-ann')).toBe(await ask('chat-of-none'))
      expect(await ask(runId)).toBe(await ask(unknownRun))
      expect(await ask(`${runId}.2`)).toBe(await ask(`${unknownRun}.2`))
      expect(await ask('chat-of-ann')).toMatch(/^404\n/)
      expect((await world.runs.run(sessionIdFor('ann'), runId)).inboxNext).toBe(0)
    })
  }

  test('a list has only the session’s own', async () => {
    const world = createWorld()
    await annsChat(world)
    expect(await (await world.fetch('/api/chat', { as: 'bob' })).json()).toEqual({ chats: [] })
  })

  test('the same chat id and message id are another session’s own', async () => {
    const world = createWorld()
    const runId = await annsChat(world)
    const response = await world.post(submit('chat-of-ann', user('m1', 'mine')), 'bob')
    expect(response.status).toBe(200)
    expect(runIdOfResponse(response)).not.toBe(runId)
  })

  test('decisions', async () => {
    const world = createWorld()
    const runId = await annsChat(world)
    const decide = async (id: string, run: string): Promise<string> => {
      const part = {
        type: 'tool-x',
        toolCallId: 't1',
        state: 'approval-responded',
        approval: { id: 'approval-of-ann', approved: true },
      }
      const messages = [{ id: run, role: 'assistant', parts: [part] }]
      return await told(await world.post({ id, messages, messageId: run }, 'bob'))
    }
    expect(await decide('chat-of-ann', runId)).toBe(await decide('chat-of-none', unknownRun))
    expect((await world.runs.run(sessionIdFor('ann'), runId)).inboxNext).toBe(0)
  })

  test('runs', async () => {
    const world = createWorld()
    const runId = await annsChat(world)
    const runs = createRunsHandler({
      authorize: () => ({ sessionId: sessionIdFor('bob') }),
      store: world.store,
      supervisors: world.runs,
      catalog: createCatalog([]),
    })
    const ask = async (id: string, method: string, path: string, body?: string): Promise<string> =>
      await told(
        await runs.handle(
          new Request(`${origin}/api/runs/${id}${path}`, {
            method,
            ...(body === undefined
              ? {}
              : { body, headers: { 'content-type': 'application/json' } }),
          }),
        ),
      )
    for (const [method, path, body] of [
      ['GET', ''],
      ['GET', '/history'],
      ['POST', '/resume', '{"resume":{"approved":true}}'],
      ['POST', '/resume', '{"interrupt_id":"approval-of-ann","resume":{"approved":true}}'],
      ['POST', '/cancel', '{}'],
    ] as const) {
      const answer = await ask(runId, method, path, body)
      expect(answer).toBe(await ask(unknownRun, method, path, body))
      expect(answer).toMatch(/^404\n/)
    }
    expect((await world.runs.run(sessionIdFor('ann'), runId)).inboxNext).toBe(0)
  })
})
