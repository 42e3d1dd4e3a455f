// Structured output: 8.2 #11 and what becomes of answers that do not fit.
import { describe, expect, test } from 'vitest'
import { Output as OutputOfTheirs } from 'ai'
import { z } from 'zod'
import { hasErrorCode } from '@holdfast/core'
import { agentWorkflow, Output, WorkflowAgent } from '@holdfast/agent'
import type { OutputSpecification } from '@holdfast/agent'
import { collector } from './support/collect.ts'
import { runOnEngine } from './support/engine-world.ts'
import { finish, promptedModel, scriptedModel, text } from './support/scripted-model.ts'

const city = z.object({ name: z.string(), people: z.number() })
const paris = '{"name": "Paris", "people": 2100000}'

async function partials<C, P, E>(output: OutputSpecification<C, P, E>, words: string) {
  const model = scriptedModel([...text(words), finish()])
  const result = await new WorkflowAgent({ model, output }).stream({ prompt: 'go' })
  const seen: unknown[] = []
  for await (const partial of result.partialOutputStream) seen.push(partial)
  return { seen, output: await result.output, model }
}

describe('structured output', () => {
  test('8.2 #11: an object is asked for as JSON, validated, and given', async () => {
    const model = scriptedModel([...text(paris), finish()])
    const output = Output.object({ schema: city, name: 'city', description: 'A city.' })
    const agent = new WorkflowAgent({ model, output })
    const out = collector()
    const result = await agent.stream({ prompt: 'go', writable: out.writable })
    expect(result.output).toEqual({ name: 'Paris', people: 2_100_000 })
    expect(model.doStreamCalls[0]?.responseFormat).toMatchObject({
      type: 'json',
      name: 'city',
      description: 'A city.',
      schema: { properties: { name: { type: 'string' }, people: { type: 'number' } } },
    })
  })

  test('an object grows while it is streamed', async () => {
    const { seen, output } = await partials(Output.object({ schema: city }), paris)
    expect(seen).toEqual([{}, { name: 'Paris' }, { name: 'Paris', people: 2_100_000 }])
    expect(output).toEqual(seen.at(-1))
  })

  test('a list gives complete elements only, and each once', async () => {
    const words = '{"elements": [{"name": "A", "people": 1}, {"name": "B", "people": 2}]}'
    const output = Output.array({ element: city })
    const model = scriptedModel([...text(words), finish()])
    const result = await new WorkflowAgent({ model, output }).stream({ prompt: 'go' })
    const elements: unknown[] = []
    for await (const element of result.elementStream) elements.push(element)
    expect(elements).toEqual([
      { name: 'A', people: 1 },
      { name: 'B', people: 2 },
    ])
    expect(await result.output).toEqual(elements)
  })

  test('a choice is told as soon as only one is left', async () => {
    const output = Output.choice({ options: ['sunny', 'rainy', 'snowy'] })
    const { seen, output: chosen, model } = await partials(output, '{"result": "sunny"}')
    expect(seen).toEqual(['sunny'])
    expect(chosen).toBe('sunny')
    expect(model.doStreamCalls[0]?.responseFormat).toMatchObject({
      schema: { properties: { result: { enum: ['sunny', 'rainy', 'snowy'] } } },
    })
  })

  test('any JSON and plain text', async () => {
    const { seen, output } = await partials(Output.json(), '[1, 2]')
    expect(seen.at(-1)).toEqual([1, 2])
    expect(output).toEqual([1, 2])
    const plain = await partials(Output.text(), 'one two')
    expect(plain.seen).toEqual(['one ', 'one two'])
    expect(plain.model.doStreamCalls[0]?.responseFormat).toBeUndefined()
  })

  test("AI SDK's own specifications serve as well", async () => {
    const { output } = await partials(OutputOfTheirs.object({ schema: city }), paris)
    expect(output).toEqual({ name: 'Paris', people: 2_100_000 })
  })

  test.each([
    ['no JSON', Output.object({ schema: city }), 'Paris, of course.'],
    ['another shape', Output.object({ schema: city }), '{"name": 7}'],
    ['no elements', Output.array({ element: city }), '[]'],
    ['too few', Output.array({ element: city, minItems: 1 }), '{"elements": []}'],
    ['none of the choices', Output.choice({ options: ['a', 'b'] }), '{"result": "c"}'],
  ])('what does not fit fails the call: %s', async (_name, output, words) => {
    const errors: unknown[] = []
    const script = [...text(words), finish()]
    const onError = ({ error }: { readonly error: unknown }): void => void errors.push(error)
    const specification: OutputSpecification = output
    const model = scriptedModel(script, script)
    const agent = new WorkflowAgent({ model, output: specification, onError })
    const out = collector()
    const result = await agent.stream({ prompt: 'go', writable: out.writable })
    expect(hasErrorCode(result.error, 'output_invalid')).toBe(true)
    expect(result).toMatchObject({ finishReason: 'error', text: words, output: undefined })
    expect(out.types().slice(-2)).toEqual(['error', 'finish'])
    expect(errors).toHaveLength(1)
    const live = await agent.stream({ prompt: 'go' })
    await expect(live.output).rejects.toThrow(expect.objectContaining({ code: 'output_invalid' }))
    await expect(live.text).rejects.toThrow(expect.objectContaining({ code: 'output_invalid' }))
  })

  test('a durable run keeps it, and a schema is asked once for it', async () => {
    let asked = 0
    const schema = city.refine(() => {
      asked += 1
      return true
    })
    const definition = () =>
      agentWorkflow({
        name: 'cities',
        version: 'v1',
        description: 'Knows cities.',
        agent: new WorkflowAgent({
          model: promptedModel(() => [...text(paris), finish()]),
          output: Output.object({ schema }),
        }),
      })
    const { run, output } = await runOnEngine({ definition, input: { prompt: 'go' } })
    expect(run.record.status).toBe('completed')
    expect(output).toMatchObject({ output: { name: 'Paris', people: 2_100_000 }, text: paris })
    expect(asked).toBe(1)
  })
})
