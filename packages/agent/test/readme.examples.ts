// #region agent
import { tool } from 'ai'
import { z } from 'zod'
import { agentWorkflow, WorkflowAgent } from '@holdfast/agent'
import type { LanguageModel } from '@holdfast/agent'
import type { ConversationReader } from '@holdfast/core'

const look_up = tool({
  inputSchema: z.object({ id: z.number() }),
  execute: ({ id }) => ({ id, status: 'shipped' }),
})
const cancel = tool({
  inputSchema: z.object({ id: z.number() }),
  needsApproval: true,
  execute: ({ id }) => `cancelled ${id}`,
})

/** With no engine: `const { text } = await orderDesk(model).generate({ prompt: 'Where is order 7?' })`. */
export function orderDesk(model: LanguageModel) {
  return new WorkflowAgent({ model, tools: { look_up, cancel } })
}

/** The same agent as a workflow that an engine runs durably, for the chats of `@holdfast/chat-server`. */
export function durableOrderDesk(model: LanguageModel, conversation: ConversationReader) {
  const named = { name: 'order_desk', version: 'v1', description: 'Looks after orders.' }
  return agentWorkflow({ ...named, agent: orderDesk(model), conversation })
}
// #endregion agent
