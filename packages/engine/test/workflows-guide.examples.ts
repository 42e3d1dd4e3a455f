// The code of docs/guides/workflows.md; `workflows-guide.test.ts` runs it.
import { hasErrorCode, unansweredInterrupts } from '@holdfast/core'
import type { Store } from '@holdfast/core'

/** Services of the guide's application, which a test stands in for. */
export interface GuideServices {
  readonly orders: { load(id: string): Promise<{ id: string; total: number }> }
  readonly payments: {
    refund(order: { id: string }, options: { readonly idempotencyKey: string }): Promise<string>
    find(idempotencyKey: string): Promise<string | undefined>
  }
  readonly mail: { send(text: string): Promise<void> }
}

// #region define
import Type from 'typebox'
import { createEngine } from '@holdfast/engine'
import { defineWorkflow } from '@holdfast/workflow'

const closed = { additionalProperties: false }

export const refundOrder = ({ orders, payments }: GuideServices) =>
  defineWorkflow({
    name: 'refund_order',
    version: 'v1',
    description: 'Refunds an order; above a limit a person decides.',
    input: Type.Object({ order_id: Type.String() }, closed),
    resume: Type.Object({ approved: Type.Boolean() }, closed),
    output: Type.Object({ refunded: Type.Boolean() }, closed),
    async run(context, { order_id }) {
      const order = await context.step('load order', () => orders.load(order_id))
      if (order.total > 100) {
        const decision = await context.interrupt('approve', {
          reason: `Refund ${order.total} EUR?`,
        })
        if (!decision.approved) return { refunded: false }
      }
      await context.step('refund', ({ idempotencyKey }) =>
        payments.refund(order, { idempotencyKey }),
      )
      return { refunded: true }
    },
  })
// #endregion define

/** Runs `refundOrder` as the guide does. */
export async function runRefund(store: Store, services: GuideServices, sessionId: string) {
  const definition = refundOrder(services)
  // #region host
  const engine = createEngine({ store, definitions: [definition] })
  const session = engine.session(sessionId)
  const run = await session.start(definition, { order_id: '1002' }, { idempotencyKey: '1002' })
  for await (const recorded of run.watch()) {
    // In an application a person sees `reason` and `payload`, and answers.
    for (const { id: interruptId } of unansweredInterrupts(recorded)) {
      await run.resume({ approved: true }, { interruptId })
    }
  }
  const { refunded } = await run.result()
  await engine.close()
  // #endregion host
  return refunded
}

export const payOnce = ({ payments }: GuideServices) =>
  defineWorkflow({
    name: 'pay_once',
    version: 'v1',
    description: 'Pays through a provider that knows no idempotency keys.',
    input: Type.Object({ order_id: Type.String() }, closed),
    run: (context, { order_id }) =>
      // #region once
      context.step(
        'refund',
        ({ idempotencyKey }) => payments.refund({ id: order_id }, { idempotencyKey }),
        {
          once: true,
          verify: async ({ idempotencyKey }) => {
            const receipt = await payments.find(idempotencyKey)
            return receipt === undefined ? { done: false } : { done: true, value: receipt }
          },
        },
      ),
    // #endregion once
  })

export const fetchBoth = (fetchText: (name: string, signal: AbortSignal) => Promise<string>) =>
  defineWorkflow({
    name: 'fetch_both',
    version: 'v1',
    description: 'Branches.',
    input: Type.Object({}, closed),
    async run(context) {
      // #region branches
      const { left, right } = await context.all({
        left: (branch) => branch.step('fetch', ({ signal }) => fetchText('left', signal)),
        right: (branch) => branch.step('fetch', ({ signal }) => fetchText('right', signal)),
      })
      const first = await context.race({
        answer: (branch) => branch.step('slow', ({ signal }) => fetchText('slow', signal)),
        timeout: async (branch) => {
          await branch.sleep('patience', 60_000)
          return 'too late'
        },
      })
      // #endregion branches
      return `${left} ${right} ${first}`
    },
  })

export const inboxReader = defineWorkflow({
  name: 'inbox_reader',
  version: 'v1',
  description: 'Adds up numbers that are sent to it.',
  input: Type.Object({ until: Type.Integer() }, closed),
  async run(context, { until }) {
    // #region loop
    const total = await context.loop('messages', { state: 0 }, async (turn, { state: sum }) => {
      const message = await turn.receive('next', { timeoutMs: 24 * 60 * 60 * 1_000 })
      if (message === undefined) return { done: true, result: sum }
      const next = sum + Number(message.body)
      return next >= until ? { done: true, result: next } : { state: next }
    })
    // #endregion loop
    return total
  },
})

export const withCleanup = ({ mail }: GuideServices, hold: () => Promise<void>) =>
  defineWorkflow({
    name: 'with_cleanup',
    version: 'v1',
    description: 'Gives back what it took, also when it is cancelled.',
    input: Type.Object({}, closed),
    async run(context) {
      // #region cleanup
      try {
        await context.step('reserve', hold)
        await context.sleep('keep', 60 * 60 * 1_000)
      } finally {
        await context.cleanup((scope) =>
          scope.step('give back', () => mail.send('The table is free again.')),
        )
      }
      // #endregion cleanup
    },
  })

/** The guide's step that tells which failures are worth another try. */
export const callPartner = (call: () => Promise<{ status: number; body: string }>) =>
  defineWorkflow({
    name: 'call_partner',
    version: 'v1',
    description: 'Calls a partner.',
    input: Type.Object({}, closed),
    async run(context) {
      // #region failure
      try {
        return await context.step(
          'call partner',
          async () => {
            const { status, body } = await call()
            if (status >= 500) throw new Error(`The partner answered ${status}.`)
            return body
          },
          { retries: 5, retryBaseMs: 500, timeoutMs: 10_000 },
        )
      } catch (error) {
        // A cancel comes as an error too; whatever is returned then, the run ends as cancelled.
        if (hasErrorCode(error, 'cancelled')) throw error
        return 'The partner is away.'
      }
      // #endregion failure
    },
  })
