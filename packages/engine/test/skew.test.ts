// Two versions of a definition's code, live at once or one after the other.
import { describe, expect, test } from 'vitest'
import type { AnyWorkflowDefinition, JsonValue, SkewPolicy, WorkflowContext } from '@holdfast/core'
import { decodeEntries, defineWorkflow, stepIdOf } from '@holdfast/workflow'
import { isNamed, normalName, renamed } from '../src/operation-names.ts'
import { anyJson, createWorld, gate, noInput, sessionId, until, untilStatus } from './harness.ts'
import type { Node, World } from './harness.ts'

const common = { version: 'v1', description: '', input: noInput } as const

/** A definition of one name whose `revision` makes its digest another. */
function code(
  revision: string,
  run: (ctx: WorkflowContext) => Promise<JsonValue>,
  skew?: SkewPolicy,
): AnyWorkflowDefinition {
  return defineWorkflow({
    ...common,
    name: 'shipping',
    revision,
    run,
    ...(skew === undefined ? {} : { skew }),
  })
}

const migrate = (
  map: ReturnType<Extract<SkewPolicy, { readonly kind: 'migrate' }>['migrate']>,
): SkewPolicy => ({ kind: 'migrate', migrate: () => map })

const ask = { schema: anyJson } as const

/** Runs the old code until it asks, and kills its process. */
async function interrupted(
  world: World,
  old: AnyWorkflowDefinition,
): Promise<{ readonly id: string; readonly node: Node }> {
  const node = world.engine([old])
  const run = await node.session.start(old, {})
  await untilStatus(world, run, 'interrupted')
  node.kill()
  return { id: run.id, node }
}

async function entriesOf(node: Node, runId: string) {
  const rows = await node.store.journal(sessionId, runId, { from: 0, limit: 1_000 })
  return rows.flatMap((row) => decodeEntries(row).entries)
}

describe('migrate', () => {
  test('goes on under renamed keys: no body twice, the same idempotency keys, the open question kept', async () => {
    const world = createWorld()
    const bodies: string[] = []
    const keys: string[] = []
    const old = code('one', async (ctx) => {
      const a = await ctx.step('load', () => {
        bodies.push('load')
        return 1
      })
      const answer = await ctx.interrupt('ask', ask)
      return [a, answer, await ctx.step('pay', () => 'never')]
    })
    const fresh = code(
      'two',
      async (ctx) => {
        const a = await ctx.step('fetch', () => {
          bodies.push('fetch')
          return 2
        })
        const answer = await ctx.interrupt('approve', ask)
        const paid = await ctx.step('charge', ({ idempotencyKey }) => {
          keys.push(idempotencyKey)
          return 'paid'
        })
        return [a, answer, paid]
      },
      migrate({ renamed: { load: 'fetch', ask: 'approve', pay: 'charge' } }),
    )
    const { id } = await interrupted(world, old)
    const second = world.engine([fresh])
    const run = second.session.run(id)
    const question = (await run.status()).record.interrupts[0]
    await run.resume({ value: 'yes' })
    expect(await run.result()).toEqual([1, { value: 'yes' }, 'paid'])
    expect(bodies).toEqual(['load'])
    expect(keys).toEqual([stepIdOf(id, 'pay')])
    const entries = await entriesOf(second, id)
    const answered = entries.find(({ kind }) => kind === 'interrupt-answered')
    expect(answered).toMatchObject({ path: 'approve', interruptId: question?.id })
    expect(entries.filter(({ kind }) => kind === 'run-migrated')).toHaveLength(1)
    expect(entries.findIndex(({ kind }) => kind === 'run-migrated')).toBeLessThan(
      entries.findIndex(({ kind }) => kind === 'interrupt-answered'),
    )
  })

  test('is made once: names may change places, and a third code goes on from the second', async () => {
    const world = createWorld()
    const bodies: string[] = []
    const noted = (name: string) => () => {
      bodies.push(name)
      return name
    }
    const old = code('one', async (ctx) => {
      const a = await ctx.step('a', noted('old a'))
      const b = await ctx.step('b', noted('old b'))
      await ctx.interrupt('ask', ask)
      return [a, b]
    })
    const swapped = code(
      'two',
      async (ctx) => {
        const b = await ctx.step('b', noted('new b'))
        const a = await ctx.step('a', noted('new a'))
        // The open question is asked for before anything new: else the code would not fit.
        const asked = ctx.interrupt('ask', ask)
        const c = await ctx.step('c', noted('new c'))
        await asked
        return [b, a, c]
      },
      migrate({ renamed: { a: 'b', b: 'a' } }),
    )
    const third = code(
      'three',
      async (ctx) => {
        const b = await ctx.step('b', noted('third b'))
        const a = await ctx.step('a', noted('third a'))
        const asked = ctx.interrupt('ask', ask)
        const d = await ctx.step('d', noted('third d'))
        const answer = await asked
        const c = await ctx.step('c', noted('third c'))
        return [b, a, d, answer, c]
      },
      migrate({ renamed: { c: 'd' } }),
    )
    const { id } = await interrupted(world, old)
    const second = world.engine([swapped])
    await second.session.run(id).send({ id: 'm', body: 1 })
    await until(world, async () => bodies.includes('new c'))
    await untilStatus(world, second.session.run(id), 'interrupted')
    second.kill()
    const last = world.engine([third])
    await last.session.run(id).resume({ value: 1 })
    expect(await last.session.run(id).result()).toEqual([
      'old a',
      'old b',
      'new c',
      { value: 1 },
      'third c',
    ])
    expect(bodies).toEqual(['old a', 'old b', 'new c', 'third c'])
    expect((await last.session.run(id).status()).record.migratedTo).toBeDefined()
  })

  test('retired keys count as delivered: their questions are withdrawn, their children cancelled', async () => {
    const world = createWorld()
    const child = defineWorkflow({
      ...common,
      name: 'child_asks',
      run: (ctx) => ctx.interrupt('child asks', ask),
    })
    const old = code('one', async (ctx) => {
      await ctx.step('load', () => 1)
      await ctx.all({
        asks: (branch) => branch.interrupt('ask', ask),
        child: (branch) => branch.child('child', child, {}),
      })
      return 'old'
    })
    const fresh = code(
      'two',
      async (ctx) => ctx.step('only', () => 'new'),
      migrate({ retired: ['load', 'asks', 'child'] }),
    )
    const first = world.engine([old, child])
    const run = await first.session.start(old, {})
    await until(world, async () => (await run.status()).record.interrupts.length === 1, 60)
    const childRun = (await first.session.runs()).items.find(
      ({ record }) => record.childOf === run.id,
    )
    first.kill()
    const second = world.engine([fresh, child])
    const again = second.session.run(run.id)
    await again.send({ id: 'wake', body: 1 })
    expect(await again.result()).toBe('new')
    await untilStatus(world, second.session.run(childRun?.record.id ?? ''), 'cancelled', 60)
    const kinds = (await entriesOf(second, run.id)).map(({ kind }) => kind)
    expect(kinds.indexOf('interrupt-withdrawn')).toBe(kinds.indexOf('run-migrated') - 1)
  })

  test('renames what lies in loops and branches, over all iterations', async () => {
    const world = createWorld()
    const bodies: string[] = []
    const body = (loop: string, step: string, last: string) => async (ctx: WorkflowContext) =>
      ctx.loop(loop, { state: 0 }, async (inner, { state, iteration }) => {
        await inner.step(step, () => {
          bodies.push(`${step} ${iteration}`)
          return null
        })
        if (iteration === 2) await inner.interrupt(last, ask)
        return iteration === 4 ? { done: true, result: state } : { state: state + 1 }
      })
    const old = code('one', body('refunds', 'pay', 'ask'))
    const fresh = code(
      'two',
      body('repayments', 'charge', 'ask'),
      migrate({ renamed: { refunds: 'repayments', 'refunds/pay': 'repayments/charge' } }),
    )
    const { id } = await interrupted(world, old)
    const second = world.engine([fresh])
    await second.session.run(id).resume({ value: 1 })
    expect(await second.session.run(id).result()).toBe(4)
    expect(bodies).toEqual(['pay 0', 'pay 1', 'pay 2', 'charge 3', 'charge 4'])
  })

  test('that throws, gives nonsense or does not fit leaves the run waiting, before any body, and a cancel ends it', async () => {
    const bodies: string[] = []
    const policies: readonly SkewPolicy[] = [
      {
        kind: 'migrate',
        migrate() {
          throw new Error('no')
        },
      },
      migrate({ renamed: { load: 'a/b' } }),
      migrate({ renamed: { load: 'fetch', other: 'fetch' } }),
      migrate({ renamed: { load: 'fetch' }, retired: ['load'] }),
      migrate({ renamed: { load: '' } }),
      migrate({}),
      migrate({ retired: ['ask'] }),
      // Two operations would be "ask".
      migrate({ renamed: { load: 'ask' } }),
    ]
    for (const policy of policies) {
      const world = createWorld()
      const old = code('one', async (ctx) => {
        await ctx.step('load', () => 1)
        return ctx.interrupt('ask', ask)
      })
      const fresh = code(
        'two',
        async (ctx) =>
          ctx.step('fetch', () => {
            bodies.push('fetch')
            return 1
          }),
        policy,
      )
      const { id, node } = await interrupted(world, old)
      const second = world.engine([fresh])
      const run = second.session.run(id)
      await run.send({ id: 'm', body: 1 })
      await until(world, async () => (await run.status()).record.waitingFor === 'code', 200)
      const kinds = (await entriesOf(node.store === second.store ? node : second, id)).map(
        ({ kind }) => kind,
      )
      expect(kinds).not.toContain('run-migrated')
      expect(bodies).toEqual([])
      await run.cancel()
      await untilStatus(world, run, 'cancelled', 10)
      second.kill()
    }
  })
})

describe('reject', () => {
  test('a run of older code waits until it is cancelled, also with a process that has its code', async () => {
    const world = createWorld()
    const old = code('one', (ctx) => ctx.interrupt('ask', ask))
    const fresh = code('two', (ctx) => ctx.interrupt('ask', ask), { kind: 'reject' })
    const { id } = await interrupted(world, old)
    const second = world.engine([fresh])
    const other = world.engine([old])
    const run = second.session.run(id)
    await run.send({ id: 'm', body: 1 })
    await until(world, async () => (await run.status()).record.waitingFor === 'code', 10)
    await world.system.advance(50_000)
    expect((await other.store.run(sessionId, id))?.record.waitingFor).toBe('code')
    expect((await run.status()).record).toMatchObject({ status: 'running', waitingFor: 'code' })
    await run.cancel('enough')
    await untilStatus(world, run, 'cancelled', 10)
  })
})

describe('pin', () => {
  const old = code('one', async (ctx) => {
    const answer = await ctx.interrupt('ask', ask)
    return ctx.step('old code', () => ({ old: answer }))
  })
  const fresh = code('two', async (ctx) => ctx.step('new code', () => 'new'))

  test('the session goes to a live process with the code of all of its open runs, at once', async () => {
    const world = createWorld()
    const { id } = await interrupted(world, old)
    const newer = world.engine([fresh], { node: 'newer' })
    await newer.session.run(id).send({ id: 'm', body: 1 })
    await until(
      world,
      async () => (await newer.session.run(id).status()).record.waitingFor === 'code',
    )
    const started = world.system.now()
    const older = world.engine([old], { node: 'older' })
    await untilStatus(world, older.session.run(id), 'interrupted', 100)
    expect(world.system.now() - started).toBeLessThan(10_000)
    await newer.session.run(id).resume({ value: 1 })
    expect(await older.session.run(id).result()).toEqual({ old: { value: 1 } })
    // New work of the session: its old owner may have it again, once the other has let go.
    const next = await newer.session.start(fresh, {})
    await untilStatus(world, next, 'completed', 1_000)
  })

  test('not to one that has the code of only some of them, nor to one that has died or was drained', async () => {
    const world = createWorld()
    const other = defineWorkflow({
      ...common,
      name: 'other',
      run: (ctx) => ctx.interrupt('ask', ask),
    })
    const first = world.engine([old, other])
    const run = await first.session.start(old, {})
    const second = await first.session.start(other, {})
    for (const started of [run, second]) await untilStatus(world, started, 'interrupted')
    first.kill()
    const newer = world.engine([fresh, other], { node: 'newer' })
    const some = world.engine([old], { node: 'some' })
    const all = world.engine([old, other], { node: 'all' })
    const drained = world.engine([old, other], { node: 'drained' })
    await world.system.settle(20)
    all.kill()
    await drained.engine.drain()
    await newer.session.run(run.id).send({ id: 'm', body: 1 })
    await until(
      world,
      async () => (await newer.session.run(run.id).status()).record.waitingFor === 'code',
      10,
    )
    await world.system.advance(30_000)
    await expect(some.store.claimSession(sessionId)).rejects.toMatchObject({ code: 'store_owned' })
    // The other run goes on, and with it gone the rest can go.
    await newer.session.run(second.id).resume({ value: 2 })
    expect(await newer.session.run(second.id).result()).toEqual({ value: 2 })
    await untilStatus(world, some.session.run(run.id), 'interrupted', 1_000)
    expect((await some.session.run(run.id).status()).record.status).toBe('interrupted')
  })

  test('a run that waited when its process died is taken up by the next one with its code, by itself', async () => {
    const world = createWorld()
    const hold = gate()
    const works = code('one', async (ctx) =>
      ctx.step('work', () => hold.promise.then(() => 'done')),
    )
    const first = world.engine([works])
    const run = await first.session.start(works, {})
    await world.system.settle()
    first.kill()
    const newer = world.engine([fresh])
    await until(
      world,
      async () =>
        (await run.status().catch(() => newer.session.run(run.id).status())).record.waitingFor ===
        'code',
    )
    newer.kill()
    hold.open()
    const older = world.engine([works])
    expect(await older.session.run(run.id).result()).toBe('done')
  })
})

describe('names', () => {
  test('stand for occurrences, iterations and what lies in them', () => {
    expect(isNamed('charge#2', 'charge')).toBe(true)
    expect(isNamed('loop#2:13/charge', 'loop/charge')).toBe(true)
    expect(isNamed('loop:13/charge#2/x', 'loop')).toBe(true)
    expect(isNamed('loops:1/charge', 'loop')).toBe(false)
    expect(isNamed('loop', 'loop/charge')).toBe(false)
    expect(isNamed('cleanup::#2/undo', 'cleanup::/undo')).toBe(true)
    expect(renamed('loop#2:13/charge#3/x', 'other/pay')).toBe('other#2:13/pay#3/x')
    expect(normalName('a:b#c/cleanup::/d')).toBe('a%3Ab%23c/cleanup::/d')
  })
})
