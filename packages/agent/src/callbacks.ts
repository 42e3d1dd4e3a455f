import type { ModelMessage, ToolSet } from '@ai-sdk/provider-utils'
import type { JsonValue, Log } from '@holdfast/core'
import type { Instructions } from './prompt.ts'
import type { StepResult, StepToolCall, StepToolResult } from './step-result.ts'
import type { FinishReason, Usage } from './usage.ts'

/** A call begins. */
export interface StartEvent {
  readonly callId: string
  readonly model: { readonly provider: string; readonly modelId: string }
  readonly instructions: Instructions | undefined
  readonly messages: readonly ModelMessage[]
  readonly tools: ToolSet
  readonly activeTools: readonly string[] | undefined
  readonly maxRetries: number
  readonly runtimeContext: Readonly<Record<string, unknown>>
  readonly toolsContext: Readonly<Record<string, unknown>>
}

/** A step begins; its model is about to be called. */
export interface StepStartEvent {
  readonly callId: string
  /** From 0. */
  readonly stepNumber: number
  readonly model: { readonly provider: string; readonly modelId: string }
  readonly instructions: Instructions | undefined
  readonly messages: readonly ModelMessage[]
  readonly tools: ToolSet
  readonly steps: readonly StepResult[]
  readonly runtimeContext: Readonly<Record<string, unknown>>
  readonly toolsContext: Readonly<Record<string, unknown>>
}

/** A tool is about to be executed. */
export interface ToolExecutionStartEvent {
  readonly callId: string
  readonly stepNumber: number
  readonly toolCallId: string
  readonly toolName: string
  readonly input: JsonValue
  readonly messages: readonly ModelMessage[]
  readonly toolContext: unknown
  readonly runtimeContext: Readonly<Record<string, unknown>>
}

/** A tool was executed. */
export type ToolExecutionEndEvent = ToolExecutionStartEvent & {
  readonly toolExecutionMs: number
} & (
    | { readonly success: true; readonly output: unknown }
    | { readonly success: false; readonly error: unknown }
  )

/** A call ended by itself: not by an error, not by an abort. */
export interface EndEvent {
  readonly callId: string
  readonly text: string
  readonly steps: readonly StepResult[]
  readonly finishReason: FinishReason
  /** Of the last step. */
  readonly usage: Usage
  readonly totalUsage: Usage
  readonly toolCalls: readonly StepToolCall[]
  readonly toolResults: readonly StepToolResult[]
  readonly runtimeContext: Readonly<Record<string, unknown>>
}

type Callback<Event> = (event: Event) => PromiseLike<void> | void

/**
 * What a caller is told while a call runs. The agent's are called first, then the call's; each is awaited.
 *
 * One that throws is logged, and changes nothing. In a durable run they run inside steps: once,
 * but again when a step is repeated after a crash.
 */
export interface AgentCallbacks {
  readonly onStart?: Callback<StartEvent>
  readonly onStepStart?: Callback<StepStartEvent>
  /** After the step's tools, with their results. */
  readonly onStepEnd?: Callback<StepResult>
  readonly onToolExecutionStart?: Callback<ToolExecutionStartEvent>
  readonly onToolExecutionEnd?: Callback<ToolExecutionEndEvent>
  readonly onEnd?: Callback<EndEvent>
  readonly onError?: Callback<{ readonly error: unknown }>
  readonly onAbort?: Callback<{ readonly steps: readonly StepResult[]; readonly reason?: string }>
}

/** The name of a callback. */
export type CallbackName = keyof AgentCallbacks

/** Calls the callbacks of agent and call. */
export interface Callbacks {
  notify<Name extends CallbackName>(name: Name, event: EventOf<Name>): Promise<void>
  /** Whether anybody listens. */
  has(name: CallbackName): boolean
}

type EventOf<Name extends CallbackName> = Parameters<NonNullable<AgentCallbacks[Name]>>[0]

/** Joins callbacks of several levels, called in their order. */
export function joinCallbacks(levels: readonly AgentCallbacks[], log: Log): Callbacks {
  return {
    has: (name) => levels.some((level) => level[name] !== undefined),
    async notify(name, event) {
      for (const level of levels) {
        const callback = level[name] as Callback<typeof event> | undefined
        if (callback === undefined) continue
        try {
          await callback(event)
        } catch (cause) {
          const message = `The callback ${name} threw; the run goes on.`
          log.write({ level: 'error', event: 'agent.callback.failed', message, cause })
        }
      }
    },
  }
}
