// #region bundle
import type { Catalog, RunReader, Supervisor } from '@holdfast/core'
import { createWorkflowTools, workflowTool } from '@holdfast/tools'
import { toAiSdkTools } from '@holdfast/tools/ai-sdk'

/** Seven tools for the model of one session, alone and as a tool set of the AI SDK. */
export async function toolsOf(catalog: Catalog, runs: RunReader, supervisor: Supervisor) {
  const { sessionId } = supervisor
  const tools = createWorkflowTools({ sessionId, catalog, runs, supervisor })
  const start = workflowTool(tools, 'workflow_run_start')
  const result = await start.invoke(`{
    "definition_name": "counter_flow",
    "definition_version": "v1",
    "input": { "count": 1 }
  }`)
  return { text: result.content[0].text, toolSet: toAiSdkTools(tools) }
}
// #endregion bundle
