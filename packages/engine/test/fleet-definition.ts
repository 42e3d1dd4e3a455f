// What the processes of a fleet execute: steps, a question, a message, a sleep, an output.
import type { JsonValue } from '@holdfast/core'
import { defineWorkflow } from '@holdfast/workflow'
import { anyJson, noInput } from './harness.ts'

/** Each run counts its bodies under their idempotency keys with `effect`. */
export function fleetRun(effect: (key: string) => void) {
  return defineWorkflow({
    name: 'fleet_run',
    version: 'v1',
    description: 'Goes through several hands.',
    input: noInput,
    async run(context) {
      const first = await context.step('first', ({ idempotencyKey }) => {
        effect(idempotencyKey)
        return 'first'
      })
      const answer = await context.interrupt<JsonValue>('question', { schema: anyJson })
      await context.sleep('nap', 30)
      const message = await context.receive('message')
      const steps = await context.loop<number, number>(
        'loop',
        { state: 0 },
        async (turn, { state }) => {
          const next = await turn.step('add', () => state + 1)
          return next < 3 ? { state: next } : { done: true, result: next }
        },
      )
      return { first, answer, message: message.body, steps }
    },
  })
}
