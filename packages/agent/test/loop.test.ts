import { describe, expect, test } from 'vitest'
import { tool } from 'ai'
import { z } from 'zod'
import { isStepCount, WorkflowAgent } from '@holdfast/agent'
import { collector } from './support/collect.ts'
import { finish, scriptedModel, text, toolCall } from './support/scripted-model.ts'

describe('the loop in memory', () => {
  test('calls tools and the model again until no tool is called', async () => {
    const model = scriptedModel(
      [...text('Looking. '), toolCall('double', { n: 21 }), finish('tool-calls')],
      [...text('It is 42.'), finish()],
    )
    const agent = new WorkflowAgent({
      model,
      tools: {
        double: tool({
          description: 'Doubles.',
          inputSchema: z.object({ n: z.number() }),
          execute: async ({ n }) => n * 2,
        }),
      },
    })
    const out = collector()
    const result = await agent.stream({ prompt: 'Double 21', writable: out.writable })
    expect(out.types()).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'tool-call',
      'model-call-end',
      'tool-result',
      'finish-step',
      'start-step',
      'text-start',
      'text-delta',
      'text-delta',
      'text-delta',
      'text-end',
      'model-call-end',
      'finish-step',
      'finish',
    ])
    expect(out.isClosed()).toBe(true)
    expect(result.text).toBe('It is 42.')
    expect(isStepCount(2)({ steps: result.steps })).toBe(true)
  })
})
