import type { LanguageModelV4ToolCall } from '@ai-sdk/provider'
import { asSchema } from '@ai-sdk/provider-utils'
import type { ModelMessage, ToolSet } from '@ai-sdk/provider-utils'
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { JsonObject, JsonValue } from '@holdfast/core'
import { truncateUtf8 } from '@holdfast/json'
import { plainJson, plainObject, wellFormed } from './plain-json.ts'
import type { Instructions } from './prompt.ts'

/** A call that the model made, as it came. */
export type RawToolCall = Pick<LanguageModelV4ToolCall, 'toolCallId' | 'toolName' | 'input'>

/** What a repair may use. */
export interface ToolCallRepairOptions {
  readonly toolCall: RawToolCall
  readonly tools: ToolSet
  /** The JSON Schema of a tool's input. */
  readonly inputSchema: (options: { readonly toolName: string }) => Promise<JsonObject>
  readonly instructions: Instructions | undefined
  readonly messages: readonly ModelMessage[]
  /** Code `tool_unknown` or `tool_input_invalid`. */
  readonly error: HoldfastError
}

/** Tries to give a better call, or nothing. It is checked once more, and repaired no second time. */
export type ToolCallRepair = (
  options: ToolCallRepairOptions,
) => PromiseLike<RawToolCall | null | undefined> | RawToolCall | null | undefined

/** A call whose tool is there and whose input fits, or why not. */
export type ParsedToolCall =
  | { readonly valid: true; readonly toolName: string; readonly input: JsonValue }
  | {
      readonly valid: false
      readonly toolName: string
      readonly input: JsonValue
      /** For the model: names tools and places in its own input. At most 1,024 bytes. */
      readonly error: string
    }

/** What a call is checked against. */
export interface ToolCallParsing {
  /** The tools that the model saw in this step. */
  readonly tools: ToolSet
  readonly repair: ToolCallRepair | undefined
  readonly instructions: Instructions | undefined
  readonly messages: readonly ModelMessage[]
}

/** Checks a call, and has it repaired if it can be. Never throws for what the model did. */
export async function parseToolCall(
  call: RawToolCall,
  parsing: ToolCallParsing,
): Promise<ParsedToolCall> {
  try {
    return await checkedCall(call, parsing.tools)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    const repaired = await repairedCall(call, error, parsing)
    return repaired ?? invalidCall(call, error.message)
  }
}

/** The value of a provider's own call: what it means is the provider's affair. */
export function looseInput(text: string): JsonValue {
  if (text.trim() === '') return {}
  try {
    return plainJson(JSON.parse(text)) ?? {}
  } catch {
    return wellFormed(text)
  }
}

async function checkedCall(call: RawToolCall, tools: ToolSet): Promise<ParsedToolCall> {
  const { toolName } = call
  const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined
  if (tool === undefined) throw unknownTool(toolName, Object.keys(tools))
  let value: unknown
  try {
    value = call.input.trim() === '' ? {} : JSON.parse(call.input)
  } catch (cause) {
    throw invalidInput(toolName, 'it is not JSON', cause)
  }
  const { validate } = asSchema(tool.inputSchema)
  const checked = await validate?.(plainJson(value) ?? {})
  if (checked !== undefined && !checked.success) {
    throw invalidInput(toolName, checked.error.message, checked.error)
  }
  const input = plainJson(checked === undefined ? value : checked.value) ?? {}
  return { valid: true, toolName, input }
}

async function repairedCall(
  call: RawToolCall,
  error: HoldfastError,
  { tools, repair, instructions, messages }: ToolCallParsing,
): Promise<ParsedToolCall | undefined> {
  if (repair === undefined) return undefined
  const inputSchema = async ({ toolName }: { readonly toolName: string }): Promise<JsonObject> => {
    const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined
    if (tool === undefined) throw unknownTool(toolName, Object.keys(tools))
    return plainObject(await asSchema(tool.inputSchema).jsonSchema)
  }
  try {
    const better = await repair({
      toolCall: call,
      tools,
      inputSchema,
      instructions,
      messages,
      error,
    })
    if (better === undefined || better === null) return undefined
    return await checkedCall(better, tools)
  } catch {
    return invalidCall(call, `Error repairing tool call: ${error.message}`)
  }
}

function invalidCall(call: RawToolCall, error: string): ParsedToolCall {
  const { toolName, input } = call
  return { valid: false, toolName, input: looseInput(input), error: truncateUtf8(error, 1_024) }
}

function unknownTool(toolName: string, known: readonly string[]): HoldfastError {
  const available =
    known.length === 0 ? 'No tools are available.' : `Available tools: ${known.join(', ')}.`
  return new HoldfastError(ErrorCode.toolUnknown, {
    message: `Model tried to call unavailable tool '${toolName}'. ${available}`,
  })
}

function invalidInput(toolName: string, why: string, cause: unknown): HoldfastError {
  return new HoldfastError(ErrorCode.toolInputInvalid, {
    message: `Invalid input for tool ${toolName}: ${why}`,
    cause,
  })
}
