// #region agent
import { jsonSchema, tool } from 'ai'
import { WorkflowAgent } from '@holdfast/agent'
import type { LanguageModel } from '@holdfast/agent'

/** Any model of the AI SDK. Alone it runs in memory; given `durable: context`, each call is a step of a run. */
export function orderDesk(model: LanguageModel): WorkflowAgent {
  const lookUp = tool({
    description: 'Looks up an order.',
    inputSchema: jsonSchema<{ id: string }>({
      type: 'object',
      properties: { id: { type: 'string' } },
      required: ['id'],
    }),
    execute: ({ id }) => ({ id, status: 'shipped' }),
  })
  return new WorkflowAgent({ model, tools: { look_up: lookUp } })
}
// #endregion agent
