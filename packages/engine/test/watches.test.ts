// What other processes write is noticed as soon as the store's watch tells of it: no time passes here.
import { describe, expect, test } from 'vitest'
import { defineWorkflow } from '@holdfast/workflow'
import { createEngine } from '../src/index.ts'
import { createWorld, noInput, sessionId, until, untilStatus } from './harness.ts'

const definition = defineWorkflow({
  name: 'waits_long',
  version: 'v1',
  description: '',
  input: noInput,
  run: (ctx) =>
    ctx.step('long', ({ signal }) => {
      return new Promise<string>((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('told to stop')))
      })
    }),
})

describe('another process', () => {
  test('cancels a run that executes here: its body is told at once', async () => {
    const world = createWorld()
    const owner = world.engine([definition])
    const client = createEngine({
      store: world.database.open({ mode: 'client' }),
      definitions: [definition],
      system: world.system,
    }).session(sessionId)
    const before = world.system.now()
    for (let count = 0; count < 3; count += 1) {
      const run = await owner.session.start(definition, {})
      await until(world, async () => (await run.status()).record.status === 'running')
      await world.system.settle()
      await client.run(run.id).cancel('from outside')
      await untilStatus(world, run, 'cancelled')
    }
    expect(world.system.now()).toBe(before)
  })

  test('starts a run in a quiet session of this one: it is taken up at once', async () => {
    const world = createWorld()
    const owner = world.engine([definition])
    const client = createEngine({
      store: world.database.open({ mode: 'client' }),
      definitions: [definition],
      system: world.system,
    }).session(sessionId)
    const first = await owner.session.start(definition, {})
    await untilStatus(world, first, 'running')
    await world.system.advance(1_000)
    const before = world.system.now()
    const second = await client.start(definition, {})
    await untilStatus(world, second, 'running')
    expect(world.system.now()).toBe(before)
  })
})
