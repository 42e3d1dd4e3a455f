import Type from 'typebox'
import { defineWorkflow } from '@holdfast/workflow'
import { refundLimit } from '../orders.ts'
import type { OrderBook } from '../orders.ts'

/** Refunds an order; above the limit a person decides. */
export function refundOrder(orders: OrderBook) {
  return defineWorkflow({
    name: 'refund_order',
    version: 'v1',
    description: `Refunds an order. Above ${refundLimit} EUR a person is asked first.`,
    outputForModels: true,
    input: Type.Object(
      { order_id: Type.String({ pattern: '^[0-9]{4,9}$' }) },
      { additionalProperties: false },
    ),
    resume: Type.Object(
      { approved: Type.Boolean(), note: Type.Optional(Type.String({ maxLength: 500 })) },
      { additionalProperties: false },
    ),
    output: Type.Object(
      { order_id: Type.String(), refunded: Type.Boolean(), amount: Type.Integer() },
      { additionalProperties: false },
    ),
    summarize: ({ status }) => `refund ${status}`,
    async run(context, input) {
      const order = await context.step('load order', () => {
        const found = orders.find(input.order_id)
        return found === undefined ? { missing: true as const } : { ...found }
      })
      const nothing = { order_id: input.order_id, refunded: false, amount: 0 }
      if ('missing' in order || order.status !== 'open') return nothing
      if (order.total > refundLimit) {
        const decision = await context.interrupt('approve refund', {
          reason: `Refund ${order.total} EUR for order ${order.id} (${order.item})?`,
          payload: { order_id: order.id, item: order.item, amount: order.total },
        })
        if (!decision.approved) return nothing
      }
      await context.step('pay back', ({ idempotencyKey }) => {
        orders.refund(order, idempotencyKey)
      })
      return { order_id: order.id, refunded: true, amount: order.total }
    },
  })
}
