// What the tools accept, said once: each field is its published schema and its strict reader.
import { ErrorCode, HoldfastError, Limits, parseUuid } from '@holdfast/core'
import type { JsonObject, JsonValue } from '@holdfast/core'
import { isJsonObject, parseStrictJson, truncateUtf8, utf8Length } from '@holdfast/json'
import type { JsonLimits } from '@holdfast/json'

/** One argument: what the model is told of it, and how a given value is read. */
export interface ArgumentField<Value> {
  readonly schema: JsonObject
  readonly required: boolean
  /** @throws `arguments_invalid`, `id_invalid`: naming the field, never the value */
  readonly read: (value: JsonValue, name: string) => Value
}

/** The arguments of a tool by name. */
export type ArgumentFields = Readonly<Record<string, ArgumentField<unknown>>>

/** The arguments as decoded. Optional ones that were not given are `undefined`. */
export type ArgumentsOf<Fields extends ArgumentFields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends ArgumentField<infer Value> ? Value : never
}

/** Bounds of an argument text that holds no document: a reason of 512 bytes fits fully escaped. */
export const smallArguments: JsonLimits = { maxBytes: 8_192, maxDepth: 8, maxProperties: 64 }

/** Bounds of an argument text that holds an input or a resume payload beside its own fields. */
export const documentArguments: JsonLimits = {
  maxBytes: Limits.inputBytes + smallArguments.maxBytes,
  maxDepth: Limits.inputDepth + 1,
  maxProperties: Limits.inputProperties + smallArguments.maxProperties,
}

/** The closed JSON Schema of a tool's arguments. */
export function schemaOfArguments(fields: ArgumentFields): JsonObject {
  const entries = Object.entries(fields)
  const required = entries.filter(([, field]) => field.required).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, field]) => [name, field.schema])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  }
}

/**
 * Reads a tool's arguments strictly: exact names, no duplicates, no `null`, nothing left over.
 *
 * Touches nothing but the text. Unknown fields are reported before anything else.
 *
 * @throws `arguments_invalid`, `id_invalid`, and the codes of `parseStrictJson`
 */
export function decodeArguments<Fields extends ArgumentFields>(
  fields: Fields,
  argumentsJson: string,
  limits: JsonLimits,
): ArgumentsOf<Fields> {
  if (typeof argumentsJson !== 'string') throw argumentsInvalid('arguments must be JSON text')
  const given = parseStrictJson(argumentsJson, limits)
  if (!isJsonObject(given)) throw argumentsInvalid('arguments must be one JSON object')
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(fields, name)) throw argumentsInvalid(`unknown field ${quoted(name)}`, name)
  }
  const decoded = Object.entries(fields).map(([name, field]) => [
    name,
    readField(given, name, field),
  ])
  return Object.fromEntries(decoded) as ArgumentsOf<Fields>
}

function readField(given: JsonObject, name: string, field: ArgumentField<unknown>): unknown {
  const value = Object.hasOwn(given, name) ? given[name] : undefined
  if (value === undefined) {
    if (field.required) throw argumentsInvalid(`${name} is required`, name)
    return undefined
  }
  if (value === null) throw argumentsInvalid(`${name} must not be null`, name)
  return field.read(value, name)
}

/** The same field, which may be left out. */
export function optional<Value>(field: ArgumentField<Value>): ArgumentField<Value | undefined> {
  return { ...field, required: false }
}

/** A text, as it is. */
export function textField(description: string): ArgumentField<string> {
  return { schema: { type: 'string', description }, required: true, read: readText }
}

/** A text of at most so many UTF-8 bytes, before anything is trimmed. */
export function boundedTextField(description: string, maxBytes: number): ArgumentField<string> {
  return {
    schema: { type: 'string', description, maxLength: maxBytes },
    required: true,
    read(value, name) {
      const text = readText(value, name)
      if (utf8Length(text) <= maxBytes) return text
      throw argumentsInvalid(`${name} exceeds ${maxBytes} bytes`, name)
    },
  }
}

/** A nonzero UUID of any case; read in lower case. */
export function uuidField(description: string): ArgumentField<string> {
  return {
    schema: { type: 'string', description },
    required: true,
    read: (value, name) => parseUuid(name, readText(value, name)),
  }
}

/** A nonzero UUID, or the empty text for none. */
export function uuidOrEmptyField(description: string): ArgumentField<string | undefined> {
  const { schema, required, read } = uuidField(description)
  return { schema, required, read: (value, name) => (value === '' ? undefined : read(value, name)) }
}

/** A whole number within bounds. */
export function wholeNumberField(
  description: string,
  bounds: { readonly minimum: number; readonly maximum?: number },
): ArgumentField<number> {
  const { minimum, maximum = Number.MAX_SAFE_INTEGER } = bounds
  return {
    schema: { type: 'integer', description, ...bounds },
    required: true,
    read(value, name) {
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
        throw argumentsInvalid(`${name} must be a whole number`, name)
      }
      if (value >= minimum && value <= maximum) return value
      throw argumentsInvalid(`${name} must be within ${minimum}..${maximum}`, name)
    },
  }
}

/** The size of a page: 1 to 100; 0 asks for the default of 50. */
export function pageLimitField(what: string): ArgumentField<number> {
  const bounds = { minimum: 1, maximum: Limits.pageMax }
  const { schema, required, read } = wholeNumberField(
    `How many ${what} at most. Default ${Limits.pageDefault}.`,
    bounds,
  )
  return {
    schema,
    required,
    read: (value, name) => (value === 0 ? Limits.pageDefault : read(value, name)),
  }
}

/** One of some texts. */
export function oneOfField<const Choice extends string>(
  description: string,
  choices: readonly Choice[],
): ArgumentField<Choice> {
  return {
    schema: { type: 'string', description, enum: [...choices] },
    required: true,
    read(value, name) {
      const choice = choices.find((known) => known === value)
      if (choice !== undefined) return choice
      throw argumentsInvalid(`${name} must be one of ${choices.join(', ')}`, name)
    },
  }
}

/** Some of some texts, each once. */
export function someOfField<const Choice extends string>(
  description: string,
  choices: readonly Choice[],
): ArgumentField<readonly Choice[]> {
  const one = oneOfField(description, choices)
  return {
    schema: {
      type: 'array',
      description,
      items: { type: 'string', enum: [...choices] },
      minItems: 1,
      maxItems: choices.length,
      uniqueItems: true,
    },
    required: true,
    read(value, name) {
      if (!isJsonArray(value) || value.length === 0 || new Set(value).size !== value.length) {
        throw argumentsInvalid(`${name} must be a list of different texts`, name)
      }
      return value.map((item) => one.read(item, name))
    },
  }
}

/** A JSON object of any content: its schema is the definition's, and is checked later. */
export function objectField(description: string): ArgumentField<JsonObject> {
  return {
    schema: { type: 'object', description },
    required: true,
    read(value, name) {
      if (isJsonObject(value)) return value
      throw argumentsInvalid(`${name} must be a JSON object`, name)
    },
  }
}

/** The arguments are not what the tool's schema asks for. */
export function argumentsInvalid(reason: string, field?: string): HoldfastError {
  return new HoldfastError(ErrorCode.argumentsInvalid, {
    message: `Invalid arguments: ${reason}.`,
    ...(field === undefined ? {} : { details: { field: truncateUtf8(field, 64) } }),
  })
}

function readText(value: JsonValue, name: string): string {
  if (typeof value === 'string') return value
  throw argumentsInvalid(`${name} must be a string`, name)
}

function isJsonArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

function quoted(name: string): string {
  return JSON.stringify(truncateUtf8(name, 64))
}
