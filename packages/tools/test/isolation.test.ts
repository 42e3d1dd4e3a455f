// Another session's runs read exactly as runs that do not exist.
import { describe, expect, test } from 'vitest'
import type { ToolInvocation } from '@holdfast/core'
import { asking, question } from './support/questions.ts'
import { createSession, sessionTwo } from './support/session.ts'

const missing = '00000000-0000-7000-8000-00000000dead'

describe.each([{ extensions: false }, { extensions: true }])('isolation, %o', (options) => {
  const pair = async () => {
    const owner = createSession(options)
    const stranger = createSession({ ...options, sessionId: sessionTwo, store: owner.store })
    return { owner, stranger, runId: await asking(owner, question('q1')) }
  }

  const calls = (runId: string) =>
    [
      ['workflow_run_get', { run_id: runId }],
      ['workflow_run_resume', { run_id: runId, resume: { approved: true } }],
      ['workflow_run_cancel', { run_id: runId }],
      ['workflow_run_cancel', { run_id: runId, reason: 'because' }],
      ['workflow_run_history', { run_id: runId }],
      ['workflow_run_history', { run_id: runId, after_revision: 2, limit: 1 }],
      [
        'workflow_run_start',
        {
          definition_name: 'counter_flow',
          definition_version: 'v1',
          input: { count: 1 },
          parent_run_id: runId,
        },
      ],
    ] as const

  const invocations: readonly ToolInvocation[] = [
    {},
    { idempotencyKey: 'k' },
    { callerRunId: missing },
  ]

  test('another session’s run is answered as one that does not exist', async () => {
    const { owner, stranger, runId } = await pair()
    for (const invocation of invocations) {
      for (const [index, [name, given]] of calls(runId).entries()) {
        const theirs = await stranger.refusal(name, given, invocation)
        const nobodys = await stranger.refusal(name, calls(missing)[index]?.[1], invocation)
        const plain = ({ code, message, details, retryable }: typeof theirs) =>
          JSON.stringify({ code, message, details, retryable })
        expect(theirs.code).toBe('run_not_found')
        expect(plain(theirs).replaceAll(runId, missing)).toBe(plain(nobodys))
      }
    }
    expect(await owner.call('workflow_run_get', { run_id: runId })).toMatchObject({
      run_status: 'interrupted',
    })
    const inbox = await owner.store.logPage(owner.sessionId, `inbox/${runId}`, {
      from: 0,
      limit: 9,
    })
    expect(inbox.entries).toEqual([])
  })

  test('a list never crosses, from whatever cursor', async () => {
    const { owner, stranger, runId } = await pair()
    expect(await stranger.call('workflow_run_list', {})).toEqual({ runs: [] })
    expect(await stranger.call('workflow_run_list', { after: runId })).toEqual({ runs: [] })
    const own = await stranger.start()
    expect(JSON.stringify(await stranger.call('workflow_run_list', {}))).toContain(own)
    expect(JSON.stringify(await owner.call('workflow_run_list', {}))).not.toContain(own)
  })

  test('an idempotency key of another session finds nothing', async () => {
    const { owner, stranger } = await pair()
    const given = { definition_name: 'counter_flow', definition_version: 'v1', input: { count: 1 } }
    const invocation = { idempotencyKey: 'shared' }
    const first = await owner.call('workflow_run_start', given, invocation)
    const second = await stranger.call('workflow_run_start', given, invocation)
    expect(second['run_id']).not.toBe(first['run_id'])
  })

  test('a reader that gives out another session’s run is not believed', async () => {
    const { owner, runId } = await pair()
    const { store } = owner
    const leaking = createSession({
      ...options,
      sessionId: sessionTwo,
      store,
      runs: {
        run: (_session, id) => store.run(owner.sessionId, id),
        runs: (...request) => store.runs(...request),
        runByIdempotencyKey: (...request) => store.runByIdempotencyKey(...request),
      },
    })
    expect(await leaking.refusal('workflow_run_get', { run_id: runId })).toMatchObject({
      code: 'run_not_found',
    })
  })
})
