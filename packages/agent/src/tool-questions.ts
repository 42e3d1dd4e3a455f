import Type from 'typebox'
import type { JsonValue } from '@holdfast/core'
import type { RecordedToolCall } from './model-call-record.ts'
import type { Answer, Operations } from './operations.ts'
import { isJsonObject } from './plain-json.ts'
import type { ToolOutcome } from './tool-outcome.ts'

/** What a person answers to an approval. */
export const ApprovalAnswer = Type.Object(
  { approved: Type.Boolean(), reason: Type.Optional(Type.String({ maxLength: 4_096 })) },
  { additionalProperties: false },
)

/** What a client answers for its own tool: what it returned, or why it failed. One of the two. */
export const ClientToolAnswer = Type.Object(
  {
    output: Type.Optional(Type.Unknown()),
    error: Type.Optional(Type.String({ maxLength: 4_096 })),
  },
  { additionalProperties: false, minProperties: 1, maxProperties: 1 },
)

/** A person's decision. */
export interface ApprovalDecision {
  readonly approvalId: string
  readonly approved: boolean
  readonly reason?: string
}

/** Asks a person whether a tool may run. The approval's id is the question's. */
export async function askPerson(
  call: RecordedToolCall,
  key: string,
  operations: Operations,
): Promise<ApprovalDecision> {
  const { questionId, ...decision } = await askApproval(call, key, operations)
  return { approvalId: questionId, ...decision }
}

/** Asks a person about a tool that the provider runs, and that the provider asks about. */
export function askAboutProviderTool(
  call: RecordedToolCall,
  providerApprovalId: string,
  key: string,
  operations: Operations,
): Promise<{ questionId: string; approved: boolean; reason?: string }> {
  return askApproval(call, key, operations, { providerApprovalId })
}

/** Has the client run its own tool. */
export async function askClient(
  call: RecordedToolCall,
  key: string,
  operations: Operations,
): Promise<Extract<ToolOutcome, { kind: 'result' | 'error' }>> {
  const { toolCallId, toolName } = call
  const answer = await ask(operations, {
    key: `client ${key}`,
    reason: `The tool ${toolName} runs in the client.`.slice(0, 1_024),
    payload: { kind: 'client-tool', toolCallId, toolName, input: call.input as JsonValue },
    schema: ClientToolAnswer,
    parts: () => [],
  })
  const given = isJsonObject(answer.value) ? answer.value : {}
  const { error, output = null } = given
  return typeof error === 'string'
    ? { kind: 'error', errorText: error }
    : { kind: 'result', output }
}

async function askApproval(
  call: RecordedToolCall,
  key: string,
  operations: Operations,
  extra: { readonly providerApprovalId?: string } = {},
): Promise<{ questionId: string; approved: boolean; reason?: string }> {
  const { toolCallId, toolName, reason } = call
  const why = reason === undefined ? {} : { reason }
  const input = call.input as JsonValue
  const answer = await ask(operations, {
    key: `approve ${key}`,
    reason: (reason ?? `The tool ${toolName} needs approval.`).slice(0, 1_024),
    payload: { kind: 'tool-approval', toolCallId, toolName, input, ...extra },
    schema: ApprovalAnswer,
    parts: (approvalId) => [{ type: 'tool-approval-request', approvalId, toolCallId, ...why }],
  })
  const given = isJsonObject(answer.value) ? answer.value : {}
  const said = given['reason']
  return {
    questionId: answer.questionId,
    // Anything but a plain yes is a no.
    approved: given['approved'] === true,
    ...(typeof said === 'string' ? { reason: said } : {}),
  }
}

function ask(
  operations: Operations,
  question: Parameters<NonNullable<Operations['ask']>>[0],
): Promise<Answer> {
  if (operations.ask === undefined) throw new TypeError('Nobody can be asked here.')
  return operations.ask(question)
}
