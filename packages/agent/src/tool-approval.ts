import type { ModelMessage, ToolSet } from '@ai-sdk/provider-utils'
import type { JsonValue } from '@holdfast/core'
import type { Context } from './context.ts'

/** What a policy says of a tool call. `undefined` leaves the question to the tool. */
export type ToolApprovalStatus =
  | undefined
  | boolean
  | 'not-applicable'
  | 'approved'
  | 'denied'
  | 'user-approval'
  | {
      readonly type: 'not-applicable' | 'approved' | 'denied' | 'user-approval'
      readonly reason?: string
    }

/** The call about which a policy is asked. */
export interface ToolApprovalQuestion {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: JsonValue
  /** The conversation before the call. */
  readonly messages: readonly ModelMessage[]
  readonly toolContext: unknown
  readonly runtimeContext: Context
}

/** A rule for one tool: fixed, or decided by its input. */
export type ToolApprovalRule =
  | ToolApprovalStatus
  | ((
      input: JsonValue,
      options: ToolApprovalQuestion,
    ) => PromiseLike<ToolApprovalStatus> | ToolApprovalStatus)

/** Rules by tool name, or one function for all. */
export type ToolApproval =
  | Readonly<Record<string, ToolApprovalRule>>
  | ((options: ToolApprovalQuestion) => PromiseLike<ToolApprovalStatus> | ToolApprovalStatus)

/** What is to be done with a call. */
export interface ToolApprovalDecision {
  readonly decision: 'execute' | 'ask' | 'deny'
  readonly reason?: string
}

/**
 * Decides about one call: the policy first, then the tool's own `needsApproval`.
 *
 * @throws what a policy throws: the caller must not run the tool then
 */
export async function decideApproval(
  tool: ToolSet[string],
  policy: ToolApproval | undefined,
  question: ToolApprovalQuestion,
): Promise<ToolApprovalDecision> {
  const ruled = await ruledStatus(policy, question)
  return decisionOf(ruled ?? (await ownStatus(tool, question)))
}

async function ruledStatus(
  policy: ToolApproval | undefined,
  question: ToolApprovalQuestion,
): Promise<ToolApprovalStatus> {
  if (policy === undefined) return undefined
  if (typeof policy === 'function') return policy(question)
  const rule = Object.hasOwn(policy, question.toolName) ? policy[question.toolName] : undefined
  return typeof rule === 'function' ? rule(question.input, question) : rule
}

async function ownStatus(
  tool: ToolSet[string],
  question: ToolApprovalQuestion,
): Promise<ToolApprovalStatus> {
  const { needsApproval } = tool
  if (typeof needsApproval !== 'function') return needsApproval
  const { toolCallId, toolContext: context } = question
  return needsApproval(question.input, { toolCallId, messages: [...question.messages], context })
}

function decisionOf(status: ToolApprovalStatus): ToolApprovalDecision {
  if (status === undefined || status === false) return { decision: 'execute' }
  if (status === true) return { decision: 'ask' }
  const { type, reason } = typeof status === 'string' ? { type: status, reason: undefined } : status
  const why = reason === undefined ? {} : { reason }
  switch (type) {
    case 'not-applicable':
    case 'approved':
      return { decision: 'execute' }
    case 'user-approval':
      return { decision: 'ask', ...why }
    case 'denied':
      return { decision: 'deny', ...why }
  }
}
