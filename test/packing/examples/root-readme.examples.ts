// #region program
import Type from 'typebox'
import { sessionIdFor, visibleStatus } from '@holdfast/core'
import { createEngine } from '@holdfast/engine'
import { openSqliteStore } from '@holdfast/store-sqlite'
import { defineWorkflow } from '@holdfast/workflow'

const closed = { additionalProperties: false }
const refund = defineWorkflow({
  name: 'refund',
  version: 'v1',
  description: 'Refunds an order once a person has agreed.',
  input: Type.Object({ order: Type.String() }, closed),
  resume: Type.Object({ approved: Type.Boolean() }, closed),
  async run(context, { order }) {
    const { total } = await context.step('load order', () => ({ total: 240 }))
    const { approved } = await context.interrupt('approve', {
      reason: `${total} EUR for ${order}?`,
    })
    if (!approved) return 'kept'
    return context.step('pay back', ({ idempotencyKey }) => `paid back as ${idempotencyKey}`)
  },
})

const store = await openSqliteStore({ path: 'refunds.db' })
const engine = createEngine({ store, definitions: [refund] })
const once = { idempotencyKey: 'order-1002' } // killed and started again, it is the same run
const run = await engine.session(sessionIdFor('ann')).start(refund, { order: '1002' }, once)
for await (const now of run.watch()) {
  if (visibleStatus(now) === 'interrupted') await run.resume({ approved: true }) // a person's word
}
console.log(await run.result())
await engine.close()
await store.close()
// #endregion program
