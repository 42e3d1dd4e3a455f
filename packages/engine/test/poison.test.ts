// Definitions that do what none should, and processes that die of them.
import { describe, expect, test } from 'vitest'
import type { JsonValue, WorkflowContext } from '@holdfast/core'
import { defineWorkflow } from '@holdfast/workflow'
import { anyJson, createWorld, noInput, until, untilStatus } from './harness.ts'
import type { Node } from './harness.ts'

const common = { version: 'v1', description: '', input: noInput } as const

/** Code whose types do not hold. */
function lying(run: (ctx: WorkflowContext) => unknown) {
  return defineWorkflow({
    ...common,
    name: 'poison',
    run: run as (ctx: WorkflowContext) => JsonValue,
  })
}

const cyclic: unknown[] = []
cyclic.push(cyclic)

const hostile = new Proxy(
  {},
  {
    get() {
      throw new Error('no property')
    },
    ownKeys() {
      throw new Error('no keys')
    },
    getPrototypeOf() {
      throw new Error('no prototype')
    },
  },
)

describe('a definition', () => {
  const ends: readonly (readonly [string, (ctx: WorkflowContext) => unknown, string])[] = [
    [
      'throws before it gives a promise',
      () => {
        throw new Error('at once')
      },
      'run_failed',
    ],
    ['throws nothing at all', () => Promise.reject(undefined), 'run_failed'],
    ['throws a symbol', () => Promise.reject(Symbol('odd')), 'run_failed'],
    ['throws what cannot be looked at', () => Promise.reject(hostile), 'run_failed'],
    ['gives a function', () => () => 1, 'json_unsupported_value'],
    ['gives a cycle', () => cyclic, 'json_unsupported_value'],
    ['gives a bigint', () => 1n, 'json_unsupported_value'],
    ['gives 9 MiB', () => 'x'.repeat(9 * 1_024 * 1_024), 'limit_exceeded'],
    [
      'throws in a step what cannot be told',
      (ctx) => ctx.step('odd', () => Promise.reject(Symbol('odd')), { retries: 0 }),
      'step_failed',
    ],
    [
      'makes a step of what JSON cannot hold',
      (ctx) => ctx.step('odd', () => new Map() as never, { retries: 0 }),
      'json_unsupported_value',
    ],
    [
      'uses a key that is none',
      (ctx) => ctx.step(undefined as never, () => 1),
      'arguments_invalid',
    ],
  ]
  test.each(ends)('that %s fails, and harms nothing else', async (_, run, code) => {
    const world = createWorld()
    const definition = lying(run)
    const sound = defineWorkflow({
      ...common,
      name: 'sound',
      run: (ctx) => ctx.step('work', () => 1),
    })
    const { session } = world.engine([definition, sound])
    const bad = await session.start(definition, {})
    const good = await session.start(sound, {})
    await untilStatus(world, bad, 'failed', 10)
    expect((await bad.status()).record.error).toMatchObject({ code })
    expect(await good.result()).toBe(1)
  })

  test('that gives what cannot be looked at ends, one way or the other', async () => {
    const world = createWorld()
    const definition = lying(() => [hostile])
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await untilStatus(world, run, 'failed', 10)
  })

  test('that asks on for ever after a cancel is cut off when the time for cleanup is over', async () => {
    const world = createWorld()
    let asked = 0
    const definition = lying(async (ctx) => {
      for (;;) {
        try {
          await ctx.sleep('nap', 10_000)
        } catch {
          asked += 1
        }
      }
    })
    const { session } = world.engine([definition], { limits: { cleanupMs: 500 } })
    const run = await session.start(definition, {})
    await world.system.settle()
    await run.cancel()
    await untilStatus(world, run, 'cancelled', 100)
    expect(asked).toBeLessThanOrEqual(1_001)
  })

  test('that spins outside of its context gives its slot back, and the others go on', async () => {
    const world = createWorld()
    let spins = true
    const definition = lying(async () => {
      while (spins) await new Promise((resolve) => setImmediate(resolve))
      return 'at last'
    })
    const sound = defineWorkflow({ ...common, name: 'sound', run: (ctx) => ctx.step('a', () => 1) })
    const { session } = world.engine([definition, sound], { limits: { maxActiveRuns: 1 } })
    const run = await session.start(definition, {})
    const waiting = await session.start(sound, {})
    await until(world, async () => (await run.status()).record.waitingFor === 'code', 100)
    expect(await waiting.result()).toBe(1)
    spins = false
    expect(await run.result()).toBe('at last')
  })
})

describe('a crash loop', () => {
  test('at an interrupt: a process that dies of every answer is not killed for ever', async () => {
    const world = createWorld()
    let deaths = 0
    let node: Node | undefined
    const definition = defineWorkflow({
      ...common,
      name: 'deadly',
      async run(ctx) {
        if (deaths >= 0 && armed) {
          deaths += 1
          node?.kill()
        }
        return ctx.interrupt('ask', { schema: anyJson })
      },
    })
    let armed = false
    node = world.engine([definition])
    const run = await node.session.start(definition, {})
    await untilStatus(world, run, 'interrupted')
    node.kill()
    armed = true
    node = world.engine([definition])
    await node.session.run(run.id).resume({ value: 1 })
    for (let round = 0; round < 12; round += 1) {
      const before = deaths
      await until(
        world,
        async () => deaths > before || (await statusOf(node, run.id)) === 'failed',
        10,
      )
      if (deaths === before) break
      node = world.engine([definition])
    }
    expect(await statusOf(node, run.id)).toBe('failed')
    expect((await node.session.run(run.id).status()).record.error).toMatchObject({
      code: 'crash_loop',
    })
    expect(deaths).toBe(4)
  })

  test('a new entry makes the count begin anew; a drain is no crash', async () => {
    const world = createWorld()
    let begun = 0
    const definition = defineWorkflow({
      ...common,
      name: 'long',
      run: (ctx) =>
        ctx.step('never', () => {
          begun += 1
          return new Promise<JsonValue>(() => undefined)
        }),
    })
    let node = world.engine([definition], { limits: { drainMs: 0 } })
    const run = await node.session.start(definition, {})
    for (let round = 1; round <= 8; round += 1) {
      await until(world, () => begun === round, 10)
      const closed = node.engine.close()
      await closed
      node = world.engine([definition], { limits: { drainMs: 0 } })
    }
    await until(world, () => begun === 9, 10)
    expect((await node.session.run(run.id).status()).record).toMatchObject({
      status: 'running',
      recoveries: 0,
    })
    // Crashes now, but each time a message has reached it: it gets on.
    for (let round = 10; round <= 18; round += 1) {
      await node.session.run(run.id).send({ id: `m${round}`, body: 1 })
      await world.system.settle(20)
      node.kill()
      node = world.engine([definition])
      await until(world, () => begun === round, 10)
    }
    expect((await node.session.run(run.id).status()).record.recoveries).toBeLessThanOrEqual(1)
  })
})

async function statusOf(node: Node | undefined, runId: string): Promise<string | undefined> {
  try {
    return (await node?.session.run(runId).status())?.record.status
  } catch {
    return undefined
  }
}
