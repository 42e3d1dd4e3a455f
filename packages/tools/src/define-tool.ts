import { aborted, ErrorCode, HoldfastError, isHoldfastError, parseUuid } from '@holdfast/core'
import type {
  InvokableTool,
  JsonObject,
  RunId,
  ToolInfo,
  ToolInvocation,
  ToolResult,
} from '@holdfast/core'
import { checkJsonValue, isJsonObject, utf8Length } from '@holdfast/json'
import type { JsonLimits } from '@holdfast/json'
import { decodeArguments, schemaOfArguments } from './arguments.ts'
import type { ArgumentFields, ArgumentsOf } from './arguments.ts'
import { toolResult } from './fit-result.ts'

/** A call with its arguments decoded. */
export interface ToolCall<Fields extends ArgumentFields> {
  readonly arguments: ArgumentsOf<Fields>
  readonly signal?: AbortSignal
  readonly idempotencyKey?: string
  readonly callerRunId?: RunId
}

/** What one tool is. */
export interface ToolDefinition<Fields extends ArgumentFields> {
  readonly name: string
  /** At most 256 bytes. */
  readonly description: string
  readonly annotations: ToolInfo['annotations']
  readonly fields: Fields
  /** Of the argument text. */
  readonly argumentLimits: JsonLimits
  readonly outputSchema: JsonObject
  /** Of the result's text. */
  readonly resultBytes: number
  run(call: ToolCall<Fields>): Promise<JsonObject>
}

/** Annotations of a tool that only reads. */
export const readOnly: ToolInfo['annotations'] = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

/**
 * Makes a tool over JSON text.
 *
 * Arguments are decoded before anything else is touched; what throws inside comes out as a
 * `HoldfastError`; a result over its bound is never given out.
 */
export function defineTool<Fields extends ArgumentFields>(
  definition: ToolDefinition<Fields>,
): InvokableTool {
  const { name, fields, argumentLimits, resultBytes } = definition
  const inputSchema = schemaOfArguments(fields)
  return {
    info: () => ({
      name,
      description: definition.description,
      inputSchema: copyOf(inputSchema),
      outputSchema: copyOf(definition.outputSchema),
      annotations: { ...definition.annotations },
    }),
    async invoke(argumentsJson, invocation = {}) {
      const decoded = decodeArguments(fields, argumentsJson, argumentLimits)
      if (invocation.signal?.aborted === true) throw aborted(invocation.signal, name)
      try {
        const call: ToolCall<Fields> = { arguments: decoded, ...callOf(invocation) }
        return boundedResult(name, await definition.run(call), resultBytes)
      } catch (error) {
        throw asHoldfastError(name, error)
      }
    },
  }
}

function callOf(invocation: ToolInvocation): Omit<ToolCall<ArgumentFields>, 'arguments'> {
  const { signal, idempotencyKey, callerRunId } = invocation
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(callerRunId === undefined ? {} : { callerRunId: parseUuid('callerRunId', callerRunId) }),
  }
}

function boundedResult(name: string, document: JsonObject, maxBytes: number): ToolResult {
  const result = toolResult(document)
  if (utf8Length(result.content[0].text) <= maxBytes) return result
  throw new HoldfastError(ErrorCode.limitExceeded, {
    message: `The result of ${name} exceeds ${maxBytes} bytes.`,
    details: { limit: maxBytes },
  })
}

/** Whatever a tool threw, as an error that is safe to show. */
export function asHoldfastError(name: string, error: unknown): HoldfastError {
  if (isHoldfastError(error)) return error
  return new HoldfastError(ErrorCode.internal, {
    message: `${name} failed inside.`,
    cause: error,
  })
}

function copyOf(schema: JsonObject): JsonObject {
  const copy = checkJsonValue(schema)
  return isJsonObject(copy) ? copy : {}
}
