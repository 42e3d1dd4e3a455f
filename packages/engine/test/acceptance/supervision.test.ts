// Acceptance cases 53 to 80 that need a store that fails, or a process that dies at a given moment.
import { describe, expect, test } from 'vitest'
import { ErrorCode, HoldfastError, StoreConflictError } from '@holdfast/core'
import type { Commit, JsonValue } from '@holdfast/core'
import { decodeEntries, defineWorkflow } from '@holdfast/workflow'
import type { JournalEntryKind } from '@holdfast/workflow'
import { anyJson, createWorld, gate, noInput, sessionId, until, untilStatus } from '../harness.ts'
import { createFailingWorld } from './failing-world.ts'

const common = { version: 'v1', description: '', input: noInput } as const

const unavailable = new HoldfastError(ErrorCode.storeUnavailable, {
  message: 'the store is away',
  retryable: true,
})
const unknown = new HoldfastError(ErrorCode.storeOutcomeUnknown, {
  message: 'nobody knows',
  retryable: true,
})

/** Whether a commit writes an entry of this kind. */
function writes(commit: Commit, kind: JournalEntryKind): boolean {
  return commit.writes.some(
    (write) =>
      write.kind === 'journal-append' &&
      decodeEntries({ revision: write.revision, data: write.data }).entries.some(
        (entry) => entry.kind === kind,
      ),
  )
}

function holding(hold: Promise<unknown>, begun: () => void = () => undefined) {
  return defineWorkflow({
    ...common,
    name: 'holding',
    run: (ctx) =>
      ctx.step('hold', async ({ signal }) => {
        begun()
        await Promise.race([
          hold,
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(new Error('told')))
          }),
        ])
        return 'held'
      }),
  })
}

const counter = (bodies: string[]) =>
  defineWorkflow({
    ...common,
    name: 'counter',
    async run(ctx) {
      for (const key of ['first', 'second']) {
        await ctx.step(key, () => {
          bodies.push(key)
          return key
        })
      }
      return bodies.length
    },
  })

describe('a cancel', () => {
  test('53: survives three failures of its run’s commits; ends cancelled with its reason recorded', async () => {
    let faults = 0
    const world = createFailingWorld((commit) => {
      const isDue = writes(commit, 'cancel-requested') && faults < 3
      if (!isDue) return undefined
      faults += 1
      return { when: 'before', error: unavailable }
    })
    const definition = holding(new Promise(() => undefined))
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await world.system.settle()
    await run.cancel('changed my mind')
    await untilStatus(world, run, 'cancelled', 50)
    expect(faults).toBe(3)
    expect((await run.status()).record.cancelRequested).toBe(true)
    const rows = await world.database
      .open({ mode: 'client' })
      .journal(sessionId, run.id, { from: 0, limit: 100 })
    const asked = rows
      .flatMap((row) => decodeEntries(row).entries)
      .filter(({ kind }) => kind === 'cancel-requested')
    expect(asked).toMatchObject([{ reason: 'changed my mind' }])
  })

  test('54: stays wanted while its run cannot be written: running, the intent kept, nothing terminal', async () => {
    let faults = 0
    let isDown = true
    const world = createFailingWorld((commit) => {
      if (!isDown || !writes(commit, 'cancel-requested')) return undefined
      faults += 1
      return { when: 'before', error: unavailable }
    })
    const definition = holding(new Promise(() => undefined))
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await world.system.settle()
    await run.cancel('enough')
    await until(world, () => faults >= 8, 500)
    const during = await run.status()
    expect(during.record.status).toBe('running')
    expect(during.unread).toEqual(['cancel'])
    expect((await run.history()).activities.map(({ kind }) => kind)).toEqual(['run_started'])
    isDown = false
    await untilStatus(world, run, 'cancelled', 500)
  })

  test('80: that cannot be carried out leaves activities and revisions as they were', async () => {
    let isDown = true
    const world = createFailingWorld((commit) =>
      isDown && writes(commit, 'cancel-requested')
        ? { when: 'before', error: unavailable }
        : undefined,
    )
    const definition = holding(new Promise(() => undefined))
    const node = world.engine([definition])
    const run = await node.session.start(definition, {})
    await world.system.settle()
    const before = await run.history()
    await run.cancel('enough')
    await world.system.advance(10_000)
    expect(await run.history()).toEqual(before)
    expect((await run.status()).record.status).toBe('running')
    // Another process, whose store works, carries it out.
    node.kill()
    isDown = false
    const next = world.engine([definition])
    await untilStatus(world, next.session.run(run.id), 'cancelled', 50)
  })
})

describe('a takeover', () => {
  test('59, 60: of a running run goes on by itself, needs no answer, and repeats nothing that was done', async () => {
    const world = createWorld()
    const bodies: string[] = []
    const hold = gate()
    const definition = defineWorkflow({
      ...common,
      name: 'three_steps',
      async run(ctx) {
        for (const key of ['one', 'two', 'three']) {
          await ctx.step(key, async () => {
            bodies.push(key)
            if (key === 'three' && bodies.filter((body) => body === 'three').length === 1) {
              await hold.promise
            }
            return key
          })
        }
        return bodies.length
      },
    })
    const first = world.engine([definition])
    const run = await first.session.start(definition, {})
    await until(world, () => bodies.length === 3)
    first.kill()
    const second = world.engine([definition])
    await untilStatus(world, second.session.run(run.id), 'completed')
    expect(bodies).toEqual(['one', 'two', 'three', 'three'])
    const stored = await second.session.run(run.id).status()
    expect(stored.journalNext).toBe(5)
    expect(stored.unread).toEqual([])
  })

  test('61: of a run whose journal lacks only its end runs no body at all', async () => {
    const bodies: string[] = []
    const definition = counter(bodies)
    let isArmed = true
    const world = createFailingWorld((commit) => {
      if (!isArmed || !writes(commit, 'run-ended')) return undefined
      isArmed = false
      return { when: 'before', error: unavailable, dies: () => first.kill() }
    })
    const first = world.engine([definition])
    const run = await first.session.start(definition, {})
    await until(world, () => !isArmed)
    const second = world.engine([definition])
    await untilStatus(world, second.session.run(run.id), 'completed', 20)
    expect(bodies).toEqual(['first', 'second'])
    expect((await second.session.run(run.id).status()).journalNext).toBe(4)
  })

  test('64: there is none of what has ended: its session is not even claimed', async () => {
    const world = createWorld()
    const bodies: string[] = []
    const definition = counter(bodies)
    const first = world.engine([definition])
    const done = await first.session.start(definition, {})
    await done.result()
    const asks = await first.session.start(definition, {})
    await asks.cancel().catch(() => undefined)
    await asks.result().catch(() => undefined)
    const before = await first.session.run(done.id).status()
    first.kill()
    const second = world.engine([definition], { node: 'second' })
    await world.system.advance(5_000)
    const other = world.database.open({ node: 'other' })
    await expect(other.claimSession(sessionId)).resolves.toMatchObject({ sessionId })
    expect(await second.session.run(done.id).status()).toEqual(before)
    expect(bodies.length).toBeLessThanOrEqual(4)
  })
})

describe('windows of a crash', () => {
  test('71: an answer of the store that was lost after a write: every activity once, in either process', async () => {
    const bodies: string[] = []
    const definition = counter(bodies)
    let isArmed = true
    const world = createFailingWorld((commit) => {
      if (!isArmed || !writes(commit, 'step-completed')) return undefined
      isArmed = false
      return { when: 'after', error: unknown, dies: () => first.kill() }
    })
    const first = world.engine([definition])
    const run = await first.session.start(definition, {})
    await until(world, () => !isArmed)
    const second = world.engine([definition])
    const again = second.session.run(run.id)
    await untilStatus(world, again, 'completed', 20)
    const { activities } = await again.history()
    expect(activities.map(({ kind }) => kind)).toEqual([
      'run_started',
      'step_completed',
      'step_completed',
      'run_completed',
    ])
    expect(new Set(activities.map(({ eventId }) => eventId)).size).toBe(4)
    expect(bodies).toEqual(['first', 'second'])
  })

  test('72: created and no more: it is started, once', async () => {
    const bodies: string[] = []
    const definition = counter(bodies)
    const world = createFailingWorld((_, count) => {
      if (count !== 1) return undefined
      return { when: 'after', error: unknown, dies: () => first.kill() }
    })
    const first = world.engine([definition])
    await first.session.start(definition, {}).catch(() => undefined)
    const second = world.engine([definition])
    await until(
      world,
      async () => (await second.session.runs({ status: ['completed'] })).items.length === 1,
      20,
    )
    expect(bodies).toEqual(['first', 'second'])
    expect((await second.session.runs()).items).toHaveLength(1)
  })

  test('73: interrupted: it stays so until it is answered, then start, interrupt, resume, step, complete', async () => {
    const world = createWorld()
    const definition = defineWorkflow({
      ...common,
      name: 'asks',
      async run(ctx) {
        const answer = await ctx.interrupt<JsonValue>('ask', { schema: anyJson })
        return ctx.step('after', () => answer)
      },
    })
    const first = world.engine([definition])
    const run = await first.session.start(definition, {})
    await untilStatus(world, run, 'interrupted')
    first.kill()
    const second = world.engine([definition])
    await world.system.advance(10_000)
    const again = second.session.run(run.id)
    expect((await again.status()).record.status).toBe('interrupted')
    await again.resume({ value: 1 })
    expect(await again.result()).toEqual({ value: 1 })
    expect((await again.history()).activities.map(({ kind }) => kind)).toEqual([
      'run_started',
      'run_interrupted',
      'run_resumed',
      'step_completed',
      'run_completed',
    ])
  })

  test('74: ended in the store, though its process never heard: ended, and nothing more happens', async () => {
    const bodies: string[] = []
    const definition = counter(bodies)
    let isArmed = true
    const world = createFailingWorld((commit) => {
      if (!isArmed || !writes(commit, 'run-ended')) return undefined
      isArmed = false
      return { when: 'after', error: unknown, dies: () => first.kill() }
    })
    const first = world.engine([definition])
    const run = await first.session.start(definition, {})
    await until(world, () => !isArmed)
    const second = world.engine([definition])
    const again = second.session.run(run.id)
    await world.system.advance(5_000)
    const { activities } = await again.history()
    expect(activities.filter(({ kind }) => kind === 'run_completed')).toHaveLength(1)
    expect(await again.result()).toBe(2)
    expect(bodies).toEqual(['first', 'second'])
  })

  test('75: pending when its process died: taken up by the next, which completes it', async () => {
    const world = createWorld()
    const hold = gate()
    const busy = holding(hold.promise)
    const bodies: string[] = []
    const definition = counter(bodies)
    const first = world.engine([busy, definition], { limits: { maxActiveRuns: 1 } })
    await first.session.start(busy, {})
    await world.system.settle()
    const second = await first.session.start(busy, {})
    const waits = await first.session.start(definition, {})
    for (const run of [second, waits]) expect((await run.status()).record.status).toBe('pending')
    first.kill()
    hold.open()
    const next = world.engine([busy, definition])
    await untilStatus(world, next.session.run(waits.id), 'completed', 20)
    expect(bodies).toEqual(['first', 'second'])
  })

  const ofActivities = ['run-seeded', 'step-completed', 'second step', 'run-ended'] as const
  test.each(ofActivities.flatMap((what) => [['before', what] as const, ['after', what] as const]))(
    '77: a fault %s the commit of %s is got over: four activities, each once',
    async (when, what) => {
      const bodies: string[] = []
      const definition = counter(bodies)
      let completed = 0
      let faults = 0
      const world = createFailingWorld((commit) => {
        if (writes(commit, 'step-completed')) completed += 1
        const isDue =
          what === 'second step'
            ? writes(commit, 'step-completed') && completed === 2
            : writes(commit, what)
        if (!isDue || faults > 0) return undefined
        faults += 1
        return { when, error: when === 'before' ? unavailable : unknown }
      })
      const { session } = world.engine([definition])
      const id = world.system.runId()
      await session.start(definition, {}, { runId: id }).catch(() => undefined)
      // Only a start that failed before it was written is its caller's to repeat.
      if (what === 'run-seeded' && when === 'before') {
        await session.start(definition, {}, { runId: id })
      }
      const run = session.run(id)
      await untilStatus(world, run, 'completed', 20)
      expect(faults).toBe(1)
      const { activities } = await run.history()
      expect(activities.map(({ kind }) => kind)).toEqual([
        'run_started',
        'step_completed',
        'step_completed',
        'run_completed',
      ])
      expect(new Set(activities.map(({ eventId }) => eventId)).size).toBe(4)
      expect(bodies).toEqual(['first', 'second'])
    },
  )

  test('78: one conflict that should not be is got over by taking the run up again, without doubles', async () => {
    const bodies: string[] = []
    const definition = counter(bodies)
    let faults = 0
    const world = createFailingWorld((commit) => {
      if (faults > 0 || !writes(commit, 'step-completed')) return undefined
      faults += 1
      const conflict = new StoreConflictError({ reason: 'journal-revision', write: 0 })
      return { when: 'before', error: conflict }
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await untilStatus(world, run, 'completed', 50)
    expect(faults).toBe(1)
    const { activities } = await run.history()
    expect(activities).toHaveLength(4)
    // What was not journaled was done again: that is what a step promises.
    expect(bodies).toEqual(['first', 'first', 'second'])
  })
})

describe('inner runs and signals', () => {
  test('A20: a child keeps its id while its parent waits, over processes and to its end', async () => {
    const world = createWorld()
    const child = defineWorkflow({
      ...common,
      name: 'child_asks',
      run: (ctx) => ctx.interrupt<JsonValue>('ask', { schema: anyJson }),
    })
    const parent = defineWorkflow({
      ...common,
      name: 'parent',
      async run(ctx) {
        const got = await ctx.child('inner', child, {})
        return { got: got ?? null }
      },
    })
    let node = world.engine([parent, child])
    const run = await node.session.start(parent, {})
    const childOf = async (): Promise<string | undefined> =>
      (await node.session.runs()).items.find(({ record }) => record.childOf === run.id)?.record.id
    await until(world, async () => (await childOf()) !== undefined, 60)
    const id = (await childOf()) ?? ''
    for (let round = 0; round < 3; round += 1) {
      await untilStatus(world, node.session.run(id), 'interrupted', 60)
      node.kill()
      node = world.engine([parent, child])
      await world.system.advance(100)
      expect(await childOf()).toBe(id)
    }
    await node.session.run(id).resume({ value: 'inner' })
    await untilStatus(world, node.session.run(run.id), 'completed', 60)
    expect(await node.session.run(run.id).result()).toEqual({ got: { value: 'inner' } })
  })

  test('A22: looking at a step’s signal costs no commit and no timer', async () => {
    const costs: number[][] = []
    for (const looks of [false, true]) {
      const world = createFailingWorld(() => undefined)
      const timers: number[] = []
      const definition = defineWorkflow({
        ...common,
        name: 'looks',
        async run(ctx) {
          for (let count = 0; count < 20; count += 1) {
            await ctx.step('look', ({ signal }) => {
              timers.push(world.system.timerCount)
              return looks ? signal.aborted : false
            })
          }
        },
      })
      const { session } = world.engine([definition])
      const before = world.system.now()
      const run = await session.start(definition, {})
      await untilStatus(world, run, 'completed')
      costs.push([world.commits.length, Math.max(...timers), world.system.now() - before])
    }
    expect(costs[1]).toEqual(costs[0])
  })
})
