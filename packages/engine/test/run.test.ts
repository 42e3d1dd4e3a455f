import { describe, expect, test } from 'vitest'
import type { JsonValue } from '@holdfast/core'
import { createMemoryDatabase } from '@holdfast/store-memory'
import { defineWorkflow } from '@holdfast/workflow'
import { createEngine } from '../src/index.ts'

const anyObject = {
  type: 'object',
  additionalProperties: false,
  properties: { n: { type: 'number' } },
}
const sessionId = '00000000-0000-4000-8000-000000000001'

describe('a run', () => {
  test('runs its steps in order and gives its output', async () => {
    const seen: string[] = []
    const definition = defineWorkflow({
      name: 'ten_steps',
      version: 'v1',
      description: '',
      input: anyObject,
      async run(ctx, input) {
        let sum = 0
        for (let index = 0; index < 10; index += 1) {
          sum += await ctx.step('add', () => {
            seen.push(`add ${index}`)
            return index
          })
        }
        return { sum, input: input as JsonValue }
      },
    })
    const store = createMemoryDatabase().open()
    const engine = createEngine({ store, definitions: [definition] })
    const run = await engine.session(sessionId).start(definition, { n: 1 })
    expect(await run.result()).toEqual({ sum: 45, input: { n: 1 } })
    expect(seen).toHaveLength(10)
    const again = await engine.session(sessionId).start(definition, { n: 2 })
    expect(await again.result()).toEqual({ sum: 45, input: { n: 2 } })
    const page = await again.history()
    expect(page.activities.map(({ kind }) => kind)).toEqual([
      'run_started',
      ...Array.from({ length: 10 }, () => 'step_completed'),
      'run_completed',
    ])
    const status = await again.status()
    expect(status.record.status).toBe('completed')
    expect(status.head).toEqual({ completed_steps: 10 })
    await engine.close()
    await store.close()
  })
})
