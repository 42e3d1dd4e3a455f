import { asSchema, safeParseJSON, safeValidateTypes } from '@ai-sdk/provider-utils'
import type { FlexibleSchema, Schema } from '@ai-sdk/provider-utils'
import type { JSONSchema7, JSONValue } from '@ai-sdk/provider'
import type { DeepPartial, OutputInterface } from 'ai'
import { ErrorCode, HoldfastError } from '@holdfast/core'
import { parsePartialJson } from './partial-json.ts'

/**
 * What a call's answer shall be, and how its text becomes that. AI SDK's own specifications are of the same shape,
 * so either may be given to either.
 */
export type OutputSpecification<
  COMPLETE = unknown,
  PARTIAL = unknown,
  ELEMENT = unknown,
> = OutputInterface<COMPLETE, PARTIAL, ELEMENT>

/** How a specification is shown to the provider. */
interface Named {
  readonly name?: string
  readonly description?: string
}

/** The answer is a text: the default. */
function text(): OutputSpecification<string, string, never> {
  return {
    name: 'text',
    responseFormat: Promise.resolve({ type: 'text' }),
    parseCompleteOutput: async ({ text: whole }) => whole,
    parsePartialOutput: async ({ text: partial }) => ({ partial }),
    createElementStreamTransform: () => undefined,
  }
}

/** The answer is an object that the schema takes. The model is given its JSON Schema. */
function object<OBJECT>(
  options: Named & { readonly schema: FlexibleSchema<OBJECT> },
): OutputSpecification<OBJECT, DeepPartial<OBJECT>, never> {
  const schema = asSchema(options.schema)
  return {
    name: 'object',
    responseFormat: formatOf(options, async () => schema.jsonSchema),
    parseCompleteOutput: async ({ text: whole }, { finishReason }) =>
      validated(await readJson(whole, finishReason), schema, finishReason),
    async parsePartialOutput({ text: partial }) {
      const read = parsePartialJson(partial)
      // What is there so far is not validated: most schemas refuse what is half done.
      return read === undefined ? undefined : { partial: read.value as DeepPartial<OBJECT> }
    },
    createElementStreamTransform: () => undefined,
  }
}

/** The answer is a list whose elements the schema takes. Elements are told of as each is complete. */
function array<ELEMENT>(
  options: Named & {
    readonly element: FlexibleSchema<ELEMENT>
    readonly minItems?: number
    readonly maxItems?: number
  },
): OutputSpecification<ELEMENT[], ELEMENT[], ELEMENT> {
  const schema = asSchema(options.element)
  const { minItems, maxItems } = options
  const wrapper = async (): Promise<JSONSchema7> => {
    const { $schema: _dialect, ...items } = await schema.jsonSchema
    return wrapped('elements', {
      type: 'array',
      items,
      ...(minItems === undefined ? {} : { minItems }),
      ...(maxItems === undefined ? {} : { maxItems }),
    })
  }
  return {
    name: 'array',
    responseFormat: formatOf(options, wrapper),
    async parseCompleteOutput({ text: whole }, { finishReason }) {
      const elements = unwrapped(await readJson(whole, finishReason), 'elements')
      if (!Array.isArray(elements)) throw invalid('it has no list of elements', finishReason)
      const { length } = elements
      if (length < (minItems ?? 0) || length > (maxItems ?? length)) {
        throw invalid(`it has ${length} elements`, finishReason)
      }
      const list: ELEMENT[] = []
      for (const element of elements) list.push(await validated(element, schema, finishReason))
      return list
    },
    async parsePartialOutput({ text: partial }) {
      const read = parsePartialJson(partial)
      const elements = unwrapped(read?.value, 'elements')
      if (read === undefined || !Array.isArray(elements)) return undefined
      const complete: unknown[] = read.whole ? elements : elements.slice(0, -1)
      const list: ELEMENT[] = []
      for (const value of complete) {
        const checked = await safeValidateTypes({ value, schema })
        if (checked.success) list.push(checked.value)
      }
      return { partial: list }
    },
    createElementStreamTransform() {
      let told = 0
      return new TransformStream({
        transform({ partialOutput }, controller) {
          for (const element of partialOutput?.slice(told) ?? []) controller.enqueue(element)
          told = Math.max(told, partialOutput?.length ?? 0)
        },
      })
    },
  }
}

/** The answer is one of these texts. */
function choice<CHOICE extends string>(
  options: Named & { readonly options: readonly CHOICE[] },
): OutputSpecification<CHOICE, CHOICE, never> {
  const choices = options.options
  return {
    name: 'choice',
    responseFormat: formatOf(options, async () =>
      wrapped('result', { type: 'string', enum: [...choices] }),
    ),
    async parseCompleteOutput({ text: whole }, { finishReason }) {
      const result = unwrapped(await readJson(whole, finishReason), 'result')
      const found = choices.find((known) => known === result)
      if (found === undefined) throw invalid('it is none of the choices', finishReason)
      return found
    },
    async parsePartialOutput({ text: partial }) {
      const read = parsePartialJson(partial)
      const result = unwrapped(read?.value, 'result')
      if (read === undefined || typeof result !== 'string') return undefined
      const fitting = choices.filter((known) => known.startsWith(result))
      const found = read.whole ? fitting.find((known) => known === result) : fitting[0]
      if (found === undefined || (!read.whole && fitting.length > 1)) return undefined
      return { partial: found }
    },
    createElementStreamTransform: () => undefined,
  }
}

/** The answer is any JSON value. */
function json(options: Named = {}): OutputSpecification<JSONValue, JSONValue, never> {
  return {
    name: 'json',
    responseFormat: formatOf(options, undefined),
    parseCompleteOutput: async ({ text: whole }, { finishReason }) => readJson(whole, finishReason),
    async parsePartialOutput({ text: partial }) {
      const read = parsePartialJson(partial)
      return read === undefined ? undefined : { partial: read.value as JSONValue }
    },
    createElementStreamTransform: () => undefined,
  }
}

/**
 * The kinds of structured output.
 *
 * A complete text that does not fit fails the call with `output_invalid`; its cause holds what the schema said.
 */
export const Output = { text, object, array, choice, json } as const

type ResponseFormat = Awaited<OutputSpecification['responseFormat']>

function formatOf(
  { name, description }: Named,
  schemaOf: (() => Promise<JSONSchema7>) | undefined,
): PromiseLike<ResponseFormat> {
  const format = async (): Promise<ResponseFormat> => {
    const schema = await schemaOf?.()
    return {
      type: 'json',
      ...(schema === undefined ? {} : { schema }),
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description }),
    }
  }
  // Asked for when a model is called: a schema that cannot be written as JSON Schema must not reject before.
  return { then: (resolve, reject) => format().then(resolve, reject) }
}

function wrapped(name: string, schema: JSONSchema7): JSONSchema7 {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { [name]: schema },
    required: [name],
    additionalProperties: false,
  }
}

function unwrapped(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}

async function readJson(whole: string, finishReason: string): Promise<JSONValue> {
  const read = await safeParseJSON({ text: whole })
  if (!read.success) throw invalid('it is not JSON', finishReason, read.error)
  return read.value
}

async function validated<Value>(
  value: unknown,
  schema: Schema<Value>,
  finishReason: string,
): Promise<Value> {
  const checked = await safeValidateTypes({ value, schema })
  if (!checked.success) throw invalid('the schema refuses it', finishReason, checked.error)
  return checked.value
}

function invalid(why: string, finishReason: string, cause?: unknown): HoldfastError {
  return new HoldfastError(ErrorCode.outputInvalid, {
    message: `The model's output does not fit: ${why}.`,
    details: { finish_reason: finishReason },
    cause,
  })
}
