import { describe, expect, test } from 'vitest'
import { HoldfastError, type JsonValue } from '@holdfast/core'
import { decodeEntries, defineWorkflow } from '@holdfast/workflow'
import { createEngine } from '../src/index.ts'
import { anyJson, createWorld, gate, noInput, sessionId, until, untilStatus } from './harness.ts'

const common = { version: 'v1', description: '', input: noInput } as const

const asks = defineWorkflow({
  ...common,
  name: 'asks',
  async run(ctx) {
    return ctx.interrupt('ask', { schema: anyJson })
  },
})

const steps = (body: () => JsonValue | Promise<JsonValue>) =>
  defineWorkflow({
    ...common,
    name: 'one_step',
    input: anyJson,
    run: (ctx) => ctx.step('work', () => body()),
  })

describe('starting', () => {
  test('52: a run that a client started is executed once, by the owner of its session', async () => {
    const world = createWorld()
    let times = 0
    const definition = steps(() => (times += 1))
    const owner = world.engine([definition])
    const clientStore = world.database.open({ mode: 'client' })
    const client = createEngine({
      store: clientStore,
      definitions: [definition],
      system: world.system,
    })
    const run = await client.session(sessionId).start(definition, {})
    expect((await run.status()).record.status).toBe('pending')
    await untilStatus(world, owner.session.run(run.id), 'completed')
    expect(times).toBe(1)
    // A second one, when the session has its owner already.
    const second = await client.session(sessionId).start(definition, {})
    await untilStatus(world, second, 'completed', 100)
    expect(times).toBe(2)
    await expect(run.result()).resolves.toBe(1)
  })

  test('R1: the same idempotency key and input is the same run; another input is refused', async () => {
    const world = createWorld()
    const definition = steps(() => 1)
    const { session } = world.engine([definition])
    const first = await session.start(definition, {}, { idempotencyKey: 'key' })
    const again = await session.start(definition, {}, { idempotencyKey: 'key' })
    expect(again.id).toBe(first.id)
    await expect(
      session.start(definition, { value: 2 }, { idempotencyKey: 'key' }),
    ).rejects.toMatchObject({ code: 'idempotency_key_reused', details: { run_id: first.id } })
  })

  test('refuses what is unknown, does not fit, or has no parent', async () => {
    const world = createWorld()
    const definition = steps(() => 1)
    const { session } = world.engine([definition])
    const unfit: object = { other: 1 }
    await expect(session.start(asks, {})).rejects.toMatchObject({ code: 'definition_unknown' })
    await expect(session.start(definition, unfit)).rejects.toMatchObject({
      code: 'input_invalid',
    })
    await expect(
      session.start(definition, {}, { parentRunId: '00000000-0000-4000-8000-0000000000ff' }),
    ).rejects.toMatchObject({ code: 'run_not_found' })
    expect((await session.runs()).items).toEqual([])
  })

  test('70: is acknowledged at the seed while the first step is held', async () => {
    const world = createWorld()
    const hold = gate()
    const definition = steps(async () => {
      await hold.promise
      return 2
    })
    const { session } = world.engine([definition])
    await (await session.start(definition, {})).status()
    const run = await session.start(definition, {})
    expect(['pending', 'running']).toContain((await run.status()).record.status)
    hold.open()
    expect(await run.result()).toBe(2)
  })

  test('68: an engine needs definitions or a catalog, and not both', () => {
    const world = createWorld()
    const store = world.database.open()
    expect(() => createEngine({ store })).toThrow(HoldfastError)
    expect(() => createEngine({ store, definitions: [], limits: { maxWorkers: 65 } })).toThrow(
      /maxWorkers/,
    )
  })
})

describe('answering', () => {
  test('63, R5: of sixteen answers at once one counts, and the rest runs once', async () => {
    const world = createWorld()
    let times = 0
    const definition = defineWorkflow({
      ...common,
      name: 'asks_then_works',
      async run(ctx) {
        const answer = await ctx.interrupt('ask', { schema: anyJson })
        return ctx.step('work', () => ({ times: (times += 1), answer }))
      },
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await untilStatus(world, run, 'interrupted')
    const answers = await Promise.allSettled(
      Array.from({ length: 16 }, (_, value) => run.resume({ value })),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const answer of answers) {
      if (answer.status === 'rejected') {
        expect(['interrupt_answered', 'run_not_interrupted']).toContain(
          (answer.reason as { code: string }).code,
        )
      }
    }
    await run.result()
    expect(times).toBe(1)
  })

  test('the same answer with the same key again succeeds, also when it was read', async () => {
    const world = createWorld()
    const { session } = world.engine([asks])
    const run = await session.start(asks, {})
    await untilStatus(world, run, 'interrupted')
    const interruptId = (await run.status()).record.interrupts[0]?.id ?? ''
    const options = { interruptId, idempotencyKey: 'k' }
    await run.resume({ value: 1 }, options)
    await run.resume({ value: 1 }, options)
    await run.result()
    await run.resume({ value: 1 }, options)
    await expect(run.resume({ value: 2 }, options)).rejects.toMatchObject({
      code: 'interrupt_answered',
    })
    await expect(run.resume({ value: 1 }, { interruptId })).rejects.toMatchObject({
      code: 'interrupt_answered',
    })
  })

  test('a keyed answer that names no interrupt means the same one when it is repeated', async () => {
    const world = createWorld()
    const asksTwice = defineWorkflow({
      ...common,
      name: 'asks_twice',
      async run(ctx) {
        const first = await ctx.interrupt('first', { schema: anyJson, answer: 'anyone' })
        const second = await ctx.interrupt('second', { schema: anyJson, answer: 'anyone' })
        return { first, second }
      },
    })
    const { session } = world.engine([asksTwice])
    const run = await session.start(asksTwice, {})
    await untilStatus(world, run, 'interrupted')
    const [first] = (await run.status()).record.interrupts
    await run.resume({ value: 1 }, { idempotencyKey: 'k' })
    let open = await run.status()
    while (open.record.interrupts[0]?.id === first?.id || open.record.interrupts.length === 0) {
      await new Promise((resolve) => setImmediate(resolve))
      open = await run.status()
    }
    await run.resume({ value: 1 }, { idempotencyKey: 'k' })
    expect((await run.status()).record.interrupts).toEqual(open.record.interrupts)
    await run.resume({ value: 2 }, { idempotencyKey: 'other' })
    expect(await run.result()).toEqual({ first: { value: 1 }, second: { value: 2 } })
    await run.resume({ value: 1 }, { idempotencyKey: 'k' })
  })

  test('a model cannot answer for a person, nor act on its own run or an ancestor', async () => {
    const world = createWorld()
    const open = defineWorkflow({
      ...common,
      name: 'asks_anyone',
      run: (ctx) => ctx.interrupt('ask', { schema: anyJson, answer: 'anyone' }),
    })
    const { session } = world.engine([asks, open])
    const grandparent = await session.start(open, {})
    const parent = await session.start(open, {}, { parentRunId: grandparent.id })
    const own = await session.start(open, {}, { parentRunId: parent.id })
    const person = await session.start(asks, {})
    for (const run of [grandparent, parent, own, person]) {
      await untilStatus(world, run, 'interrupted')
    }
    const by = { kind: 'model', runId: own.id } as const
    await expect(person.resume({ value: 1 }, { by })).rejects.toMatchObject({
      code: 'interrupt_needs_person',
    })
    for (const run of [grandparent, parent, own]) {
      await expect(run.resume({ value: 1 }, { by })).rejects.toMatchObject({ code: 'own_run' })
      await expect(session.supervisor.cancel({ runId: run.id, by })).rejects.toMatchObject({
        code: 'own_run',
      })
    }
    await grandparent.resume({ value: 2 }, { by: { kind: 'model', runId: person.id } })
    expect(await grandparent.result()).toEqual({ value: 2 })
  })

  test('62: an interrupted run waits over restarts until it is answered, and then completes', async () => {
    const world = createWorld()
    const first = world.engine([asks])
    const run = await first.session.start(asks, {})
    await untilStatus(world, run, 'interrupted')
    const before = await run.status()
    first.kill()
    const second = world.engine([asks])
    await world.system.settle(40)
    const again = second.session.run(run.id)
    expect((await again.status()).journalNext).toBe(before.journalNext)
    await again.resume({ value: 'x' })
    expect(await again.result()).toEqual({ value: 'x' })
  })

  test('an answer bound to a stream that has been closed since is refused', async () => {
    const world = createWorld()
    const { session } = world.engine([asks])
    const run = await session.start(asks, {})
    await untilStatus(world, run, 'interrupted')
    const request = { runId: run.id, payload: { value: 1 }, by: { kind: 'person' } as const }
    await expect(session.supervisor.resume({ ...request, streamIs: 3 })).rejects.toMatchObject({
      code: 'run_conflict',
    })
    await session.supervisor.resume({ ...request, streamIs: 0 })
    expect(await run.result()).toEqual({ value: 1 })
  })

  test('an unknown run, interrupt or ended run has its code', async () => {
    const world = createWorld()
    const { session } = world.engine([asks])
    const unknown = session.run('00000000-0000-4000-8000-0000000000ff')
    await expect(unknown.resume({})).rejects.toMatchObject({ code: 'run_not_found' })
    await expect(unknown.cancel()).rejects.toMatchObject({ code: 'run_not_found' })
    await expect(unknown.history()).rejects.toMatchObject({ code: 'run_not_found' })
    await expect(unknown.result()).rejects.toMatchObject({ code: 'run_not_found' })
    const run = await session.start(asks, {})
    await untilStatus(world, run, 'interrupted')
    await expect(run.resume({}, { interruptId: 'other' })).rejects.toMatchObject({
      code: 'interrupt_not_found',
    })
    await run.resume({ value: 1 })
    await run.result()
    await expect(run.resume({ value: 1 })).rejects.toMatchObject({ code: 'run_ended' })
    await expect(run.cancel()).rejects.toMatchObject({ code: 'run_ended' })
  })
})

describe('ownership', () => {
  test('55, 56, 79: a lost lease stops what executes, and nothing terminal is written by it', async () => {
    const world = createWorld()
    let aborted = false
    const finishes: ((value: string) => void)[] = []
    const definition = defineWorkflow({
      ...common,
      name: 'long_step',
      run: (ctx) =>
        ctx.step('long', ({ signal }) => {
          signal.addEventListener('abort', () => {
            aborted = true
          })
          return new Promise<string>((resolve) => {
            finishes.push(resolve)
          })
        }),
    })
    const first = world.engine([definition], { node: 'first' })
    const run = await first.session.start(definition, {})
    await until(world, () => finishes.length === 1)
    world.database.expireLease('first')
    await world.system.settle()
    expect(aborted).toBe(true)
    // It ignores that it was told to stop, and finishes.
    finishes[0]?.('of the first')
    await world.system.settle()
    const after = await run.status()
    expect(after.record).toMatchObject({ status: 'running' })
    expect(after.record.cancelRequested).toBeUndefined()
    const second = world.engine([definition], { node: 'second' })
    await until(world, () => finishes.length === 2)
    finishes[1]?.('of the second')
    expect(await second.session.run(run.id).result()).toBe('of the second')
  })

  test('67: two engines over one database: one owns a session, each run runs once', async () => {
    const world = createWorld()
    let times = 0
    const definition = steps(() => (times += 1))
    const [left, right] = [world.engine([definition]), world.engine([definition])]
    const starts = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? left : right).session.start(definition, {}),
    )
    for (const run of await Promise.all(starts)) await untilStatus(world, run, 'completed', 50)
    expect(times).toBe(20)
  })

  test('fencing: an owner that was paused over a takeover can write nothing', async () => {
    const world = createWorld()
    const holds = [gate(), gate()]
    let begun = 0
    const definition = steps(async () => {
      const mine = holds[begun]
      begun += 1
      await mine?.promise
      return begun
    })
    const first = world.engine([definition], { node: 'first' })
    const run = await first.session.start(definition, {})
    await until(world, () => begun === 1)
    // The lease ends and the first is not told of it: it is paused.
    const taking = world.database.open({ node: 'taking' })
    world.database.expireLease('first')
    const { epoch } = await taking.claimSession(sessionId)
    expect(epoch).toBeGreaterThan(1)
    holds[0]?.open()
    await world.system.settle(20)
    expect((await run.status()).journalNext).toBe(1)
    await taking.close()
    const second = world.engine([definition])
    await until(world, () => begun === 2)
    holds[1]?.open()
    expect(await second.session.run(run.id).result()).toBe(2)
  })

  test('57, 58: drain is idempotent and bounded, lets bodies finish, and counts no recovery', async () => {
    const world = createWorld()
    const hold = gate()
    const definition = defineWorkflow({
      ...common,
      name: 'two_steps',
      async run(ctx) {
        const one = await ctx.step('one', async () => {
          await hold.promise
          return 'one'
        })
        const two = await ctx.step('two', () => 'two')
        return [one, two]
      },
    })
    const stuck = steps(() => new Promise<JsonValue>(() => undefined))
    const first = world.engine([definition, stuck])
    const run = await first.session.start(definition, {})
    const other = await first.session.start(stuck, {})
    await world.system.settle()
    const drained = first.engine.drain()
    expect(first.engine.drain()).toBe(drained)
    await expect(first.session.start(stuck, {})).rejects.toMatchObject({ code: 'draining' })
    hold.open()
    await world.system.advance(9_000)
    let isDrained = false
    void drained.then(() => {
      isDrained = true
    })
    await world.system.settle()
    expect(isDrained).toBe(false)
    await world.system.advance(1_500)
    await drained
    const left = await run.status()
    expect(left.record).toMatchObject({ status: 'running', parked: true })
    const second = world.engine([definition, stuck])
    expect(await second.session.run(run.id).result()).toEqual(['one', 'two'])
    expect((await second.session.run(other.id).status()).record.recoveries).toBe(0)
  })

  test('an idle session is let go of after a minute, and had again when something comes', async () => {
    const world = createWorld()
    const { session, store } = world.engine([asks], { node: 'first' })
    const run = await session.start(asks, {})
    await untilStatus(world, run, 'interrupted')
    await world.system.advance(61_000)
    const other = world.database.open({ node: 'other' })
    const claim = await other.claimSession(sessionId)
    await other.releaseSession(claim)
    await other.close()
    await run.resume({ value: 1 })
    await until(
      world,
      async () => (await store.run(sessionId, run.id))?.record.status === 'completed',
      10,
    )
  })

  test('an interrupted run that its process takes up again for a message stays interrupted', async () => {
    const world = createWorld()
    const { session, store } = world.engine([asks])
    const run = await session.start(asks, {})
    await untilStatus(world, run, 'interrupted')
    const before = await run.status()
    await world.system.advance(61_000)
    await run.send({ id: 'm', body: 1 })
    await until(world, async () => (await run.status()).unread.length === 0, 10)
    await world.system.settle(20)
    const after = await run.status()
    expect(after.record).toMatchObject({
      status: 'interrupted',
      stream: before.record.stream,
      recoveries: 0,
    })
    const rows = await store.journal(sessionId, run.id, { from: 0, limit: 100 })
    const kinds = rows.flatMap((row) => decodeEntries(row).entries.map(({ kind }) => kind))
    expect(kinds.filter((kind) => kind === 'run-interrupted')).toHaveLength(1)
    await run.resume({ value: 1 })
    expect(await run.result()).toEqual({ value: 1 })
  })
})

describe('what cannot go on', () => {
  test('a crash loop: five takeovers without a new entry fail the run', async () => {
    const world = createWorld()
    let begun = 0
    const definition = steps(() => {
      begun += 1
      return new Promise<JsonValue>(() => undefined)
    })
    let node = world.engine([definition])
    const run = await node.session.start(definition, {})
    for (let death = 1; death <= 5; death += 1) {
      await until(world, () => begun === death)
      node.kill()
      node = world.engine([definition])
    }
    const last = node.session.run(run.id)
    await untilStatus(world, last, 'failed')
    expect(begun).toBe(5)
    expect((await last.status()).record.error).toMatchObject({ code: 'crash_loop' })
  })

  test('66: without its definition a run waits for code, can be cancelled, and goes on when it is back', async () => {
    const world = createWorld()
    const first = world.engine([asks])
    const [one, two] = [await first.session.start(asks, {}), await first.session.start(asks, {})]
    for (const run of [one, two]) await untilStatus(world, run, 'interrupted')
    first.kill()
    const second = world.engine([])
    await second.session.run(one.id).send({ id: 'm', body: 1 })
    const waiting = second.session.run(one.id)
    await until(world, async () => (await waiting.status()).record.waitingFor === 'code')
    await waiting.cancel()
    await untilStatus(world, waiting, 'cancelled')
    second.kill()
    const third = world.engine([asks])
    await third.session.run(two.id).resume({ value: 1 })
    expect(await third.session.run(two.id).result()).toEqual({ value: 1 })
  })

  test('a run whose schemas have changed waits for its code, and is tried again by a process that has it', async () => {
    const world = createWorld()
    const first = world.engine([asks])
    const run = await first.session.start(asks, {})
    await untilStatus(world, run, 'interrupted')
    await first.engine.close()
    const changed = defineWorkflow({ ...asks, revision: 'two' })
    const second = world.engine([changed])
    await second.session.run(run.id).send({ id: 'm', body: 1 })
    const waiting = second.session.run(run.id)
    await until(world, async () => (await waiting.status()).record.waitingFor === 'code')
    second.kill()
    const third = world.engine([asks])
    const again = third.session.run(run.id)
    await until(world, async () => (await again.status()).record.status === 'interrupted')
    await again.resume({ value: 1 })
    expect(await again.result()).toEqual({ value: 1 })
  })

  test('65: a run without its journal fails, and says so without ids', async () => {
    const world = createWorld()
    let times = 0
    const definition = steps(() => (times += 1))
    const client = createEngine({
      store: world.database.open({ mode: 'client' }),
      definitions: [definition],
      system: world.system,
    })
    const run = await client.session(sessionId).start(definition, {})
    const store = world.database.open()
    const damaged = createEngine({
      store: { ...store, journal: async () => [] },
      definitions: [definition],
      system: world.system,
      log: world.log,
    })
    await untilStatus(world, run, 'failed')
    const { error } = (await run.status()).record
    expect(error).toMatchObject({ code: 'record_corrupt', retryable: false })
    expect(error?.message).not.toContain(run.id)
    expect(times).toBe(0)
    await damaged.close()
  })

  test('awaiting what is not of the context is reported, and the run goes on when it comes', async () => {
    const world = createWorld()
    const foreign = gate<string>()
    const definition = defineWorkflow({
      ...common,
      name: 'foreign',
      async run(ctx) {
        const got = await foreign.promise
        return ctx.step('then', () => got)
      },
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await world.system.settle()
    await world.system.advance(1_000)
    await until(world, async () => (await run.status()).record.waitingFor === 'code')
    expect(world.log.of('engine.run.foreign_await')).toHaveLength(1)
    foreign.open('at last')
    expect(await run.result()).toBe('at last')
    expect((await run.status()).record.waitingFor).toBeUndefined()
  })
})

describe('once', () => {
  const charging = (
    charges: string[],
    verify?: () => Promise<{ done: true; value: JsonValue } | { done: false }>,
  ) =>
    defineWorkflow({
      ...common,
      name: 'charging',
      run: (ctx) =>
        ctx.step(
          'charge',
          () => {
            charges.push('charged')
            return new Promise<string>(() => undefined)
          },
          { once: true, ...(verify === undefined ? {} : { verify }) },
        ),
    })

  test('R4: a body that began and left nothing is never run again by itself: a person is asked', async () => {
    const world = createWorld()
    const charges: string[] = []
    const definition = charging(charges)
    const first = world.engine([definition])
    const run = await first.session.start(definition, {})
    await until(world, () => charges.length === 1)
    first.kill()
    const second = world.engine([definition])
    const again = second.session.run(run.id)
    await untilStatus(world, again, 'interrupted')
    const [question] = (await again.status()).record.interrupts
    expect(question).toMatchObject({
      answer: 'person',
      payload: { kind: 'step-outcome', step: 'charge' },
    })
    await expect(
      again.resume({ outcome: 'done' }, { by: { kind: 'model' } }),
    ).rejects.toMatchObject({ code: 'interrupt_needs_person' })
    await again.resume({ outcome: 'done', value: 'receipt 7' })
    expect(await again.result()).toBe('receipt 7')
    expect(charges).toEqual(['charged'])
    const kinds = (await again.history()).activities.map(({ kind }) => kind)
    expect(kinds).toEqual([
      'run_started',
      'run_interrupted',
      'run_resumed',
      'step_completed',
      'run_completed',
    ])
  })

  test('R4: "not done" lets it run again, "give up" fails the step', async () => {
    const world = createWorld()
    const charges: string[] = []
    const definition = charging(charges)
    const first = world.engine([definition])
    const runs = [
      await first.session.start(definition, {}),
      await first.session.start(definition, {}),
    ]
    await until(world, () => charges.length === 2)
    first.kill()
    const second = world.engine([definition])
    const [again, given] = runs.map(({ id }) => second.session.run(id))
    if (again === undefined || given === undefined) throw new Error('two runs')
    await untilStatus(world, again, 'interrupted')
    await untilStatus(world, given, 'interrupted')
    await again.resume({ outcome: 'not_done' })
    await until(world, () => charges.length === 3)
    await given.resume({ outcome: 'give_up' })
    await untilStatus(world, given, 'failed')
    expect((await given.status()).record.error).toMatchObject({ code: 'step_outcome_unknown' })
  })

  test('R4: verify finds out what became of it', async () => {
    const world = createWorld()
    const charges: string[] = []
    const definition = charging(charges, async () => ({ done: true, value: 'found' }))
    const first = world.engine([definition])
    const run = await first.session.start(definition, {})
    await until(world, () => charges.length === 1)
    first.kill()
    const second = world.engine([definition])
    expect(await second.session.run(run.id).result()).toBe('found')
    expect(charges).toHaveLength(1)
  })
})

describe('a failed run', () => {
  test('is started anew from where it failed; the failed one stays failed', async () => {
    const world = createWorld()
    const ran: string[] = []
    const keys: string[] = []
    let works = false
    const definition = defineWorkflow({
      ...common,
      name: 'fails_once',
      async run(ctx) {
        const one = await ctx.step('one', () => {
          ran.push('one')
          return 'x'.repeat(50_000)
        })
        await ctx.receive('message')
        const two = await ctx.step(
          'two',
          ({ idempotencyKey }) => {
            ran.push('two')
            keys.push(idempotencyKey)
            if (!works) throw new Error('down')
            return 'two'
          },
          { retries: 0 },
        )
        return [one.length, two]
      },
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await until(world, async () => (await run.status()).record.waitingFor === 'message')
    await run.send({ id: 'm', body: 1 })
    await untilStatus(world, run, 'failed')
    works = true
    const again = await run.retry()
    expect(await again.result()).toEqual([50_000, 'two'])
    expect(ran).toEqual(['one', 'two', 'two'])
    expect(new Set(keys).size).toBe(1)
    expect((await again.status()).record.retriedFrom).toBe(run.id)
    expect((await run.status()).record.status).toBe('failed')
    await expect(again.retry()).rejects.toMatchObject({ code: 'run_conflict' })
  })
})

describe('history', () => {
  test('69: pages lose nothing and repeat nothing, also within a revision', async () => {
    const world = createWorld()
    const definition = defineWorkflow({
      ...common,
      name: 'parallel',
      run: (ctx) =>
        ctx.all({
          a: (branch) => branch.step('a', () => 1),
          b: (branch) => branch.step('b', () => 2),
          c: (branch) => branch.step('c', () => 3),
        }),
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await run.result()
    const whole = await run.history()
    expect(new Set(whole.activities.map(({ eventId }) => eventId)).size).toBe(
      whole.activities.length,
    )
    expect(whole.activities.filter(({ revision }) => revision === 1)).toHaveLength(3)
    const seen: string[] = []
    let cursor: { afterRevision?: number; afterEventId?: string } = {}
    for (let page = 0; page < 20; page += 1) {
      const { activities, nextRevision, nextEventId } = await run.history({ ...cursor, limit: 1 })
      seen.push(...activities.map(({ eventId }) => eventId))
      if (nextRevision === undefined) break
      cursor = {
        afterRevision: nextRevision,
        ...(nextEventId === undefined ? {} : { afterEventId: nextEventId }),
      }
    }
    expect(seen).toEqual(whole.activities.map(({ eventId }) => eventId))
    await expect(run.history({ limit: 101 })).rejects.toMatchObject({ code: 'arguments_invalid' })
  })

  test('answers while a step runs, and never changes once read', async () => {
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
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await until(world, async () => (await run.status()).journalNext === 2)
    const during = (await run.history()).activities
    expect(during.map(({ kind }) => kind)).toEqual(['run_started', 'step_completed'])
    hold.open()
    await run.result()
    expect((await run.history()).activities.slice(0, 2)).toEqual(during)
  })
})

describe('the end of a run', () => {
  test('names the messages and answers that were accepted and came too late', async () => {
    const world = createWorld()
    const hold = gate()
    const definition = defineWorkflow({
      ...common,
      name: 'deaf',
      run: (ctx) =>
        ctx.race({
          asks: (branch) => branch.interrupt<JsonValue>('ask', { schema: anyJson }),
          works: async (branch) =>
            branch.step('work', async () => {
              await hold.promise
              return 'worked'
            }),
        }),
    })
    const { session, store } = world.engine([definition])
    const run = await session.start(definition, {})
    await until(world, async () => (await run.status()).record.interrupts.length === 1)
    const [question] = (await run.status()).record.interrupts
    hold.open()
    const [resumed] = await Promise.allSettled([
      run.resume({ value: 1 }, { interruptId: question?.id ?? '' }),
      run.send({ id: 'late', body: 1 }),
    ])
    await run.result()
    const { journalNext } = await run.status()
    const rows = await store.journal(sessionId, run.id, { from: journalNext - 1, limit: 1 })
    const end = rows
      .flatMap((row) => decodeEntries(row).entries)
      .find(({ kind }) => kind === 'run-ended')
    expect(end).toMatchObject({ undelivered: ['late'] })
    const named = end?.kind === 'run-ended' ? end.superseded : []
    const output = await session.supervisor.output(run.id)
    if (resumed?.status === 'fulfilled' && JSON.stringify(output) === '"worked"') {
      expect(named).toEqual([question?.id])
    }
  })

  test('a step that is in flight when the definition returns is aborted and listed', async () => {
    const world = createWorld()
    let aborted = false
    const definition = defineWorkflow({
      ...common,
      name: 'impatient',
      async run(ctx) {
        void ctx.step('left behind', ({ signal }) => {
          signal.addEventListener('abort', () => {
            aborted = true
          })
          return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        })
        return ctx.step('quick', () => 'quick')
      },
    })
    const { session, store } = world.engine([definition])
    const run = await session.start(definition, {})
    await untilStatus(world, run, 'completed', 1)
    expect(aborted).toBe(true)
    const rows = await store.journal(sessionId, run.id, { from: 0, limit: 100 })
    expect(rows.at(-1)?.data).toContain('"inFlight":["left behind"]')
  })

  test('A21: a value over the hard limit is a clear failure', async () => {
    const world = createWorld()
    const definition = steps(() => 'x'.repeat(9 * 1_024 * 1_024))
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await untilStatus(world, run, 'failed')
    expect((await run.status()).record.error).toMatchObject({ code: 'limit_exceeded' })
  })
})

describe('slots', () => {
  test('bound what executes, are given back by waits, and taken in turns by sessions', async () => {
    const world = createWorld()
    let active = 0
    let most = 0
    const holds: (() => void)[] = []
    const definition = defineWorkflow({
      ...common,
      name: 'busy',
      async run(ctx) {
        await ctx.step('busy', async () => {
          active += 1
          most = Math.max(most, active)
          await new Promise<void>((resolve) => holds.push(resolve))
          active -= 1
        })
        await ctx.interrupt('ask', { schema: noInput })
      },
    })
    const { session } = world.engine([definition], { limits: { maxWorkers: 2 } })
    const runs = []
    for (let index = 0; index < 5; index += 1) runs.push(await session.start(definition, {}))
    await until(world, () => holds.length === 2)
    await world.system.settle()
    expect(most).toBe(2)
    for (let index = 0; index < 5; index += 1) {
      await until(world, () => holds.length > index)
      holds[index]?.()
    }
    for (const run of runs) await untilStatus(world, run, 'interrupted')
    expect(most).toBe(2)
  })
})
