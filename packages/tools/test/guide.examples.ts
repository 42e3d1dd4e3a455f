// #region alone
import Type from 'typebox'
import { sessionIdFor } from '@holdfast/core'
import { createEngine } from '@holdfast/engine'
import { createMemoryStore } from '@holdfast/store-memory'
import { createWorkflowTools, workflowTool } from '@holdfast/tools'
import { defineWorkflow } from '@holdfast/workflow'

const count = defineWorkflow({
  name: 'count',
  version: 'v1',
  description: 'Counts.',
  input: Type.Object({ to: Type.Integer() }, { additionalProperties: false }),
  outputForModels: true,
  run: (context, { to }) => context.step('count', () => ({ counted: to })),
})

export async function countTo(to: number) {
  const [store, sessionId] = [createMemoryStore(), sessionIdFor('ann')]
  const { supervisors, catalog } = createEngine({ store, definitions: [count] })
  const tools = createWorkflowTools({
    ...{ sessionId, catalog, runs: store, watcher: store, extensions: true },
    supervisor: supervisors.session(sessionId),
  })
  const call = async (name: 'workflow_run_start' | 'workflow_run_get', given: object) =>
    JSON.parse((await workflowTool(tools, name).invoke(JSON.stringify(given))).content[0].text)
  const chosen = { definition_name: 'count', definition_version: 'v1', input: { to } }
  const { run_id } = await call('workflow_run_start', chosen)
  return call('workflow_run_get', { run_id, wait_ms: 10_000 })
}
// #endregion alone

// #region agent
import { generateText, isStepCount } from 'ai'
import type { LanguageModel } from 'ai'
import { modelErrorText } from '@holdfast/tools'
import type { WorkflowTools } from '@holdfast/tools'
import { toAiSdkTools } from '@holdfast/tools/ai-sdk'

/** Lets a model work with the workflows of one session. */
export function askModel(model: LanguageModel, tools: WorkflowTools, prompt: string) {
  return generateText({
    model,
    prompt,
    tools: toAiSdkTools(tools, { onError: (error) => console.error(modelErrorText(error)) }),
    stopWhen: isStepCount(10),
  })
}
// #endregion agent
