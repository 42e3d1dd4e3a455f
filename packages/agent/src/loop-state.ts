import type { ModelMessage, ToolSet } from '@ai-sdk/provider-utils'
import type { Log, System } from '@holdfast/core'
import type { Observed } from './agent-telemetry.ts'
import type { ApprovalAuthority } from './approval-authority.ts'
import type { Callbacks } from './callbacks.ts'
import type { Context } from './context.ts'
import type { ErrorText } from './error-text.ts'
import type { ModelResolver } from './language-model.ts'
import type { Operations } from './operations.ts'
import type { OutputSpecification } from './output.ts'
import type { PreparedCall } from './prepare.ts'
import type { Instructions } from './prompt.ts'
import type { StepResult } from './step-result.ts'
import type { UnsettledCalls } from './tool-calls.ts'
import { noUsage } from './usage.ts'
import type { FinishReason, Usage } from './usage.ts'

/** What a call is, once and for all of its steps. */
export interface LoopCall {
  readonly operations: Operations
  readonly callbacks: Callbacks
  readonly tools: ToolSet
  readonly messages: readonly ModelMessage[]
  /** As the call was given them, before any hook. */
  readonly instructions: Instructions | undefined
  /** Resolves settings with `prepareCall`; asked inside steps only. */
  readonly prepare: () => Promise<PreparedCall>
  /** The contexts, as `prepareCall` left them if it was asked in this process. */
  readonly contexts: () => {
    readonly runtimeContext: Context
    readonly toolsContext: Readonly<Record<string, unknown>>
  }
  readonly resolveModel: ModelResolver | undefined
  readonly output: OutputSpecification | undefined
  /** Steps before the loop ends or asks. Absent: no bound but the stop conditions. */
  readonly budget: number | undefined
  readonly totalMs: number | undefined
  readonly concurrency: number
  readonly authority: ApprovalAuthority
  readonly errorText: ErrorText
  /** The whole call, in memory. */
  readonly observed: Observed
  readonly log: Log
  readonly system: System
}

/** Why a loop ended. */
export type LoopEnd =
  /** The model called no more tools, or (`stopped`) a stop condition held. */
  | { readonly kind: 'finished'; readonly stopped: boolean }
  /** The budget of steps is used up. */
  | { readonly kind: 'budget'; readonly steps: number }
  /** Somebody has to answer first, who cannot be asked here. */
  | { readonly kind: 'waiting'; readonly unsettled: UnsettledCalls }
  | { readonly kind: 'aborted'; readonly reason: unknown }

/** The conversation and its steps, as far as the loop has come. */
export class LoopState {
  /** All messages, as the next model call gets them. */
  messages: readonly ModelMessage[]
  /** The messages that the call added: the model's, its tools', steering ones. */
  generated: readonly ModelMessage[] = []
  steps: readonly StepResult[] = []
  totalUsage: Usage = noUsage
  /** What the call's output specification made of the last text; absent until then. */
  output: { readonly value: unknown } | undefined
  /** Ids that blocks of text carry. */
  readonly blockIds = new Set<string>()

  constructor(messages: readonly ModelMessage[]) {
    this.messages = messages
  }

  add(messages: readonly ModelMessage[]): void {
    this.messages = [...this.messages, ...messages]
    this.generated = [...this.generated, ...messages]
  }

  get finishReason(): FinishReason {
    const last = this.steps.at(-1)
    return last === undefined || last.aborted === true ? 'other' : last.finishReason
  }
}
