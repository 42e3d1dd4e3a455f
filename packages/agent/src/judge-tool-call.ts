import type { ModelMessage, ToolSet } from '@ai-sdk/provider-utils'
import type { JsonObject, Log } from '@holdfast/core'
import { metadataOf } from './content-collector.ts'
import type { JudgedCall } from './model-call.ts'
import type { RecordedToolCall } from './model-call-record.ts'
import { describeTool } from './tool-description.ts'
import type { Context } from './context.ts'
import { decideApproval } from './tool-approval.ts'
import type { ToolApproval, ToolApprovalDecision } from './tool-approval.ts'
import { looseInput, parseToolCall } from './tool-call-parsing.ts'
import type { ToolCallParsing } from './tool-call-parsing.ts'
import type { ToolInputRefinement } from './tool-input-refinement.ts'
import { plainJson } from './plain-json.ts'

/** What a call is judged by. */
export interface ToolCallJudging extends ToolCallParsing {
  readonly tools: ToolSet
  readonly messages: readonly ModelMessage[]
  readonly policy: ToolApproval | undefined
  readonly refine: ToolInputRefinement | undefined
  readonly toolsContext: Readonly<Record<string, unknown>>
  readonly runtimeContext: Context
  readonly log: Log
}

/** Checks a tool call and decides what is to become of it; the decision is recorded with the call. */
export async function judgeToolCall(
  call: JudgedCall,
  judging: ToolCallJudging,
): Promise<RecordedToolCall> {
  const { toolCallId } = call
  const base = { type: 'tool-call' as const, toolCallId, ...metadataOf(call.providerMetadata) }
  const dynamic = call.dynamic === true ? { dynamic: true } : {}
  if (call.providerExecuted === true) {
    const { toolName } = call
    return { ...base, toolName, input: looseInput(call.input), decision: 'provider', ...dynamic }
  }
  const parsed = await parseToolCall(call, judging)
  const { toolName } = parsed
  if (!parsed.valid) {
    const { input } = parsed
    const { error } = parsed
    return { ...base, toolName, input, decision: 'invalid', error, dynamic: true }
  }
  const tool = judging.tools[toolName]
  if (tool === undefined) throw new TypeError(`Tool ${toolName} was found and is not there.`)
  const refine = Object.hasOwn(judging.refine ?? {}, toolName)
    ? judging.refine?.[toolName]
    : undefined
  const refined = refine === undefined ? parsed.input : await refine(parsed.input)
  const input = plainJson(refined) ?? {}
  const decision = await decided(tool, { toolName, input, toolCallId }, judging)
  return {
    ...base,
    toolName,
    input,
    ...decision,
    ...dynamic,
    ...describeTool(judging.tools, toolName),
  }
}

type Decided = Pick<RecordedToolCall, 'decision' | 'reason' | 'error'>

async function decided(
  tool: ToolSet[string],
  call: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown },
  judging: ToolCallJudging,
): Promise<Decided> {
  const { toolName, toolCallId } = call
  const { messages, toolsContext, runtimeContext, policy } = judging
  const toolContext = Object.hasOwn(toolsContext, toolName) ? toolsContext[toolName] : undefined
  const input = call.input as JsonObject
  let approval: ToolApprovalDecision
  try {
    approval = await decideApproval(tool, policy, {
      toolCallId,
      toolName,
      input,
      messages,
      toolContext,
      runtimeContext,
    })
  } catch (cause) {
    // A policy that fails must never let a tool run.
    const message = `The approval policy of tool ${toolName} threw; the call is refused.`
    judging.log.write({ level: 'error', event: 'agent.approval.failed', message, cause })
    return { decision: 'invalid', error: `The approval of tool ${toolName} could not be decided.` }
  }
  if (approval.decision === 'execute' && tool.execute === undefined) return { decision: 'client' }
  return approval
}
