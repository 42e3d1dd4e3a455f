import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { tool } from 'ai'
import type { ToolSet } from 'ai'
import { z } from 'zod'
import { agentWorkflow, WorkflowAgent } from '@holdfast/agent'
import type {
  AgentWorkflowOptions,
  OutputSpecification,
  WorkflowAgentOptions,
} from '@holdfast/agent'
import { finish, promptedModel, text, toolCall } from './scripted-model.ts'

/** How often each effect happened, by its idempotency key. */
export type Effects = Map<string, number>

/**
 * An agent whose model follows from the prompt: first two tools at once, then one that needs approval and one that does not, then
 * its words.
 */
export function orderAgent(
  effects: Effects = new Map<string, number>(),
  options: Partial<WorkflowAgentOptions> = {},
): WorkflowAgent<ToolSet, OutputSpecification> {
  return new WorkflowAgent<ToolSet, OutputSpecification>({
    model: promptedModel(orderAnswers),
    instructions: 'You look after orders.',
    tools: {
      lookup: tool({
        inputSchema: z.object({ id: z.number() }),
        execute: async ({ id }) => ({ id, total: id / 10 }),
      }),
      cancel: tool({
        inputSchema: z.object({ id: z.number() }),
        needsApproval: true,
        execute: async ({ id }, execution) => {
          const { idempotencyKey } = execution as typeof execution & { idempotencyKey: string }
          effects.set(idempotencyKey, (effects.get(idempotencyKey) ?? 0) + 1)
          return `cancelled ${id}`
        },
      }),
    },
    ...options,
  })
}

export function orderAnswers({ prompt }: LanguageModelV4CallOptions): LanguageModelV4StreamPart[] {
  const results = prompt.filter((message) => message.role === 'tool').length
  switch (results) {
    case 0:
      return [
        ...text('I look them up. '),
        toolCall('lookup', { id: 1001 }, 'call-1'),
        toolCall('lookup', { id: 1002 }, 'call-2'),
        finish('tool-calls'),
      ]
    case 1:
      return [
        ...text('Now I cancel. '),
        toolCall('cancel', { id: 1001 }, 'call-3'),
        toolCall('lookup', { id: 1003 }, 'call-4'),
        finish('tool-calls'),
      ]
    default:
      return [...text('All is done as you asked.'), finish()]
  }
}

export function orderWorkflow(
  agent: AgentWorkflowOptions['agent'],
  options: Partial<AgentWorkflowOptions> = {},
): ReturnType<typeof agentWorkflow> {
  return agentWorkflow({
    name: 'order_agent',
    version: 'v1',
    description: 'Looks after orders.',
    agent,
    ...options,
  })
}
