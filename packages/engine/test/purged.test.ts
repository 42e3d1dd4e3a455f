import { expect, test } from 'vitest'
import { defineWorkflow } from '@holdfast/workflow'
import { createWorld, noInput, sessionId } from './harness.ts'

const flow = defineWorkflow({
  name: 'short_flow',
  version: 'v1',
  description: 'Ends at once.',
  input: noInput,
  run: (context) => context.step('only', () => 'done'),
})

test('history of a purged run says that it was purged, to the session that had it alone', async () => {
  const world = createWorld()
  const node = world.engine([flow])
  const run = await node.session.start(flow, {})
  await run.result()
  await node.engine.close()
  const { epoch } = await node.store.claimSession(sessionId)
  await node.store.commit({
    sessionId,
    fence: { epoch },
    writes: [{ kind: 'run-purge', runId: run.id }],
  })
  const { session, engine } = world.engine([flow])
  await expect(session.run(run.id).history()).rejects.toMatchObject({ code: 'run_purged' })
  const absent = '0190a0a0-0000-7000-8000-000000000009'
  await expect(session.run(absent).history()).rejects.toMatchObject({ code: 'run_not_found' })
  const stranger = engine.session('00000000-0000-4000-8000-000000000002')
  await expect(stranger.run(run.id).history()).rejects.toMatchObject({ code: 'run_not_found' })
})
