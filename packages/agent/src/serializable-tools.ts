import { asSchema } from '@ai-sdk/provider-utils'
import type { FlexibleSchema, Tool, ToolSet } from '@ai-sdk/provider-utils'
import { jsonSchema } from '@ai-sdk/provider-utils'
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { JsonObject, JsonValue } from '@holdfast/core'
import { compileSchema } from '@holdfast/json'
import type { Validator } from '@holdfast/json'
import { isJsonObject, plainJson } from './plain-json.ts'

/** A tool as JSON: everything of it but its functions, which are attached again by its name. */
export interface SerializableToolDef {
  readonly name: string
  readonly description?: string
  readonly title?: string
  /** The input's JSON Schema, as older readers name it. */
  readonly parameters?: JsonObject
  /** The input's JSON Schema, draft 2020-12. */
  readonly inputSchema?: JsonObject
  /** `provider` for a provider's tool, `dynamic` for one whose input is not known when it is written. */
  readonly type?: string
  /** A provider's tool: its id. */
  readonly id?: string
  /** A provider's tool: how it is set up. */
  readonly args?: JsonObject
  readonly strict?: boolean
  readonly providerExecuted?: boolean
  readonly isProviderExecuted?: boolean
  readonly supportsDeferredResults?: boolean
  readonly inputExamples?: readonly { readonly input: JsonObject }[]
  readonly providerMetadata?: JsonObject
  /** A person is asked before it runs. A tool that decides by a function is always asked about. */
  readonly needsApproval?: boolean
}

/**
 * Tools as JSON, by name. Functions, context schemas and callbacks are left out; the need for approval is kept.
 *
 * @throws `schema_invalid` an input's schema is no JSON object
 */
export async function serializeToolSet(
  tools: ToolSet,
): Promise<Readonly<Record<string, SerializableToolDef>>> {
  const entries = Object.entries(tools).map(
    async ([name, tool]) => [name, await serialized(name, tool)] as const,
  )
  return Object.fromEntries(await Promise.all(entries))
}

/**
 * Tools of their JSON, none with `execute`: the client runs them, or whoever spreads `execute` into them. Their inputs are
 * validated as {@link validateSerializableToolInput} does.
 */
export function resolveSerializableTools(
  definitions: Readonly<Record<string, SerializableToolDef>>,
): ToolSet {
  const entries = Object.entries(definitions).map(([name, definition]) => [
    name,
    resolved({ ...definition, name: definition.name === '' ? name : definition.name }),
  ])
  return Object.fromEntries(entries) as ToolSet
}

/**
 * The input with the schema's defaults filled in: give that to the tool. The given value is not changed. A definition
 * without a schema takes anything.
 *
 * @throws `tool_input_invalid` it does not fit; `schema_invalid` the schema is none
 */
export function validateSerializableToolInput(
  definition: Partial<SerializableToolDef>,
  input: JsonValue,
): JsonValue {
  const schema = definition.inputSchema ?? definition.parameters
  if (schema === undefined) return input
  const checked = compiled(schema).validate(structuredClone(input))
  if (checked.ok) return checked.value
  const named = definition.name === undefined || definition.name === '' ? 'tool' : definition.name
  const [issue] = checked.issues
  const path = (issue?.path ?? '').replaceAll('/', '.')
  throw new HoldfastError(ErrorCode.toolInputInvalid, {
    message: `workflow: invalid input for ${named}: $${path}: ${issue?.message ?? 'does not fit'}`,
  })
}

/**
 * A schema as a JSON object; of nothing, nothing.
 *
 * @throws `schema_invalid` it is no JSON object
 */
export async function marshalSchema(schema: null | undefined): Promise<null>
export async function marshalSchema(
  schema: FlexibleSchema<unknown> | JsonObject,
): Promise<JsonObject>
export async function marshalSchema(
  schema: FlexibleSchema<unknown> | JsonObject | null | undefined,
): Promise<JsonObject | null> {
  if (schema === null || schema === undefined) return null
  const isSchema =
    typeof schema === 'function' ||
    '~standard' in schema ||
    Object.getOwnPropertySymbols(schema).length > 0
  const plain = plainJson(
    isSchema ? await asSchema(schema as FlexibleSchema<unknown>).jsonSchema : schema,
  )
  if (isJsonObject(plain)) return plain
  throw new HoldfastError(ErrorCode.schemaInvalid, { message: 'A schema must be a JSON object.' })
}

/** A schema that was marshalled, as the JSON it is. */
export function unmarshalSchema(data: JsonObject | null): JsonValue {
  return structuredClone(data)
}

async function serialized(name: string, tool: ToolSet[string]): Promise<SerializableToolDef> {
  const isProvider = tool.type === 'provider'
  const isExecuted = isProvider && tool.isProviderExecuted
  const schema = await marshalSchema(tool.inputSchema as FlexibleSchema<unknown>)
  const { title, strict, needsApproval, description } = tool
  const examples = tool.inputExamples as SerializableToolDef['inputExamples']
  const metadata = plainJson(tool.providerOptions)
  const args = isProvider ? plainJson(tool.args) : undefined
  return {
    name,
    ...(typeof description === 'string' ? { description } : {}),
    ...(title === undefined ? {} : { title }),
    parameters: schema,
    inputSchema: schema,
    ...(tool.type === undefined ? {} : { type: tool.type }),
    ...(isProvider ? { id: tool.id } : {}),
    ...(isJsonObject(args) ? { args } : {}),
    ...(strict === undefined ? {} : { strict }),
    ...(isExecuted ? { providerExecuted: true, isProviderExecuted: true } : {}),
    ...(isProvider && tool.supportsDeferredResults === true
      ? { supportsDeferredResults: true }
      : {}),
    ...(examples === undefined ? {} : { inputExamples: examples }),
    ...(isJsonObject(metadata) ? { providerMetadata: metadata } : {}),
    ...(needsApproval === undefined || needsApproval === false ? {} : { needsApproval: true }),
  }
}

function resolved(definition: SerializableToolDef): Tool {
  const { description, title, type, id, args, strict, inputExamples, needsApproval } = definition
  const { providerMetadata, supportsDeferredResults } = definition
  const schema = definition.parameters ?? definition.inputSchema ?? {}
  const isExecuted = definition.providerExecuted === true || definition.isProviderExecuted === true
  const isProvider = isExecuted || type === 'provider'
  const tool = {
    ...(description === undefined ? {} : { description }),
    ...(title === undefined ? {} : { title }),
    inputSchema: jsonSchema(schema, {
      validate(value) {
        try {
          const input = plainJson(value) ?? null
          return { success: true, value: validateSerializableToolInput(definition, input) }
        } catch (error) {
          return {
            success: false,
            error: error instanceof Error ? error : new Error(String(error)),
          }
        }
      },
    }),
    ...(isProvider
      ? { type: 'provider', id: id ?? `provider.${definition.name}`, args: args ?? {} }
      : type === undefined
        ? {}
        : { type }),
    ...(isProvider ? { isProviderExecuted: isExecuted || type === 'provider' } : {}),
    ...(supportsDeferredResults === undefined ? {} : { supportsDeferredResults }),
    ...(strict === undefined ? {} : { strict }),
    ...(inputExamples === undefined ? {} : { inputExamples }),
    ...(providerMetadata === undefined ? {} : { providerOptions: providerMetadata }),
    ...(needsApproval === undefined ? {} : { needsApproval }),
  }
  // The fields above are those of the tool that was serialized.
  return tool as unknown as Tool
}

/** Schemas say of themselves which draft they are; all are read as the newest. */
function compiled(schema: JsonObject): Validator<JsonValue> {
  const { $schema: _draft, $id: _id, ...body } = schema
  const validator: Validator<unknown> = compileSchema(body, { applyDefaults: true })
  return validator as Validator<JsonValue>
}
