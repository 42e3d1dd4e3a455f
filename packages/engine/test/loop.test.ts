import { describe, expect, test } from 'vitest'
import { defineWorkflow } from '@holdfast/workflow'
import { createEngine } from '../src/index.ts'
import { merged } from '../src/revision-ledger.ts'
import type { Range } from '../src/revision-ledger.ts'
import { anyJson, createWorld, gate, noInput, sessionId, until, untilStatus } from './harness.ts'

const common = { version: 'v1', description: '', input: noInput } as const

/** Counts up to a number of iterations, then asks a person. */
const counting = (times: number, items: boolean) =>
  defineWorkflow({
    ...common,
    name: 'counting',
    async run(ctx) {
      const before = await ctx.step('before', () => 'before')
      const counted = await ctx.loop<number, number>('count', { state: 0 }, async (inner, turn) => {
        const next = await inner.step('next', () => turn.state + 1)
        await inner.step('more', () => null)
        if (items && turn.iteration % 10 === 0) turn.append(next)
        if (turn.iteration + 1 < times) return { state: next }
        const answer = await inner.interrupt<{ value: number }>('ask', { schema: anyJson })
        return { done: true, result: next + turn.items.length + answer.value }
      })
      return { before, counted }
    },
  })

/** How many journal rows a process reads to take up a run after so many iterations. */
async function rowsToRecover(times: number, items: boolean): Promise<number> {
  const world = createWorld()
  const definition = counting(times, items)
  const first = world.engine([definition])
  const run = await first.session.start(definition, {})
  for (let turn = 0; (await run.status()).record.status !== 'interrupted'; turn += 1) {
    await world.system.settle(200)
    if (turn > times) throw new Error('it does not come to its question')
  }
  first.kill()
  const store = world.database.open()
  let rows = 0
  const engine = createEngine({
    store: {
      ...store,
      async journal(session, runId, request) {
        const found = await store.journal(session, runId, request)
        rows += found.length
        return found
      },
    },
    definitions: [definition],
    system: world.system,
  })
  const again = engine.session(sessionId).run(run.id)
  await again.resume({ value: 100 })
  await untilStatus(world, again, 'completed')
  const output = await engine.session(sessionId).supervisor.output(run.id)
  expect(output).toEqual({
    before: 'before',
    counted: times + 100 + (items ? Math.ceil(times / 10) : 0),
  })
  await engine.close()
  return rows
}

describe('a loop', () => {
  test('A23, L1: recovery reads as much after a thousand iterations as after ten', async () => {
    const few = await rowsToRecover(10, false)
    expect(await rowsToRecover(1_000, false)).toBe(few)
    expect(few).toBeLessThan(12)
  }, 60_000)

  test('L1: items are read whole, and as many ranges as allowed', async () => {
    expect(await rowsToRecover(300, true)).toBeGreaterThan(30)
  }, 60_000)

  test('L3: sleeps and receives are taken back at the end of an iteration, steps are waited for', async () => {
    const world = createWorld()
    const hold = gate()
    const ended: string[] = []
    const definition = defineWorkflow({
      ...common,
      name: 'leaves_things',
      run: (ctx) =>
        ctx.loop<number, string>('loop', { state: 0 }, async (inner, turn) => {
          if (turn.iteration === 1) return { done: true, result: 'done' }
          inner.sleep('long', 1_000_000).catch((error: { code: string }) => ended.push(error.code))
          inner.receive('message').catch((error: { code: string }) => ended.push(error.code))
          void inner.step('left', async () => {
            await hold.promise
            ended.push('step')
          })
          return { state: 1 }
        }),
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await world.system.settle(20)
    expect((await run.status()).record.status).toBe('running')
    hold.open()
    expect(await run.result()).toBe('done')
    expect(ended).toEqual(['cancelled', 'cancelled', 'step'])
  })

  test('L3: an interrupt that is open at the end of its iteration is an error', async () => {
    const world = createWorld()
    const definition = defineWorkflow({
      ...common,
      name: 'leaves_a_question',
      run: (ctx) =>
        ctx.loop<number, string>('loop', { state: 0 }, async (inner) => {
          void inner.interrupt('ask', { schema: anyJson }).catch(() => undefined)
          return { state: 1 }
        }),
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await untilStatus(world, run, 'failed')
    expect((await run.status()).record.error).toMatchObject({ code: 'scope_misuse' })
    expect((await run.status()).record.interrupts).toEqual([])
  })

  test('a state over its limit fails, with the way out in its message', async () => {
    const world = createWorld()
    const definition = defineWorkflow({
      ...common,
      name: 'grows',
      run: (ctx) =>
        ctx.loop<string, string>('loop', { state: '' }, async (_inner, turn) => ({
          state: `${turn.state}${'x'.repeat(30_000)}`,
        })),
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await untilStatus(world, run, 'failed')
    const { error } = (await run.status()).record
    expect(error).toMatchObject({ code: 'limit_exceeded' })
    expect(error?.message).toContain('items')
  })

  test('survives a death in any of its iterations and repeats none that is over', async () => {
    const world = createWorld()
    const turns: number[] = []
    const hold = gate()
    const definition = defineWorkflow({
      ...common,
      name: 'dies',
      run: (ctx) =>
        ctx.loop<number, number[]>('loop', { state: 0 }, async (inner, turn) => {
          const value = await inner.step('turn', async () => {
            turns.push(turn.iteration)
            if (turns.length === 4) await hold.promise
            return turn.iteration
          })
          turn.append(value)
          if (turn.iteration < 5) return { state: turn.state + 1 }
          return { done: true, result: turn.items.map(Number) }
        }),
    })
    const first = world.engine([definition])
    const run = await first.session.start(definition, {})
    await until(world, () => turns.length === 4)
    first.kill()
    const second = world.engine([definition])
    expect(await second.session.run(run.id).result()).toEqual([0, 1, 2, 3, 4, 5])
    expect(turns).toEqual([0, 1, 2, 3, 3, 4, 5])
  })
})

describe('ranges', () => {
  test('are joined to at most 64, and lose none', () => {
    const single = Array.from({ length: 500 }, (_, index): Range => [
      index * 3 + (index % 7),
      index * 3 + (index % 7),
    ])
    const joined = merged(single)
    expect(joined.length).toBeLessThanOrEqual(64)
    for (const [revision] of single) {
      expect(joined.some(([first, last]) => first <= revision && revision <= last)).toBe(true)
    }
    expect(
      merged([
        [0, 2],
        [3, 4],
        [9, 9],
      ]),
    ).toEqual([
      [0, 4],
      [9, 9],
    ])
  })
})
