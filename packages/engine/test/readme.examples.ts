// #region run
import { sessionIdFor } from '@holdfast/core'
import { createEngine } from '@holdfast/engine'
import { createMemoryStore } from '@holdfast/store-memory'
import { defineWorkflow } from '@holdfast/workflow'

const greet = defineWorkflow({
  name: 'greet',
  version: 'v1',
  description: 'Says hello, once, whatever happens meanwhile.',
  input: { type: 'object', additionalProperties: false },
  run: (context) => context.step('say hello', () => 'hello'),
})

const store = createMemoryStore()
const engine = createEngine({ store, definitions: [greet] })
const run = await engine.session(sessionIdFor('ann')).start(greet, {})
export const greeting = await run.result()
await engine.close()
await store.close()
// #endregion run
