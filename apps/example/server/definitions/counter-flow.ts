import Type from 'typebox'
import { defineWorkflow } from '@holdfast/workflow'

/** Adds one, asks by how much to go on, and adds that. Anyone may answer, a model too. */
export const counterFlow = defineWorkflow({
  name: 'counter_flow',
  version: 'v1',
  description: 'Counts on from a number by one, then by as much as it is told to.',
  steps: ['first', 'second'],
  outputForModels: true,
  input: Type.Object(
    { count: Type.Integer({ minimum: 0, maximum: 1_000_000 }) },
    { additionalProperties: false },
  ),
  resume: Type.Object(
    { increment: Type.Integer({ minimum: 0, maximum: 1_000_000 }) },
    { additionalProperties: false },
  ),
  output: Type.Object({ count: Type.Integer() }, { additionalProperties: false }),
  async run(context, input) {
    const first = await context.step('first', () => input.count + 1)
    const { increment } = await context.interrupt('increment', {
      reason: 'awaiting increment',
      answer: 'anyone',
    })
    const count = await context.step('second', () => first + increment)
    return { count }
  },
})
