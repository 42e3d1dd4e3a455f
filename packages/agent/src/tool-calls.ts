// Brings the tool calls of one step to their outcomes.
//
// C1. Calls begin in model order, at most `concurrency` tools at a time; a question waits for nobody.
// C2. A tool that a person was asked about runs only after the answer `approved: true` to that very question.
// C3. Outcomes are kept as they come: when an operation rejects, what had come until then is there.
import type { ToolSet } from '@ai-sdk/provider-utils'
import type { JsonValue } from '@holdfast/core'
import type { ApprovalAuthority } from './approval-authority.ts'
import { askAboutProviderTool, askClient, askPerson } from './tool-questions.ts'
import type { ModelCallStreamPart } from './model-call-part.ts'
import type { ModelCallRecord, RecordedToolCall } from './model-call-record.ts'
import type { Operations, StepScope } from './operations.ts'
import { toolCallCodec } from './tool-call-record.ts'
import type { ToolCallRecord } from './tool-call-record.ts'
import { originOf } from './tool-execution.ts'
import type { ToolOutcome } from './tool-outcome.ts'

/** An approval that a call which is not durable waits for. */
export interface PendingApproval {
  readonly approvalId: string
  readonly toolCallId: string
  readonly toolName: string
  readonly input: JsonValue
  readonly reason?: string
}

/** The tool calls of one step, and what is needed for them. */
export interface ToolCallsOfStep {
  /** From 1, for keys. */
  readonly step: number
  readonly record: ModelCallRecord
  readonly operations: Operations
  readonly concurrency: number
  readonly authority: ApprovalAuthority
  readonly tools: ToolSet
  readonly execute: (call: RecordedToolCall, scope: StepScope) => Promise<ToolCallRecord>
  /** Filled as outcomes come, by tool call id. */
  readonly outcomes: Map<string, ToolOutcome>
}

/** What could not be settled, because nobody can be asked here. */
export interface UnsettledCalls {
  readonly approvals: readonly PendingApproval[]
  readonly client: readonly RecordedToolCall[]
}

/** Settles all calls that can be settled. */
export async function settleToolCalls(step: ToolCallsOfStep): Promise<UnsettledCalls> {
  const { record, operations } = step
  const calls = record.content.filter((part) => part.type === 'tool-call')
  const gate = createGate(step.concurrency)
  const waiting: RecordedToolCall[] = []
  const settling = calls.map(async (call, index) => {
    const key = `${step.step}.${index + 1}`
    if (needsAnswer(call, record) && operations.ask === undefined) {
      waiting.push(call)
      return
    }
    const outcome = await settle(call, key, step, gate)
    if (outcome !== undefined) step.outcomes.set(call.toolCallId, outcome)
  })
  await Promise.all(settling)
  return unsettled(waiting, step)
}

function needsAnswer(call: RecordedToolCall, record: ModelCallRecord): boolean {
  switch (call.decision) {
    case 'ask':
    case 'client':
      return true
    case 'provider':
      return providerRequest(call, record) !== undefined
    case 'execute':
    case 'deny':
    case 'invalid':
      return false
  }
}

async function settle(
  call: RecordedToolCall,
  key: string,
  step: ToolCallsOfStep,
  gate: Gate,
): Promise<ToolOutcome | undefined> {
  const { operations } = step
  const { toolCallId, toolName } = call
  switch (call.decision) {
    case 'invalid':
      return { kind: 'error', errorText: call.error ?? 'The tool call is invalid.' }
    case 'execute':
      return gate(() => execute(call, key, [], step))
    case 'deny': {
      const reason = call.reason ?? `Tool call to ${toolName} was denied by policy.`
      const approvalId = `policy-${toolCallId}`
      const request = { type: 'tool-approval-request' as const, approvalId, toolCallId }
      await operations.emit(`deny ${key}`, [
        { ...request, isAutomatic: true },
        { type: 'tool-approval-response', approvalId, approved: false, reason },
        { type: 'tool-output-denied', toolCallId, toolName },
      ])
      return { kind: 'denied', approvalId, reason }
    }
    case 'ask': {
      const answer = await askPerson(call, key, operations)
      const { approvalId, approved, reason } = answer
      const why = reason === undefined ? {} : { reason }
      const response = { type: 'tool-approval-response' as const, approvalId, approved, ...why }
      if (approved && isClientTool(call, step)) {
        await operations.emit(`allow ${key}`, [response])
        return fromClient(call, key, operations)
      }
      if (approved) return gate(() => execute(call, key, [response], step))
      const denied = { type: 'tool-output-denied' as const, toolCallId, toolName }
      await operations.emit(`deny ${key}`, [response, denied])
      return { kind: 'denied', approvalId, ...why }
    }
    case 'client':
      return fromClient(call, key, operations)
    case 'provider': {
      const request = providerRequest(call, step.record)
      if (request === undefined) return undefined
      const { questionId, ...answer } = await askAboutProviderTool(call, request, key, operations)
      const { approved, reason } = answer
      const why = reason === undefined ? {} : { reason }
      const response = { type: 'tool-approval-response' as const, approvalId: questionId, approved }
      await operations.emit(`answer ${key}`, [{ ...response, ...why, providerExecuted: true }])
      return { kind: 'answered-provider', approvalId: request, approved, ...why }
    }
  }
}

async function execute(
  call: RecordedToolCall,
  key: string,
  before: readonly ModelCallStreamPart[],
  step: ToolCallsOfStep,
): Promise<ToolOutcome> {
  const record = await step.operations.step({
    key: `tool ${key}`,
    label: call.toolName.slice(0, 100),
    codec: toolCallCodec,
    async run(scope) {
      for (const part of before) await scope.emit(part)
      return step.execute(call, scope)
    },
  })
  const timed = record.executionMs === undefined ? {} : { executionMs: record.executionMs }
  if (record.kind === 'error') return { kind: 'error', errorText: record.errorText, ...timed }
  const { output, modelOutput } = record
  return {
    kind: 'result',
    output,
    ...timed,
    ...(modelOutput === undefined ? {} : { modelOutput }),
  } as ToolOutcome
}

async function fromClient(
  call: RecordedToolCall,
  key: string,
  operations: Operations,
): Promise<ToolOutcome> {
  const { toolCallId, toolName } = call
  const outcome = await askClient(call, key, operations)
  const origin = originOf(call)
  if (outcome.kind === 'result') {
    const { output } = outcome
    const part = { type: 'tool-result' as const, toolCallId, toolName, output, ...origin }
    await operations.emit(`answer ${key}`, [part])
  } else {
    const { errorText } = outcome
    const part = { type: 'tool-error' as const, toolCallId, toolName, errorText, ...origin }
    await operations.emit(`answer ${key}`, [part])
  }
  return outcome
}

function isClientTool(call: RecordedToolCall, { tools }: ToolCallsOfStep): boolean {
  const tool = Object.hasOwn(tools, call.toolName) ? tools[call.toolName] : undefined
  return tool !== undefined && tool.execute === undefined
}

/** The provider's own id of the approval that it wants for a call. */
function providerRequest(call: RecordedToolCall, record: ModelCallRecord): string | undefined {
  for (const part of record.content) {
    if (part.type === 'tool-approval-request' && part.toolCallId === call.toolCallId) {
      return part.approvalId
    }
  }
  return undefined
}

async function unsettled(
  waiting: readonly RecordedToolCall[],
  step: ToolCallsOfStep,
): Promise<UnsettledCalls> {
  const approvals: PendingApproval[] = []
  const client: RecordedToolCall[] = []
  for (const call of waiting) {
    if (call.decision === 'client') {
      client.push(call)
      continue
    }
    const { toolCallId, toolName, reason } = call
    const input = call.input as JsonValue
    const own = providerRequest(call, step.record)
    const approvalId = own ?? (await step.authority.request({ toolCallId, toolName, input }))
    const why = reason === undefined ? {} : { reason }
    approvals.push({ approvalId, toolCallId, toolName, input, ...why })
    const request = { type: 'tool-approval-request' as const, approvalId, toolCallId, ...why }
    await step.operations.emit(`request ${toolCallId}`, [request])
  }
  return { approvals, client }
}

/** Lets so many tasks run at once; the others wait in order. */
type Gate = <Value>(task: () => Promise<Value>) => Promise<Value>

function createGate(limit: number): Gate {
  let running = 0
  const queue: (() => void)[] = []
  return async (task) => {
    if (running < limit) running += 1
    else await new Promise<void>((resolve) => queue.push(resolve))
    try {
      return await task()
    } finally {
      // The place passes to the next in line, so that nobody slips in between.
      const next = queue.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
