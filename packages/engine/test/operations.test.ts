import { describe, expect, test } from 'vitest'
import { defineWorkflow } from '@holdfast/workflow'
import { chunksOf, createWorld, gate, noInput, sessionId, until, untilStatus } from './harness.ts'

const common = { version: 'v1', description: '', input: noInput } as const

describe('an interrupt', () => {
  test('stops the run until it is answered, and gives the answer', async () => {
    const world = createWorld()
    const definition = defineWorkflow({
      ...common,
      name: 'approval',
      resume: {
        type: 'object',
        additionalProperties: false,
        required: ['approved'],
        properties: { approved: { type: 'boolean' } },
      },
      async run(ctx) {
        const before = await ctx.step('before', () => 'before')
        const answer = await ctx.interrupt('approve', { reason: 'Really?', payload: { sum: 3 } })
        const after = await ctx.step('after', () => 'after')
        return { before, answer, after }
      },
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await untilStatus(world, run, 'interrupted')
    const { record } = await run.status()
    expect(record.interrupts).toMatchObject([
      { key: 'approve', answer: 'person', reason: 'Really?', payload: { sum: 3 } },
    ])
    expect(record.parked).toBe(true)
    await expect(run.resume({ approved: 'yes' })).rejects.toMatchObject({ code: 'input_invalid' })
    const acknowledged = await run.resume({ approved: true })
    expect(acknowledged.streamId).toBe(run.id)
    expect(await run.result()).toEqual({
      before: 'before',
      answer: { approved: true },
      after: 'after',
    })
    const { activities } = await run.history()
    expect(activities.map(({ kind }) => kind)).toEqual([
      'run_started',
      'step_completed',
      'run_interrupted',
      'run_resumed',
      'step_completed',
      'run_completed',
    ])
  })

  test('A18: two at once have ids of their own and are answered in any order', async () => {
    const world = createWorld()
    const definition = defineWorkflow({
      ...common,
      name: 'two_questions',
      async run(ctx) {
        const anything = {
          schema: {
            type: 'object',
            additionalProperties: false,
            properties: { value: { type: 'string' } },
          },
        }
        return ctx.all({
          left: (branch) => branch.interrupt('ask', anything),
          right: (branch) => branch.interrupt('ask', anything),
        })
      },
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await untilStatus(world, run, 'interrupted')
    const { interrupts } = (await run.status()).record
    const [left, right] = interrupts
    expect(left?.id).not.toBe(right?.id)
    await expect(run.resume({ value: 'x' })).rejects.toMatchObject({ code: 'ambiguous_interrupt' })
    await run.resume({ value: 'right' }, { interruptId: right?.id ?? '' })
    await untilStatus(world, run, 'interrupted')
    await until(world, async () => (await run.status()).record.interrupts.length === 1)
    await run.resume({ value: 'left' })
    expect(await run.result()).toEqual({ left: { value: 'left' }, right: { value: 'right' } })
  })
})

describe('a sleep', () => {
  test('lasts as long as it says, gives its slot back and survives the process', async () => {
    const world = createWorld()
    const definition = defineWorkflow({
      ...common,
      name: 'sleeper',
      async run(ctx) {
        const began = ctx.now()
        await ctx.sleep('a while', 10_000)
        await ctx.step('late', () => 'late')
        return ctx.now() - began
      },
    })
    const first = world.engine([definition])
    const run = await first.session.start(definition, {})
    await until(world, async () => (await run.status()).record.parked)
    const { record } = await run.status()
    expect(record).toMatchObject({ status: 'running', waitingFor: 'sleep' })
    await world.system.advance(4_000)
    first.kill()
    const second = world.engine([definition])
    const again = second.session.run(run.id)
    await world.system.advance(5_000)
    expect((await again.status()).record.status).toBe('running')
    await world.system.advance(1_100)
    expect(await again.result()).toBeGreaterThanOrEqual(10_000)
    expect((await again.status()).record.recoveries).toBe(0)
  })
})

describe('messages', () => {
  test('reach a receive in order, and those not taken are named at the end', async () => {
    const world = createWorld()
    const release = gate()
    const definition = defineWorkflow({
      ...common,
      name: 'listener',
      async run(ctx) {
        const first = await ctx.receive('first')
        await ctx.step('hold', () => release.promise)
        const more = ctx.messages()
        const none = await ctx.receive('none', { timeoutMs: 1_000 })
        return { first: first.body, more: more.map(({ body }) => body), none: none === undefined }
      },
    })
    const { session, store } = world.engine([definition])
    const run = await session.start(definition, {})
    await until(world, async () => (await run.status()).record.waitingFor === 'message')
    await run.send({ id: 'm1', body: 1 })
    await run.send({ id: 'm1', body: 1 })
    await run.send({ id: 'm2', body: 2 })
    await run.send({ id: 'm3', body: 3 })
    await until(world, async () => (await run.status()).record.waitingFor === undefined)
    await world.system.settle()
    release.open()
    await until(world, async () => (await run.status()).record.waitingFor === 'message')
    await world.system.advance(1_000)
    expect(await run.result()).toEqual({ first: 1, more: [2, 3], none: true })
    const { journalNext } = await run.status()
    const [last] = await store.journal(sessionId, run.id, { from: journalNext - 1, limit: 1 })
    expect(last?.data).toContain('"undelivered":[]')
    await expect(run.send({ id: 'm4', body: 4 })).rejects.toMatchObject({ code: 'run_ended' })
  })
})

describe('a child', () => {
  const child = defineWorkflow({
    name: 'the_child',
    version: 'v1',
    description: '',
    input: {
      type: 'object',
      additionalProperties: false,
      properties: { fails: { type: 'boolean' }, waits: { type: 'boolean' } },
    },
    async run(ctx, input) {
      const { fails = false, waits = false } = input
      if (waits) await ctx.sleep('long', 1_000_000)
      if (fails) throw new Error('secret')
      return ctx.step('work', () => 'done by the child')
    },
  })

  test('gives its output to its parent', async () => {
    const world = createWorld()
    const parent = defineWorkflow({
      ...common,
      name: 'the_parent',
      async run(ctx) {
        return { child: (await ctx.child('the child', child, {})) ?? null }
      },
    })
    const { session } = world.engine([parent, child])
    const run = await session.start(parent, {})
    expect(await run.result()).toEqual({ child: 'done by the child' })
    const kinds = (await run.history()).activities.map(({ kind }) => kind)
    expect(kinds).toEqual(['run_started', 'child_started', 'child_ended', 'run_completed'])
    const runs = await session.runs({ parentRunId: run.id })
    expect(runs.items).toHaveLength(1)
  })

  test('that fails can be caught, and shows nothing of its error', async () => {
    const world = createWorld()
    const parent = defineWorkflow({
      ...common,
      name: 'the_parent',
      async run(ctx) {
        try {
          await ctx.child('the child', child, { fails: true })
          return 'unexpected'
        } catch (error) {
          return (error as Error).message + JSON.stringify((error as { details?: object }).details)
        }
      },
    })
    const { session } = world.engine([parent, child])
    const run = await session.start(parent, {})
    const text = await run.result()
    expect(text).toContain('run_failed')
    expect(text).not.toContain('secret')
  })

  test('is cancelled with its parent', async () => {
    const world = createWorld()
    const parent = defineWorkflow({
      ...common,
      name: 'the_parent',
      async run(ctx) {
        await ctx.child('the child', child, { waits: true })
      },
    })
    const { session } = world.engine([parent, child])
    const run = await session.start(parent, {})
    await until(world, async () => (await run.status()).record.waitingFor === 'child')
    await until(world, async () => {
      const [found] = (await session.runs({ parentRunId: run.id })).items
      return found?.record.waitingFor === 'sleep'
    })
    await run.cancel('enough')
    await expect(run.result()).rejects.toMatchObject({ code: 'run_cancelled' })
    await until(world, async () => {
      const [found] = (await session.runs({ parentRunId: run.id })).items
      return found?.record.status === 'cancelled'
    })
  })
})

describe('a cancel', () => {
  test('aborts a body, lets cleanup run, and keeps what the definition returns', async () => {
    const world = createWorld()
    const cleaned: string[] = []
    const definition = defineWorkflow({
      ...common,
      name: 'cancellable',
      async run(ctx) {
        try {
          await ctx.step(
            'long',
            ({ signal }) =>
              new Promise<void>((_resolve, reject) => {
                signal.addEventListener('abort', () => reject(new Error('stopped')))
              }),
          )
        } catch (error) {
          await expect(ctx.step('later', () => 'no')).rejects.toMatchObject({ code: 'cancelled' })
          await ctx.cleanup((inner) => inner.step('tidy', () => void cleaned.push('tidied')))
          return { partial: (error as { code?: string }).code ?? 'none' }
        }
        return { partial: 'unexpected' }
      },
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await world.system.settle()
    const { alreadyCancelled } = await run.cancel('no longer needed')
    expect(alreadyCancelled).toBe(false)
    await expect(run.result()).rejects.toMatchObject({ code: 'run_cancelled' })
    expect(cleaned).toEqual(['tidied'])
    expect(await session.supervisor.output(run.id)).toEqual({ partial: 'cancelled' })
    expect(await run.cancel()).toMatchObject({ alreadyCancelled: true })
    const kinds = (await run.history()).activities.map(({ kind }) => kind)
    expect(kinds).toEqual([
      'run_started',
      'run_cancel_requested',
      'step_completed',
      'run_cancelled',
    ])
  })

  test('of a body that ignores its signal ends after the grace', async () => {
    const world = createWorld()
    const definition = defineWorkflow({
      ...common,
      name: 'stubborn',
      async run(ctx) {
        await ctx.step('for ever', () => new Promise<void>(() => undefined))
      },
    })
    const { session, store } = world.engine([definition])
    const run = await session.start(definition, {})
    await world.system.settle()
    await run.cancel()
    await world.system.settle()
    expect((await run.status()).record.status).toBe('running')
    await world.system.advance(5_000)
    await expect(run.result()).rejects.toMatchObject({ code: 'run_cancelled' })
    const rows = await store.journal(sessionId, run.id, { from: 0, limit: 100 })
    expect(rows.map(({ data }) => data).join()).toContain('"abandoned":["for ever"]')
  })

  test('of an interrupted run wakes it, and of a pending one ends it at once', async () => {
    const world = createWorld()
    const ran: string[] = []
    const definition = defineWorkflow({
      ...common,
      name: 'waits_or_not',
      async run(ctx) {
        ran.push(ctx.run.id)
        await ctx.interrupt('ask', { schema: noInput })
      },
    })
    const blocker = defineWorkflow({
      ...common,
      name: 'blocker',
      async run(ctx) {
        await ctx.step('for ever', () => new Promise<void>(() => undefined))
      },
    })
    const { session } = world.engine([definition, blocker], { limits: { maxWorkers: 1 } })
    const asked = await session.start(definition, {})
    await untilStatus(world, asked, 'interrupted')
    await asked.cancel()
    await untilStatus(world, asked, 'cancelled')
    await session.start(blocker, {})
    const pending = await session.start(definition, {})
    await world.system.settle()
    expect((await pending.status()).record.status).toBe('pending')
    await pending.cancel()
    await untilStatus(world, pending, 'cancelled')
    expect(ran).not.toContain(pending.id)
    const kinds = (await pending.history()).activities.map(({ kind }) => kind)
    expect(kinds).toEqual(['run_started', 'run_cancel_requested', 'run_cancelled'])
  })
})

describe('output', () => {
  test('is stored in order, framed, closed by the interrupt and by the end', async () => {
    const world = createWorld()
    const definition = defineWorkflow({
      ...common,
      name: 'talker',
      stream: {
        opening: ({ number }) => [{ type: 'start', number }],
        closing: ({ end }) => [{ type: 'finish', end }],
      },
      async run(ctx) {
        await ctx.step('talk', async ({ output }) => {
          for (let index = 0; index < 300; index += 1) await output.write({ type: 'delta', index })
        })
        await ctx.output('said', [{ type: 'said' }])
        await ctx.interrupt('ask', {
          schema: noInput,
          output: (interruptId) => [{ type: 'asked', known: interruptId.length > 0 }],
        })
        return 'done'
      },
    })
    const { session, store } = world.engine([definition])
    const run = await session.start(definition, {})
    await untilStatus(world, run, 'interrupted')
    const first = await chunksOf(store, run.id)
    expect(first).toEqual([
      { type: 'start', number: 1 },
      ...Array.from({ length: 300 }, (_, index) => ({ type: 'delta', index })),
      { type: 'said' },
      { type: 'asked', known: true },
      { type: 'finish', end: 'interrupted' },
    ])
    expect((await run.status()).record.stream).toBe(1)
    expect((await run.resume({})).streamId).toBe(`${run.id}.2`)
    expect(await run.result()).toBe('done')
    expect(await chunksOf(store, `${run.id}.2`)).toEqual([
      { type: 'start', number: 2 },
      { type: 'finish', end: 'completed' },
    ])
    expect(await store.streamHead(sessionId, `${run.id}.2`)).toMatchObject({ end: 'completed' })
  })
})

describe('a step', () => {
  test('is tried again after a journaled wait, also by another process, and then gives up', async () => {
    const world = createWorld()
    let attempts = 0
    const definition = defineWorkflow({
      ...common,
      name: 'flaky',
      async run(ctx) {
        return ctx.step('flaky', () => {
          attempts += 1
          throw new Error(`attempt ${attempts}`)
        })
      },
    })
    const first = world.engine([definition])
    const run = await first.session.start(definition, {})
    await until(world, async () => (await run.status()).record.waitingFor === 'retry')
    expect(attempts).toBe(1)
    first.kill()
    const second = world.engine([definition])
    const again = second.session.run(run.id)
    await world.system.advance(1_100)
    await until(world, () => attempts === 2)
    await until(world, async () => (await again.status()).record.status === 'failed', 500)
    expect(attempts).toBe(3)
    expect((await again.status()).record.error).toEqual({
      code: 'step_failed',
      message: 'A step of the workflow failed.',
      retryable: true,
    })
    const kinds = (await again.history()).activities.map(({ kind }) => kind)
    expect(kinds).toEqual([
      'run_started',
      'step_failed',
      'step_failed',
      'step_failed',
      'run_failed',
    ])
  })

  test('with a time limit is aborted and fails as step_timeout', async () => {
    const world = createWorld()
    let aborted = false
    const definition = defineWorkflow({
      ...common,
      name: 'slow',
      async run(ctx) {
        try {
          await ctx.step(
            'slow',
            ({ signal }) =>
              new Promise<void>(() => {
                signal.addEventListener('abort', () => {
                  aborted = true
                })
              }),
            { timeoutMs: 100, retries: 0 },
          )
        } catch (error) {
          return (error as { code: string }).code
        }
        return 'unexpected'
      },
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await world.system.settle()
    await world.system.advance(100)
    expect(await run.result()).toBe('step_timeout')
    expect(aborted).toBe(true)
  })

  test('gives what JSON gives, and what JSON cannot hold is a typed error', async () => {
    const world = createWorld()
    const definition = defineWorkflow({
      ...common,
      name: 'values',
      async run(ctx) {
        const original = { list: [1, -0], text: 'é' }
        const given = await ctx.step('object', () => original)
        const nothing = await ctx.step('nothing', () => undefined)
        const large = await ctx.step('large', () => 'x'.repeat(100_000))
        const date = await ctx
          .step('date', () => new Date() as never)
          .catch((error: { code: string }) => error.code)
        return {
          given,
          same: given === original,
          nothing: nothing === undefined,
          large: large.length,
          date,
        }
      },
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    expect(await run.result()).toEqual({
      given: { list: [1, 0], text: 'é' },
      same: false,
      nothing: true,
      large: 100_000,
      date: 'json_unsupported_value',
    })
  })
})

describe('branches', () => {
  test('race settles as the first and takes the others back', async () => {
    const world = createWorld()
    let aborted = false
    const definition = defineWorkflow({
      ...common,
      name: 'racer',
      async run(ctx) {
        const winner = await ctx.race({
          quick: async (branch) => branch.step('quick', () => 'quick'),
          slow: async (branch) =>
            branch.step('slow', ({ signal }) => {
              signal.addEventListener('abort', () => {
                aborted = true
              })
              return new Promise<string>(() => undefined)
            }),
          asks: async (branch) => branch.interrupt<string>('ask', { schema: noInput }),
        })
        await ctx.interrupt('then', { schema: noInput })
        return winner
      },
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    await untilStatus(world, run, 'interrupted')
    expect((await run.status()).record.interrupts.map(({ key }) => key)).toEqual(['then'])
    await run.resume({})
    expect(await run.result()).toBe('quick')
    expect(aborted).toBe(true)
  })

  test('an outer context in an inner scope, and one in a body, is scope_misuse', async () => {
    const world = createWorld()
    const definition = defineWorkflow({
      ...common,
      name: 'misuser',
      async run(ctx) {
        const codes: string[] = []
        const note = (error: { code: string }): void => void codes.push(error.code)
        await ctx.all({ one: () => ctx.step('outer', () => 1).catch(note) })
        await ctx.step('nested', async () => {
          await ctx.step('inner', () => 1).catch(note)
        })
        await ctx.all({ one: (branch) => branch.step('fine', () => 1) })
        return codes
      },
    })
    const { session } = world.engine([definition])
    const run = await session.start(definition, {})
    expect(await run.result()).toEqual(['scope_misuse', 'scope_misuse'])
  })
})
