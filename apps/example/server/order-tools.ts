import { jsonSchema, tool } from 'ai'
import type { ToolSet } from 'ai'
import Type from 'typebox'
import type { TSchema } from 'typebox'
import type { DurableToolOptions } from '@holdfast/agent'
import { compileSchema } from '@holdfast/json'
import type { ValueOf } from '@holdfast/json'
import type { OrderBook } from './orders.ts'

const orderArguments = checkedSchema(
  Type.Object(
    { order_id: Type.String({ pattern: '^[0-9]{4,9}$' }) },
    { additionalProperties: false },
  ),
)

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

/** AI SDK checks a call only when it is told how to: nobody is asked to approve what cannot be done. */
function checkedSchema<const Schema extends TSchema>(schema: Schema) {
  const { validate } = compileSchema(schema)
  return jsonSchema<ValueOf<Schema>>(schema, {
    validate(value) {
      const checked = validate(value)
      if (checked.ok) return { success: true, value: checked.value }
      const issues = checked.issues.map(({ path, message }) => `${path} ${message}`.trim())
      return { success: false, error: new TypeError(issues.join('; ')) }
    },
  })
}
