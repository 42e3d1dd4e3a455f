// Acceptance cases 42 to 50: what history shows.
import { describe, expect, test } from 'vitest'
import type { JsonValue } from '@holdfast/core'
import { defineWorkflow, stepIdOf } from '@holdfast/workflow'
import { anyJson, createWorld, gate, noInput, sessionId, until, untilStatus } from '../harness.ts'

const common = { version: 'v1', description: '', input: noInput } as const

describe('activities', () => {
  test('42: start, step, interrupt, resume, step, complete: in this order, each once, without any value', async () => {
    const world = createWorld()
    const definition = defineWorkflow({
      ...common,
      name: 'counts',
      steps: ['first', 'second'],
      async run(ctx) {
        const secret = await ctx.step('first', () => 'a secret result')
        const answer = await ctx.interrupt<JsonValue>('ask', {
          schema: anyJson,
          reason: 'a secret reason',
        })
        return ctx.step('second', () => [secret, answer])
      },
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await untilStatus(world, run, 'interrupted')
    await world.system.advance(1_000)
    const answeredAt = world.system.now()
    await run.resume({ value: 'a secret answer' })
    await run.result()
    const { activities } = await run.history()
    expect(
      activities.map(({ kind, completedSteps, totalSteps }) => [kind, completedSteps, totalSteps]),
    ).toEqual([
      ['run_started', undefined, 2],
      ['step_completed', 1, 2],
      ['run_interrupted', 1, 2],
      ['run_resumed', 1, 2],
      ['step_completed', 2, 2],
      ['run_completed', 2, 2],
    ])
    expect(activities[3]?.occurredAt).toBe(answeredAt)
    const ids = activities.map(({ eventId }) => eventId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab]/)
    expect(JSON.stringify(activities)).not.toContain('secret')
    expect(JSON.stringify((await run.history()).activities)).toBe(JSON.stringify(activities))
  })

  test('45: labels follow the step, also when steps complete in another order than they were asked for', async () => {
    const world = createWorld()
    const holds = { a: gate(), b: gate(), c: gate() }
    const definition = defineWorkflow({
      ...common,
      name: 'parallel',
      steps: ['a', 'b', 'c'],
      async run(ctx) {
        await ctx.all({
          one: (branch) => branch.step('a', () => holds.a.promise),
          two: (branch) => branch.step('b', () => holds.b.promise),
          three: (branch) => branch.step('c', () => holds.c.promise),
        })
      },
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await world.system.settle()
    for (const key of ['c', 'a', 'b'] as const) {
      const before = (await run.status()).journalNext
      holds[key].open()
      await until(world, async () => (await run.status()).journalNext > before)
    }
    await run.result()
    const { activities } = await run.history()
    const steps = activities.filter(({ kind }) => kind === 'step_completed')
    expect(steps.map(({ stepLabel, stepId }) => [stepLabel, stepId])).toEqual([
      ['c', stepIdOf(run.id, 'three/c')],
      ['a', stepIdOf(run.id, 'one/a')],
      ['b', stepIdOf(run.id, 'two/b')],
    ])
  })

  test('46: times are milliseconds since the epoch, never going back, though the clock does', async () => {
    const world = createWorld()
    const definition = defineWorkflow({
      ...common,
      name: 'clocks',
      async run(ctx) {
        await ctx.step('one', () => 1)
        await ctx.step('two', () => {
          world.system.setNow(world.system.now() - 60_000)
        })
        await ctx.step('three', () => 3)
      },
    })
    const { session } = world.engine([definition])
    const started = world.system.now()
    const run = await session.start(definition, {})
    await run.result()
    const times = (await run.history()).activities.map(({ occurredAt }) => occurredAt)
    expect(times).toEqual(times.toSorted((left, right) => left - right))
    expect(times[0]).toBe(started)
    const { record } = await run.status()
    expect(record.updatedAt).toBeGreaterThanOrEqual(record.createdAt)
  })

  test('48: a watcher is told of what is durable, and finds it', async () => {
    const world = createWorld()
    const hold = gate()
    const definition = defineWorkflow({
      ...common,
      name: 'two_steps',
      async run(ctx) {
        await ctx.step('one', () => 1)
        await ctx.step('two', () => hold.promise)
      },
    })
    const { session, store } = world.engine([definition])
    const run = await session.start(definition, {})
    const stop = new AbortController()
    const seen: (readonly string[])[] = []
    const watching = (async () => {
      const topic = { kind: 'run', sessionId, runId: run.id } as const
      for await (const _ of store.watch(topic, stop.signal)) {
        const { activities } = await run.history()
        seen.push(activities.map(({ kind }) => kind))
        if (activities.at(-1)?.kind === 'run_completed') return
      }
    })()
    await until(world, () => seen.some((kinds) => kinds.includes('step_completed')))
    expect(seen.flat()).not.toContain('run_completed')
    hold.open()
    await watching
    stop.abort()
    // Each look begins with what the one before had found.
    for (const [index, kinds] of seen.entries()) {
      expect(kinds.slice(0, seen[index - 1]?.length ?? 0)).toEqual(seen[index - 1] ?? [])
    }
  })
})
