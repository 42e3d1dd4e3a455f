import { jsonSchema, tool } from 'ai'
import type { ToolSet } from 'ai'
import type { DurableToolOptions } from '@holdfast/agent'
import type { OrderBook } from './orders.ts'

interface OrderArguments {
  readonly order_id: string
}

const orderArguments = jsonSchema<OrderArguments>({
  type: 'object',
  properties: { order_id: { type: 'string', pattern: '^[0-9]{4,9}$' } },
  required: ['order_id'],
  additionalProperties: false,
})

/** The desk's own tools: one that looks, and one with an effect, which a person has to approve. */
export function orderTools(orders: OrderBook): ToolSet {
  return {
    lookup_order: tool({
      description: 'Looks up one order by its number.',
      inputSchema: orderArguments,
      execute: ({ order_id }) => {
        const order = orders.find(order_id)
        return order === undefined ? { found: false } : { found: true, ...order }
      },
    }),
    cancel_order: tool({
      description: 'Cancels one open order. A person approves first.',
      inputSchema: orderArguments,
      needsApproval: true,
      execute: ({ order_id }, options) => {
        const { idempotencyKey } = options as unknown as DurableToolOptions
        const order = orders.find(order_id)
        if (order === undefined) return { outcome: 'there is no such order' }
        if (order.status !== 'open' && !orders.has(idempotencyKey)) {
          return { outcome: `it is ${order.status} already` }
        }
        orders.cancel(order, idempotencyKey)
        return { outcome: 'cancelled' }
      },
    }),
  }
}
