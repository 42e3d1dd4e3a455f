// #region define
import Type from 'typebox'
import { createCatalog, defineWorkflow } from '@holdfast/workflow'

const countTwice = defineWorkflow({
  name: 'count_twice',
  version: 'v1',
  description: 'Adds one, twice.',
  input: Type.Object({ count: Type.Integer() }, { additionalProperties: false }),
  async run(context, input) {
    const once = await context.step('first', () => input.count + 1)
    return context.step('second', () => once + 1)
  },
})

export const catalog = createCatalog([countTwice])
// #endregion define
