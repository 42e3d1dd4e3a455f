import Type, { type Static } from 'typebox'
import type { ModelMessage } from '@ai-sdk/provider-utils'
import { configurationInvalid, ErrorCode, HoldfastError } from '@holdfast/core'
import type {
  ConversationReader,
  JsonValue,
  SkewPolicy,
  WorkflowContext,
  WorkflowDefinition,
} from '@holdfast/core'
import { defineWorkflow } from '@holdfast/workflow'
import { messagesFromTurns } from './conversation-messages.ts'
import { isJsonObject, plainJson, plainObject } from './plain-json.ts'
import type { WorkflowAgentStreamResult } from './results.ts'
import type { DurableContext } from './settings.ts'
import { agentStreamFraming } from './stream-framing.ts'

/** What starts an agent's run: a message of a chat, or a prompt. */
export const AgentRunInput = Type.Object(
  {
    chatId: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    messageId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    prompt: Type.Optional(Type.String({ minLength: 1 })),
  },
  { additionalProperties: false },
)
export type AgentRunInput = Static<typeof AgentRunInput>

/** What an agent's run leaves, also when it was cancelled: then with what had come until then. */
export const AgentRunOutput = Type.Object(
  {
    /** AI SDK model messages that the run added, steering ones included. */
    messages: Type.Array(Type.Unknown()),
    text: Type.String(),
    finishReason: Type.String(),
    usage: Type.Unknown(),
    steps: Type.Integer({ minimum: 0 }),
    /** What the agent's output specification made of the text, if it has one. */
    output: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
)
export type AgentRunOutput = Static<typeof AgentRunOutput>

/** What a durable run needs of an agent: a {@link WorkflowAgent} with any tools and output. */
export interface DurableAgent {
  stream(options: {
    readonly durable: DurableContext
    readonly messages: readonly ModelMessage[]
    readonly maxSteps?: number
  }): Promise<DurableAgentResult>
}

/** What an agent's run leaves of the agent's result. */
export type DurableAgentResult = Pick<
  WorkflowAgentStreamResult,
  'responseMessages' | 'text' | 'finishReason' | 'totalUsage'
> & { readonly steps: readonly unknown[]; readonly output: unknown }

/** The agent, or how to make one for a session's run: with tools that are bound to the session, say. */
export type AgentOfRun =
  | DurableAgent
  | ((scope: { readonly sessionId: string; readonly runId: string }) => DurableAgent)

/** How an agent becomes a definition. */
export interface AgentWorkflowOptions {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly agent: AgentOfRun
  /** Reads the chat that a run answers in. Without it, only prompts can be answered. */
  readonly conversation?: ConversationReader
  /** How many steps a run takes before it asks for more. Default: the agent's, else 20. */
  readonly maxSteps?: number
  readonly revision?: string
  readonly skew?: SkewPolicy
}

/**
 * An agent as a durable workflow: every model call and tool call a step, approvals and client-side tools interrupts for a
 * person, a used-up budget of steps an interrupt that extends it, steering by messages to the run.
 *
 * The run's stream has AI SDK UI message chunks; its output is {@link AgentRunOutput}.
 *
 * @throws `definition_invalid`
 */
export function agentWorkflow(
  options: AgentWorkflowOptions,
): WorkflowDefinition<AgentRunInput, JsonValue, AgentRunOutput> {
  const { name, version, description, revision, skew, maxSteps } = options
  return defineWorkflow({
    name,
    version,
    description,
    kind: 'agent',
    input: AgentRunInput,
    output: AgentRunOutput,
    outputForModels: false,
    ...(revision === undefined ? {} : { revision }),
    ...(skew === undefined ? {} : { skew }),
    stream: agentStreamFraming(),
    summarize: ({ status, output }) => summary(status, output),
    async run(context: WorkflowContext, input: AgentRunInput): Promise<AgentRunOutput> {
      const agent = agentOf(options, context)
      const messages = await messagesOf(options, context, input)
      const steps = maxSteps === undefined ? {} : { maxSteps }
      return runOutput(await agent.stream({ durable: context, messages, ...steps }))
    },
  })
}

function agentOf({ agent }: AgentWorkflowOptions, { run }: WorkflowContext): DurableAgent {
  if (typeof agent !== 'function') return agent
  return agent({ sessionId: run.sessionId, runId: run.id })
}

async function messagesOf(
  { conversation }: AgentWorkflowOptions,
  context: WorkflowContext,
  input: AgentRunInput,
): Promise<readonly ModelMessage[]> {
  const { chatId, messageId, prompt } = input
  if (chatId === undefined || messageId === undefined) {
    if (prompt !== undefined) return [{ role: 'user', content: prompt }]
    throw new HoldfastError(ErrorCode.inputInvalid, {
      message: 'An agent needs a chat and a message of it, or a prompt.',
    })
  }
  if (conversation === undefined) {
    throw configurationInvalid('This agent has no conversation to read: give agentWorkflow one.')
  }
  const { sessionId } = context.run
  const loaded = await context.step(
    'load conversation',
    async () => messagesFromTurns(await conversation.turns(sessionId, { chatId, messageId })),
    { label: 'load conversation' },
  )
  // What the step gave is what `messagesFromTurns` made, decoded.
  return loaded as unknown as readonly ModelMessage[]
}

function runOutput(result: DurableAgentResult): AgentRunOutput {
  const messages = plainJson(result.responseMessages)
  const output = result.output === result.text ? undefined : plainJson(result.output)
  return {
    messages: Array.isArray(messages) ? [...messages] : [],
    text: result.text,
    finishReason: result.finishReason,
    usage: plainObject(result.totalUsage),
    steps: result.steps.length,
    ...(output === undefined ? {} : { output }),
  }
}

function summary(status: string, output: JsonValue | undefined): string {
  const text = isJsonObject(output) ? output['text'] : undefined
  return typeof text === 'string' && text !== '' ? text : `The agent's run is ${status}.`
}
