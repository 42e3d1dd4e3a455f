import type { LanguageModelV4 } from '@ai-sdk/provider'
import { tool } from 'ai'
import { z } from 'zod'
import type { ConversationReader } from '@holdfast/core'
// #region agent
import { agentWorkflow, WorkflowAgent } from '@holdfast/agent'

/** An agent as a workflow that any engine runs durably. */
export function orderDesk(model: LanguageModelV4, conversation: ConversationReader) {
  const agent = new WorkflowAgent({
    model,
    instructions: 'You look after orders.',
    tools: {
      cancel_order: tool({
        inputSchema: z.object({ id: z.number() }),
        needsApproval: true,
        execute: async ({ id }) => `cancelled ${id}`,
      }),
    },
  })
  const description = 'Answers a message of a chat.'
  return agentWorkflow({ name: 'order_desk', version: 'v1', description, agent, conversation })
}
// #endregion agent

// #region memory
/** The same loop with no engine: its parts go where you say. */
export async function answer(agent: WorkflowAgent, writable: WritableStream) {
  const { text, steps, pendingApprovals } = await agent.stream({ prompt: 'Hello', writable })
  return { text, steps: steps.length, pendingApprovals }
}
// #endregion memory
