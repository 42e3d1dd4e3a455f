import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '@holdfast/store-memory'
import { createWorld } from './harness.ts'
import { sessionId } from './harness.ts'
import {
  callPartner,
  fetchBoth,
  inboxReader,
  payOnce,
  runRefund,
  withCleanup,
} from './workflows-guide.examples.ts'
import type { GuideServices } from './workflows-guide.examples.ts'

interface Recorded {
  readonly services: GuideServices
  readonly refunds: string[]
  readonly mails: string[]
}

function record(total = 240): Recorded {
  const refunds: string[] = []
  const mails: string[] = []
  return {
    refunds,
    mails,
    services: {
      orders: { load: async (id) => ({ id, total }) },
      payments: {
        async refund({ id }, { idempotencyKey }) {
          refunds.push(idempotencyKey)
          return `receipt of ${id}`
        },
        find: async (key) => (refunds.includes(key) ? 'found receipt' : undefined),
      },
      mail: {
        async send(text) {
          mails.push(text)
        },
      },
    },
  }
}

describe('the guide for authors of workflows', () => {
  test('a refund above the limit waits for its answer and is paid once', async () => {
    const store = createMemoryStore()
    const { services, refunds } = record()
    expect(await runRefund(store, services, sessionId)).toBe(true)
    // The same key again: the same run, and nothing is paid.
    expect(await runRefund(store, services, sessionId)).toBe(true)
    expect(refunds).toHaveLength(1)
    await store.close()
  })

  test('a payment whose outcome a crash hid is looked up and not repeated', async () => {
    const world = createWorld()
    const { services, refunds } = record()
    let paid: () => void = () => undefined
    const reached = new Promise<void>((resolve) => {
      paid = resolve
    })
    const stuck = payOnce({
      ...services,
      payments: {
        ...services.payments,
        async refund(order, options) {
          await services.payments.refund(order, options)
          paid()
          return await new Promise<never>(() => undefined)
        },
      },
    })
    const first = world.engine([stuck])
    const { id } = await first.session.start(stuck, { order_id: '1002' })
    await reached
    first.kill()
    const second = world.engine([payOnce(services)])
    expect(await second.session.run(id).result()).toBe('found receipt')
    expect(refunds).toHaveLength(1)
    await second.engine.close()
  })

  test('branches run at once, and the winner of a race cancels the other', async () => {
    const world = createWorld()
    const definition = fetchBoth(async (name) => name.toUpperCase())
    const { engine, session } = world.engine([definition])
    const run = await session.start(definition, {})
    expect(await run.result()).toBe('LEFT RIGHT SLOW')
    await engine.close()
  })

  test('a loop takes message after message, over a crash', async () => {
    const world = createWorld()
    const first = world.engine([inboxReader])
    const run = await first.session.start(inboxReader, { until: 10 })
    await run.send({ id: 'a', body: 4 })
    await run.send({ id: 'b', body: 5 })
    first.kill()
    const second = world.engine([inboxReader])
    const again = second.session.run(run.id)
    await again.send({ id: 'b', body: 5 })
    await again.send({ id: 'c', body: 6 })
    expect(await again.result()).toBe(15)
    await second.engine.close()
  })

  test('what was reserved is given back after a cancel', async () => {
    const world = createWorld()
    const { services, mails } = record()
    let held: () => void = () => undefined
    const reached = new Promise<void>((resolve) => {
      held = resolve
    })
    const definition = withCleanup(services, async () => held())
    const { engine, session } = world.engine([definition])
    const run = await session.start(definition, {})
    await reached
    await run.cancel('No guests.')
    await expect(run.result()).rejects.toMatchObject({ code: 'run_cancelled' })
    expect(mails).toEqual(['The table is free again.'])
    await engine.close()
  })

  test('a partner that stays away is tried six times', async () => {
    const world = createWorld()
    let calls = 0
    const definition = callPartner(async () => {
      calls += 1
      return { status: 503, body: '' }
    })
    const { engine, session } = world.engine([definition])
    const run = await session.start(definition, {})
    const result = run.result()
    let ended = false
    void result.then(() => {
      ended = true
    })
    while (!ended) await world.system.advance(1_000)
    expect(await result).toBe('The partner is away.')
    expect(calls).toBe(6)
    await engine.close()
  })
})
