import type { ToolSet } from '@ai-sdk/provider-utils'
import type {
  GenerateTextEndEvent,
  GenerateTextStartEvent,
  GenerateTextStepStartEvent,
  ToolExecutionEndEvent as AiToolExecutionEndEvent,
  ToolExecutionStartEvent as AiToolExecutionStartEvent,
} from 'ai'
import type { JsonValue, Log } from '@holdfast/core'
import type { Context } from './context.ts'
import type { OutputSpecification } from './output.ts'
import type { StepResult } from './step-result.ts'

interface ModelOfEvent {
  readonly model: { readonly provider: string; readonly modelId: string }
}

/** A call begins. AI SDK's event. `operationId` is `ai.workflowAgent.stream` or `ai.workflowAgent.generate`. */
export type StartEvent<TOOLS extends ToolSet = ToolSet> = GenerateTextStartEvent<
  TOOLS,
  Context,
  OutputSpecification
> &
  ModelOfEvent

/** A step begins; its model is about to be called. AI SDK's event: `stepNumber` counts from 0. */
export type StepStartEvent<TOOLS extends ToolSet = ToolSet> = GenerateTextStepStartEvent<
  TOOLS,
  Context,
  OutputSpecification
> &
  ModelOfEvent

/** What is told of a tool's execution beside AI SDK's fields. */
export interface ToolExecutionOrigin {
  readonly stepNumber: number
  readonly toolCallId: string
  readonly toolName: string
  /** Untyped; `toolCall` has the type that the tool's name says. */
  readonly input: JsonValue
  readonly runtimeContext: Context
}

/** A tool is about to be executed. AI SDK's event, and the call's parts. */
export type ToolExecutionStartEvent<TOOLS extends ToolSet = ToolSet> =
  AiToolExecutionStartEvent<TOOLS> & ToolExecutionOrigin

/** A tool was executed: `toolOutput` is its result or error, as is `output` or `error`. */
export type ToolExecutionEndEvent<TOOLS extends ToolSet = ToolSet> =
  AiToolExecutionEndEvent<TOOLS> &
    ToolExecutionOrigin &
    (
      | { readonly success: true; readonly output: unknown }
      | { readonly success: false; readonly error: unknown }
    )

/**
 * A call ended by itself: not by an error, not by an abort. AI SDK's event: text and reasons are the last step's, lists and
 * usage those of all steps.
 */
export type EndEvent<TOOLS extends ToolSet = ToolSet> = GenerateTextEndEvent<TOOLS, Context>

type Callback<Event> = (event: Event) => PromiseLike<void> | void

/**
 * What a caller is told while a call runs. The agent's are called first, then the call's; each is awaited.
 *
 * One that throws is logged, and changes nothing. In a durable run they run inside steps: once,
 * but again when a step is repeated after a crash.
 */
export interface AgentCallbacks<TOOLS extends ToolSet = ToolSet> {
  readonly onStart?: Callback<StartEvent<TOOLS>> | undefined
  readonly onStepStart?: Callback<StepStartEvent<TOOLS>> | undefined
  /** After the step's tools, with their results. */
  readonly onStepEnd?: Callback<StepResult<TOOLS>> | undefined
  readonly onToolExecutionStart?: Callback<ToolExecutionStartEvent<TOOLS>> | undefined
  readonly onToolExecutionEnd?: Callback<ToolExecutionEndEvent<TOOLS>> | undefined
  readonly onEnd?: Callback<EndEvent<TOOLS>> | undefined
  readonly onError?: Callback<{ readonly error: unknown }> | undefined
  readonly onAbort?: Callback<AbortEvent<TOOLS>> | undefined
}

/** A call was aborted, or its run cancelled. */
export interface AbortEvent<TOOLS extends ToolSet = ToolSet> {
  /** Those that were finished or under way. */
  readonly steps: readonly StepResult<TOOLS>[]
  readonly reason?: string
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
