import type { SharedV4ProviderMetadata, SharedV4Warning } from '@ai-sdk/provider'
import type { ModelMessage } from '@ai-sdk/provider-utils'
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { LoopEnd, LoopState } from './loop-state.ts'
import type { RecordedToolCall } from './model-call-record.ts'
import type { GeneratedFile, StepResult, StepToolCall, StepToolResult } from './step-result.ts'
import type { PendingApproval } from './tool-calls.ts'
import type { FinishReason, Usage } from './usage.ts'

/** Something that a caller should know of a call that went well otherwise. */
export type AgentWarning =
  | SharedV4Warning
  /** The default bound on steps ended the call. */
  | { readonly type: 'step-limit'; readonly steps: number; readonly message: string }

/** What `stream` resolves with when all is over. */
export interface WorkflowAgentStreamResult {
  /** The caller's messages, and all that were added. */
  readonly messages: readonly ModelMessage[]
  /** Those that were added: the model's, its tools' results, steering ones. */
  readonly responseMessages: readonly ModelMessage[]
  readonly steps: readonly StepResult[]
  /** Of the last step, executed or not. */
  readonly toolCalls: readonly StepToolCall[]
  /** Of the last step. */
  readonly toolResults: readonly StepToolResult[]
  readonly finishReason: FinishReason
  readonly totalUsage: Usage
  /** The last step's text. */
  readonly output: string
  readonly text: string
  readonly warnings: readonly AgentWarning[]
  /** Approvals that somebody has to give before the call can go on. */
  readonly pendingApprovals: readonly PendingApproval[]
  /** Calls of tools that the client runs. */
  readonly clientToolCalls: readonly StepToolCall[]
  /** The signal fired, or the run was cancelled: what there is came until then. */
  readonly aborted?: true
  /** Only there when the model failed. */
  readonly error?: unknown
}

/** What `generate` resolves with. */
export interface WorkflowAgentGenerateResult extends WorkflowAgentStreamResult {
  readonly content: StepResult['content']
  readonly reasoning: StepResult['reasoning']
  readonly reasoningText: string | undefined
  readonly files: readonly GeneratedFile[]
  readonly sources: StepResult['sources']
  readonly rawFinishReason: string | undefined
  /** Of the last step. */
  readonly usage: Usage
  readonly request: StepResult['request']
  readonly response: StepResult['response']
  readonly providerMetadata: SharedV4ProviderMetadata | undefined
  readonly finalStep: StepResult
  /** Whether the model had nothing more to do, rather than being stopped by a condition or a bound. */
  isLoopFinished(): boolean
}

/** The result of a loop as far as it came. */
export function streamResult(
  state: LoopState,
  end: LoopEnd | { readonly kind: 'failed'; readonly error: unknown },
): WorkflowAgentStreamResult {
  const last = state.steps.at(-1)
  const unsettled = end.kind === 'waiting' ? end.unsettled : { approvals: [], client: [] }
  const text = last?.text ?? ''
  return {
    messages: state.messages,
    responseMessages: state.generated,
    steps: state.steps,
    toolCalls: last?.toolCalls ?? [],
    toolResults: last?.toolResults ?? [],
    finishReason: finishReasonOf(state, end),
    totalUsage: state.totalUsage,
    output: text,
    text,
    warnings: warningsOf(state, end),
    pendingApprovals: unsettled.approvals,
    clientToolCalls: unsettled.client.flatMap((call) => callIn(last, call)),
    ...(end.kind === 'aborted' ? { aborted: true as const } : {}),
    ...(end.kind === 'failed' ? { error: end.error } : {}),
  }
}

/** The same, in the shape of AI SDK's `generateText`. @throws `model_failed` when there was no step */
export function generateResult(state: LoopState, end: LoopEnd): WorkflowAgentGenerateResult {
  const finalStep = state.steps.at(-1)
  if (finalStep === undefined) {
    throw new HoldfastError(ErrorCode.modelFailed, {
      message: 'The call ended before its first step.',
    })
  }
  return {
    ...streamResult(state, end),
    content: finalStep.content,
    reasoning: finalStep.reasoning,
    reasoningText: finalStep.reasoningText,
    files: finalStep.files,
    sources: finalStep.sources,
    rawFinishReason: finalStep.rawFinishReason,
    usage: finalStep.usage,
    request: finalStep.request,
    response: finalStep.response,
    providerMetadata: finalStep.providerMetadata,
    finalStep,
    isLoopFinished: () => end.kind === 'finished' && !end.stopped,
  }
}

/** Why a whole call ended, in a model's words. */
export function finishReasonOf(
  state: LoopState,
  end: LoopEnd | { readonly kind: 'failed' },
): FinishReason {
  switch (end.kind) {
    case 'failed':
      return 'error'
    case 'waiting':
      return 'tool-calls'
    case 'aborted':
      return 'other'
    case 'budget':
    case 'finished':
      return state.steps.at(-1)?.finishReason ?? 'other'
  }
}

function warningsOf(
  state: LoopState,
  end: LoopEnd | { readonly kind: 'failed' },
): readonly AgentWarning[] {
  const given = state.steps.flatMap((step) => step.warnings)
  if (end.kind !== 'budget') return given
  const { steps } = end
  const message = `The agent was stopped after ${steps} steps. Set stopWhen or maxSteps to allow more.`
  return [...given, { type: 'step-limit', steps, message }]
}

function callIn(step: StepResult | undefined, call: RecordedToolCall): readonly StepToolCall[] {
  return step?.toolCalls.filter(({ toolCallId }) => toolCallId === call.toolCallId) ?? []
}
