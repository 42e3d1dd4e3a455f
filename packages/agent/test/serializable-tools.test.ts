import { describe, expect, test } from 'vitest'
import { jsonSchema, tool } from 'ai'
import { z } from 'zod'
import {
  marshalSchema,
  resolveSerializableTools,
  serializeToolSet,
  unmarshalSchema,
  validateSerializableToolInput,
  WorkflowAgent,
} from '@holdfast/agent'
import { finish, scriptedModel, toolCall } from './support/scripted-model.ts'

const book = tool({
  description: 'Books.',
  title: 'Booking',
  strict: true,
  inputSchema: z.object({ city: z.string(), nights: z.number().int().min(1).default(1) }),
  inputExamples: [{ input: { city: 'Paris', nights: 2 } }],
  providerOptions: { anthropic: { eagerInput: true } },
  needsApproval: ({ nights }) => nights > 3,
  execute: () => 'booked',
})
const search = {
  type: 'provider' as const,
  id: 'anthropic.web_search' as const,
  args: { maxUses: 3 },
  isProviderExecuted: true as const,
  supportsDeferredResults: true,
  inputSchema: jsonSchema<object>({ type: 'object' }),
  outputSchema: jsonSchema<object>({ type: 'object' }),
}

describe('serializable tools', () => {
  test('8.8 #1, #2: every declared field survives JSON, and no function does', async () => {
    const definitions = await serializeToolSet({ book, search })
    const stored = JSON.parse(JSON.stringify(definitions)) as typeof definitions
    expect(stored).toEqual(definitions)
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string' },
        nights: { type: 'integer', default: 1, minimum: 1 },
      },
    }
    expect(stored['book']).toMatchObject({
      name: 'book',
      description: 'Books.',
      title: 'Booking',
      strict: true,
      parameters: schema,
      inputSchema: schema,
      inputExamples: [{ input: { city: 'Paris', nights: 2 } }],
      providerMetadata: { anthropic: { eagerInput: true } },
      needsApproval: true,
    })
    expect(stored['search']).toMatchObject({
      type: 'provider',
      id: 'anthropic.web_search',
      args: { maxUses: 3 },
      providerExecuted: true,
      isProviderExecuted: true,
      supportsDeferredResults: true,
    })
    const again = await serializeToolSet(resolveSerializableTools(stored))
    expect(again).toEqual(definitions)
  })

  test('resolved tools serve an agent: what fits is the client to run, what does not goes back to the model', async () => {
    const { needsApproval: _asked, ...plain } = book
    const tools = resolveSerializableTools(await serializeToolSet({ book: plain }))
    const model = scriptedModel(
      [toolCall('book', { nights: 0 }, 'bad'), finish('tool-calls')],
      [toolCall('book', { city: 'Paris' }, 'good'), finish('tool-calls')],
    )
    const agent = new WorkflowAgent({ model, tools })
    const result = await agent.stream({ prompt: 'go', writable: new WritableStream() })
    expect(result.steps[0]?.toolCalls).toMatchObject([{ invalid: true }])
    expect(result.clientToolCalls).toMatchObject([{ input: { city: 'Paris', nights: 1 } }])
  })

  test('8.8 #3, #4: defaults are filled in before the check, and given; the input stays', async () => {
    const definition = (await serializeToolSet({ book }))['book'] ?? {}
    const input = { city: 'Paris' }
    expect(validateSerializableToolInput(definition, input)).toEqual({ city: 'Paris', nights: 1 })
    expect(input).toEqual({ city: 'Paris' })
    expect(() => validateSerializableToolInput(definition, { nights: 2 })).toThrow(
      /^workflow: invalid input for book: \$\.city: is required/,
    )
    expect(() => validateSerializableToolInput({ parameters: { type: 'string' } }, 1)).toThrow(
      /^workflow: invalid input for tool: \$: /,
    )
    expect(validateSerializableToolInput({}, { any: 'thing' })).toEqual({ any: 'thing' })
  })

  test('formats, nested defaults, and a schema that is none', () => {
    const inputSchema = {
      type: 'object',
      properties: {
        mail: { type: 'string', format: 'email' },
        inner: { type: 'object', default: {}, properties: { deep: { default: 'yes' } } },
      },
    }
    expect(validateSerializableToolInput({ inputSchema }, { inner: {} })).toEqual({
      inner: { deep: 'yes' },
    })
    expect(() => validateSerializableToolInput({ inputSchema }, { mail: 'nobody' })).toThrow(
      expect.objectContaining({ code: 'tool_input_invalid' }),
    )
    expect(() => validateSerializableToolInput({ inputSchema: { type: 'nothing' } }, 1)).toThrow(
      expect.objectContaining({ code: 'schema_invalid' }),
    )
  })

  test('schemas to JSON and back', async () => {
    expect(await marshalSchema(null)).toBeNull()
    const plain = { type: 'object', properties: { a: { type: 'string' } } }
    expect(await marshalSchema(plain)).toEqual(plain)
    expect(await marshalSchema(jsonSchema(plain as never))).toEqual(plain)
    expect(await marshalSchema(z.object({ a: z.string() }))).toMatchObject(plain)
    expect(unmarshalSchema(plain)).toEqual(plain)
  })
})
