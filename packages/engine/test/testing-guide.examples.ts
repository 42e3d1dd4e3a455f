// The code of docs/guides/testing.md, which testing-guide.test.ts runs.
// #region definition
import { sessionIdFor } from '@holdfast/core'
import { createEngine } from '@holdfast/engine'
import { createMemoryDatabase } from '@holdfast/store-memory'
import {
  createManualSystem,
  createMortalSystem,
  createRecordingLog,
  forEachFault,
  forEachSeed,
} from '@holdfast/testing'
import type { FaultScenario } from '@holdfast/testing'
import { defineWorkflow } from '@holdfast/workflow'

/** Payments by their idempotency key, as a payment service keeps them. */
export const charges = new Map<string, number>()

/** Charges an order, waits a day, and reminds. */
export const order = defineWorkflow({
  name: 'order',
  version: 'v1',
  description: 'Charges an order, and sends a reminder a day later.',
  input: { type: 'object', additionalProperties: false, properties: { total: { type: 'number' } } },
  async run(context, { total = 0 }: { readonly total?: number }) {
    await context.step('charge', ({ idempotencyKey }) => {
      charges.set(idempotencyKey, total)
      return 'charged'
    })
    await context.sleep('a day', 24 * 60 * 60 * 1_000)
    return await context.step('remind', () => 'reminded')
  },
})
// #endregion definition

// #region clock
/** A day passes in no time: nothing in it waits for a real clock. */
export async function remindsAfterADay(): Promise<readonly string[]> {
  const system = createManualSystem()
  const log = createRecordingLog()
  const store = createMemoryDatabase({ system }).open()
  const engine = createEngine({ store, definitions: [order], system, log })
  const run = await engine.session(sessionIdFor('ann')).start(order, { total: 40 })
  await system.advance(23 * 60 * 60 * 1_000)
  const before = (await run.status()).record.status
  await system.advance(60 * 60 * 1_000)
  await run.result()
  const after = (await run.status()).record.status
  await engine.close()
  await store.close()
  const problems = log.records.filter(({ level }) => level === 'error')
  return [before, after, ...problems.map(({ event }) => event)]
}
// #endregion clock

// #region scenario
/** Starts an order, lets two days pass, and expects one charge and a run that has ended well. */
export const chargesOnce: FaultScenario = async (trial) => {
  charges.clear()
  const system = createManualSystem()
  const database = createMemoryDatabase({ system })
  const sessionId = sessionIdFor('ann')

  /** One process: its store may fail, and it may die. Answers whether its start was acknowledged. */
  async function live(node: string): Promise<boolean> {
    const own = createMortalSystem(system)
    const crash = (): void => {
      own.kill()
      database.kill(node)
    }
    const store = trial.wrap(database.open({ node }), { system, crash })
    const engine = createEngine({ store, definitions: [order], system: own })
    const start = engine
      .session(sessionId)
      .start(order, { total: 40 }, { idempotencyKey: 'order-7' })
      .then(
        () => true,
        () => false,
      )
    for (let hour = 0; hour < 48; hour += 1) await system.advance(60 * 60 * 1_000)
    // A process that died says nothing any more.
    return Promise.race([start, system.settle().then(() => false)])
  }

  // What was not acknowledged is asked for again, under the same key, as a client does.
  let isStarted = await live('first')
  for (let next = 2; next < 5 && !isStarted; next += 1) isStarted = await live(`node-${next}`)
  // Whatever is left is taken over by whoever comes.
  await live('last')

  const reader = database.open({ mode: 'client' })
  const runs = (await reader.runs(sessionId)).items.map(({ record }) => record.status)
  const told = JSON.stringify({ runs, charges: [...charges.values()] })
  if (told !== '{"runs":["completed"],"charges":[40]}') throw new Error(told)
}
// #endregion scenario

// #region crash
/** The process dies before and after each commit of the scenario; the next one goes on. */
export const crashes = () => forEachFault(['crash-before', 'crash-after'], chargesOnce)
// #endregion crash

// #region faults
/** The store fails, answers late, or tears its watches: at random, but the same way each time. */
export const faults = () =>
  forEachSeed(
    {
      seed: 1,
      seeds: 20,
      rate: 0.2,
      kinds: ['fail-before', 'fail-after', 'delay', 'tear-watches', 'hold-watches', 'fail-call'],
    },
    chargesOnce,
  )
// #endregion faults
