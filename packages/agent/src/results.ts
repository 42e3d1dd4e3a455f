import type { SharedV4Warning } from '@ai-sdk/provider'
import type { ModelMessage, ToolSet } from '@ai-sdk/provider-utils'
import type { GenerateTextResult, InferGenerateOutput, StreamTextResult } from 'ai'
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { Context } from './context.ts'
import type { LoopEnd, LoopState } from './loop-state.ts'
import type { RecordedToolCall } from './model-call-record.ts'
import type { OutputSpecification } from './output.ts'
import { gathered } from './step-result.ts'
import type { StepResult, StepToolCall, StepToolResult } from './step-result.ts'
import type { PendingApproval } from './tool-calls.ts'
import type { FinishReason, Usage } from './usage.ts'

/** Something that a caller should know of a call that went well otherwise. */
export type AgentWarning =
  | SharedV4Warning
  /** The default bound on steps ended the call. */
  | { readonly type: 'step-limit'; readonly steps: number; readonly message: string }

/** What a call that ended well, or waits, says beside AI SDK's fields. */
export interface AgentResultExtras<TOOLS extends ToolSet = ToolSet> {
  /** The caller's messages, and all that were added. */
  readonly messages: readonly ModelMessage[]
  /** Approvals that somebody has to give before the call can go on. */
  readonly pendingApprovals: readonly PendingApproval[]
  /** Calls of tools that the client runs. */
  readonly clientToolCalls: readonly StepToolCall<TOOLS>[]
}

/** What `stream` to a writable or a durable run resolves with when all is over. */
export interface WorkflowAgentStreamResult<
  TOOLS extends ToolSet = ToolSet,
  OUTPUT extends OutputSpecification = never,
> extends AgentResultExtras<TOOLS> {
  /** Those that were added: the model's, its tools' results, steering ones. */
  readonly responseMessages: readonly ModelMessage[]
  readonly steps: StepResult<TOOLS>[]
  /** Of the last step, executed or not. */
  readonly toolCalls: StepToolCall<TOOLS>[]
  /** Of the last step. */
  readonly toolResults: StepToolResult<TOOLS>[]
  readonly finishReason: FinishReason
  readonly totalUsage: Usage
  /**
   * What the output specification made of the last text; without one, that text. Undefined when the call has a
   * specification and did not come to its end: it waits, was stopped, was aborted or failed.
   */
  readonly output: [OUTPUT] extends [never] ? string : InferGenerateOutput<OUTPUT>
  readonly text: string
  readonly warnings: readonly AgentWarning[]
  /** The signal fired, or the run was cancelled: what there is came until then. */
  readonly aborted?: true
  /** Only there when the model failed, or its output did not fit. */
  readonly error?: unknown
}

/**
 * What `generate` resolves with: AI SDK's result, and more. Lists that AI SDK gathers over all steps are so here.
 */
export interface WorkflowAgentGenerateResult<
  TOOLS extends ToolSet = ToolSet,
  OUTPUT extends OutputSpecification = never,
>
  extends
    Omit<GenerateTextResult<TOOLS, Context, OUTPUT>, 'steps' | 'finalStep'>,
    AgentResultExtras<TOOLS> {
  readonly steps: StepResult<TOOLS>[]
  readonly finalStep: StepResult<TOOLS>
  /** Whether the model had nothing more to do, rather than being stopped by a condition or a bound. */
  isLoopFinished(): boolean
}

/** What `stream` without a writable resolves with at once: AI SDK's live result, and more. */
export interface WorkflowAgentLiveResult<
  TOOLS extends ToolSet = ToolSet,
  OUTPUT extends OutputSpecification = never,
> extends StreamTextResult<TOOLS, Context, OUTPUT> {
  readonly messages: PromiseLike<readonly ModelMessage[]>
  readonly pendingApprovals: PromiseLike<readonly PendingApproval[]>
  readonly clientToolCalls: PromiseLike<readonly StepToolCall<TOOLS>[]>
  /** Whether the model had nothing more to do. */
  isLoopFinished(): Promise<boolean>
}

/** How a call ended. */
export type CallEnd = LoopEnd | { readonly kind: 'failed'; readonly error: unknown }

/** The result of a loop as far as it came. */
export function streamResult(
  state: LoopState,
  end: CallEnd,
  specification?: OutputSpecification,
): WorkflowAgentStreamResult {
  const last = state.steps.at(-1)
  const unsettled = end.kind === 'waiting' ? end.unsettled : { approvals: [], client: [] }
  const text = last?.text ?? ''
  return {
    messages: state.messages,
    responseMessages: state.generated,
    steps: [...state.steps],
    toolCalls: last?.toolCalls ?? [],
    toolResults: last?.toolResults ?? [],
    finishReason: finishReasonOf(state, end),
    totalUsage: state.totalUsage,
    // Typed by the specification, which made it.
    output: (specification === undefined ? text : state.output?.value) as string,
    text,
    warnings: warningsOf(state, end),
    pendingApprovals: unsettled.approvals,
    clientToolCalls: unsettled.client.flatMap((call) => callIn(last, call)),
    ...(end.kind === 'aborted' ? { aborted: true as const } : {}),
    ...(end.kind === 'failed' ? { error: end.error } : {}),
  }
}

/** The same, in the shape of AI SDK's `generateText`. @throws `model_failed` when there was no step */
export function generateResult(
  state: LoopState,
  end: CallEnd,
  specification?: OutputSpecification,
): WorkflowAgentGenerateResult {
  const { steps } = state
  const finalStep = steps.at(-1)
  if (finalStep === undefined) {
    throw new HoldfastError(ErrorCode.modelFailed, {
      message: 'The call ended before its first step.',
    })
  }
  const { warnings, ...result } = streamResult(state, end, specification)
  return {
    ...result,
    // Without a specification AI SDK's type has no output; the text is there all the same.
    output: result.output as never,
    ...gathered(steps),
    text: finalStep.text,
    reasoning: finalStep.content.filter(
      (part) => part.type === 'reasoning' || part.type === 'reasoning-file',
    ),
    reasoningText: finalStep.reasoningText,
    rawFinishReason: finalStep.rawFinishReason,
    usage: state.totalUsage,
    totalUsage: state.totalUsage,
    request: finalStep.request,
    response: finalStep.response,
    // Generated messages are the roles that AI SDK's type names, and steering ones.
    responseMessages: result.responseMessages as WorkflowAgentGenerateResult['responseMessages'],
    providerMetadata: finalStep.providerMetadata,
    warnings: warnings as WorkflowAgentGenerateResult['warnings'],
    steps: [...steps],
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
  const given = state.steps.flatMap((step) => step.warnings ?? [])
  if (end.kind !== 'budget') return given
  const { steps } = end
  const message = `The agent was stopped after ${steps} steps. Set stopWhen or maxSteps to allow more.`
  return [...given, { type: 'step-limit', steps, message }]
}

function callIn(step: StepResult | undefined, call: RecordedToolCall): readonly StepToolCall[] {
  return step?.toolCalls.filter(({ toolCallId }) => toolCallId === call.toolCallId) ?? []
}
