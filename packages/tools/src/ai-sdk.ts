import type { Schema, ToolExecutionOptions, ToolSet } from 'ai'
import { HoldfastError } from '@holdfast/core'
import type { InvokableTool, JsonObject, JsonValue, RunId, ToolInvocation } from '@holdfast/core'
import { decodeJson } from '@holdfast/json'
import { asHoldfastError } from './define-tool.ts'
import { modelErrorText } from './errors.ts'
import { argumentsTextOf } from './value-arguments.ts'

export { toFunctionDefinitions } from './function-definitions.ts'
export type { AnthropicToolDefinition, OpenAiFunctionDefinition } from './function-definitions.ts'

/** How the tools are bound to a model's caller. */
export interface AiSdkToolsOptions {
  /** The run in which the model acts, where the caller of the tools does not say it itself. */
  readonly callerRunId?: RunId
  /** Told of each failure with its cause, for logs. Must not throw. */
  readonly onError?: (
    error: HoldfastError,
    call: { readonly toolName: string; readonly toolCallId: string },
  ) => void
}

/** What a durable agent adds to the options of an execution. */
interface DurableExecution {
  readonly idempotencyKey?: string
  readonly runId?: RunId
}

/**
 * The tools as a tool set of AI SDK 7, by name.
 *
 * A failure is thrown with words for the model, so that it becomes a tool error: the original is its
 * cause. `idempotencyKey` and `runId` of the execution, given by a durable agent, are passed on.
 *
 * The SDK parses arguments before they come here, so duplicate keys are its parser's affair. An
 * integer beyond 2^53 - 1 is refused, as it may have been another before.
 */
export function toAiSdkTools(
  tools: readonly InvokableTool[],
  options: AiSdkToolsOptions = {},
): ToolSet {
  return Object.fromEntries(tools.map((tool) => [tool.info().name, toAiSdkTool(tool, options)]))
}

function toAiSdkTool(tool: InvokableTool, options: AiSdkToolsOptions): ToolSet[string] {
  const { name, description, inputSchema } = tool.info()
  return {
    type: 'dynamic',
    description,
    inputSchema: schemaOf(inputSchema),
    async execute(input: unknown, execution: ToolExecutionOptions<unknown>): Promise<JsonValue> {
      try {
        const result = await tool.invoke(argumentsTextOf(input), invocationOf(execution, options))
        return decodeJson(result.content[0].text)
      } catch (error) {
        const known = asHoldfastError(name, error)
        options.onError?.(known, { toolName: name, toolCallId: execution.toolCallId })
        throw new HoldfastError(known.code, {
          message: modelErrorText(known),
          details: known.details,
          retryable: known.retryable,
          cause: known,
        })
      }
    },
  }
}

function invocationOf(
  execution: ToolExecutionOptions<unknown> & DurableExecution,
  options: AiSdkToolsOptions,
): ToolInvocation {
  const { abortSignal, idempotencyKey } = execution
  const callerRunId = execution.runId ?? options.callerRunId
  return {
    ...(abortSignal === undefined ? {} : { signal: abortSignal }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(callerRunId === undefined ? {} : { callerRunId }),
  }
}

/** By which the SDK knows a schema as its own, whichever copy of it made the schema. */
const schemaMark = Symbol.for('vercel.ai.schema')

/**
 * A JSON Schema as the SDK takes it. Made here so that importing this module does not load the SDK.
 * It validates nothing: the tool decodes strictly itself, and says better what is wrong.
 */
function schemaOf(jsonSchema: JsonObject): Schema {
  return {
    [schemaMark]: true,
    _type: undefined,
    jsonSchema,
    validate: undefined,
  } as unknown as Schema
}
