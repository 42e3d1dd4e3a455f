// The fields of the settings' tables, hooks and aliases: cases of section 8.2 and 8.3 by their numbers.
import { describe, expect, test } from 'vitest'
import { smoothStream, tool } from 'ai'
import { z } from 'zod'
import { WorkflowAgent } from '@holdfast/agent'
import type { PartTransform } from '@holdfast/agent'
import { collector } from './support/collect.ts'
import { finish, scriptedModel, text, toolCall } from './support/scripted-model.ts'

const echo = tool({ inputSchema: z.object({ word: z.string() }), execute: ({ word }) => word })
const other = tool({ inputSchema: z.object({}), execute: () => 'other' })
const tools = { echo, other }
const words = () => scriptedModel([...text('Hello there. '), finish()])

/** Lets every text through in capitals. */
const shouting: PartTransform = () =>
  new TransformStream({
    transform(part, controller) {
      controller.enqueue(
        part.type === 'text-delta' ? { ...part, text: part.text.toUpperCase() } : part,
      )
    },
  })

describe('older names', () => {
  test('8.2 #8, #9: the newer name wins over its alias; at each level one of them is called', async () => {
    const told: string[] = []
    const tell = (name: string) => () => void told.push(name)
    const agent = new WorkflowAgent({
      model: words(),
      onStepEnd: tell('agent onStepEnd'),
      onStepFinish: tell('agent onStepFinish'),
      onFinish: tell('agent onFinish'),
      experimental_onStart: tell('agent onStart'),
      experimental_onStepStart: tell('agent onStepStart'),
    })
    await agent.stream({
      prompt: 'go',
      writable: new WritableStream(),
      onStepFinish: tell('call onStepFinish'),
      onEnd: tell('call onEnd'),
      onFinish: tell('call onFinish'),
    })
    expect(told).toEqual([
      'agent onStart',
      'agent onStepStart',
      'agent onStepEnd',
      'call onStepFinish',
      'agent onFinish',
      'call onEnd',
    ])
  })

  test('system is instructions, at the agent and at the call', async () => {
    const model = scriptedModel([...text('a'), finish()], [...text('b'), finish()])
    const agent = new WorkflowAgent({ model, system: 'Of the agent.' })
    await agent.stream({ prompt: 'go', writable: new WritableStream() })
    await agent.stream({ prompt: 'go', writable: new WritableStream(), system: 'Of the call.' })
    expect(model.doStreamCalls.map(({ prompt }) => prompt[0])).toMatchObject([
      { role: 'system', content: 'Of the agent.' },
      { role: 'system', content: 'Of the call.' },
    ])
  })

  test('8.2 #25: repairToolCall wins over experimental_repairToolCall', async () => {
    const asked: string[] = []
    const model = scriptedModel([toolCall('ecko', { word: 'x' }), finish('tool-calls')], text('ok'))
    const agent = new WorkflowAgent({
      model,
      tools,
      repairToolCall: ({ toolCall: call }) => {
        asked.push('newer')
        return { ...call, toolName: 'echo' }
      },
      experimental_repairToolCall: () => void asked.push('older'),
    })
    const { steps } = await agent.stream({ prompt: 'go', writable: new WritableStream() })
    expect(asked).toEqual(['newer'])
    expect(steps[0]?.toolResults).toMatchObject([{ output: 'x' }])
  })
})

describe('hooks', () => {
  test('8.2 #27 to #29: prepareCall sees and replaces; the initial values stay what they were', async () => {
    const seen: unknown[] = []
    const model = scriptedModel([toolCall('echo', { word: 'x' }), finish('tool-calls')], text('ok'))
    const agent = new WorkflowAgent({
      model,
      tools,
      instructions: 'First.',
      timeout: { stepMs: 60_000 },
      maxRetries: 1,
      callOptionsSchema: z.object({ mood: z.string().default('calm') }),
      prepareCall: ({ stopWhen, timeout, maxRetries, download, options }) => {
        seen.push([stopWhen, timeout, maxRetries, typeof download, options])
        return { activeTools: ['echo'], instructions: 'Second.', headers: { 'x-mine': '1' } }
      },
      prepareStep: ({ initialInstructions, initialMessages, instructions, stepNumber, usage }) => {
        seen.push([initialInstructions, initialMessages.length, instructions, stepNumber])
        return { maxOutputTokens: usage.totalTokens ?? 7 }
      },
    })
    await agent.stream({
      prompt: 'go',
      writable: new WritableStream(),
      options: {},
      download: () => [],
    })
    expect(seen).toEqual([
      [undefined, { stepMs: 60_000 }, 1, 'function', { mood: 'calm' }],
      ['First.', 1, 'Second.', 0],
      ['First.', 1, 'Second.', 1],
    ])
    const [first, second] = model.doStreamCalls
    expect(first?.tools?.map(({ name }) => name)).toEqual(['echo'])
    expect([first?.maxOutputTokens, second?.maxOutputTokens]).toEqual([7, 15])
    // 8.2 #23
    expect(first?.headers).toMatchObject({
      'x-mine': '1',
      'user-agent': expect.stringContaining('ai-sdk-agent/workflow') as string,
    })
  })

  test('options that do not fit their schema fail the call', async () => {
    const callOptionsSchema = z.object({ mood: z.string() })
    const agent = new WorkflowAgent({ model: words(), callOptionsSchema })
    await expect(agent.generate({ prompt: 'go', options: { mood: 1 } })).rejects.toMatchObject({
      code: 'arguments_invalid',
      details: { field: 'options' },
    })
  })

  test('filterActiveTools is asked before every step, in front of the names', async () => {
    const asked: number[] = []
    const model = scriptedModel([toolCall('echo', { word: 'x' }), finish('tool-calls')], text('ok'))
    const agent = new WorkflowAgent({
      model,
      tools,
      filterActiveTools: ({ stepNumber, tools: given }) => {
        asked.push(stepNumber)
        return stepNumber === 0 ? { echo: given.echo } : {}
      },
    })
    await agent.stream({ prompt: 'go', writable: new WritableStream() })
    expect(asked).toEqual([0, 1])
    expect(model.doStreamCalls.map((call) => call.tools?.length)).toEqual([1, undefined])
  })

  test('refineToolInput changes the input that tool, history and reader get', async () => {
    const model = scriptedModel([toolCall('echo', { word: 'x' }), finish('tool-calls')], text('ok'))
    const refineToolInput = { echo: ({ word }: { word: string }) => ({ word: `${word}!` }) }
    const agent = new WorkflowAgent({ model, tools, refineToolInput })
    const out = collector()
    const { steps } = await agent.stream({ prompt: 'go', writable: out.writable })
    expect(steps[0]?.toolResults).toMatchObject([{ input: { word: 'x!' }, output: 'x!' }])
    expect(out.parts).toContainEqual(
      expect.objectContaining({ type: 'tool-call', input: { word: 'x!' } }),
    )
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt)).toContain('x!')
  })
})

describe('transforms', () => {
  test('8.3 #1: change what writables and live streams get, and not what is recorded', async () => {
    const agent = new WorkflowAgent({ model: words() })
    const out = collector()
    const options = { prompt: 'go', experimental_transform: shouting }
    const { text: said } = await agent.stream({ ...options, writable: out.writable })
    const shown = out.parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('')
    expect([shown, said]).toEqual(['HELLO THERE. ', 'Hello there. '])
    const live = await new WorkflowAgent({ model: words() }).stream(options)
    const deltas: string[] = []
    for await (const delta of live.textStream) deltas.push(delta)
    expect([deltas.join(''), await live.text]).toEqual(['HELLO THERE. ', 'Hello there. '])
  })

  test("AI SDK's smoothStream, several in order, and what is held back comes before the tool's result", async () => {
    const model = scriptedModel(
      [...text('one two'), toolCall('echo', { word: 'x' }), finish('tool-calls')],
      text('ok'),
    )
    const out = collector()
    await new WorkflowAgent({ model, tools }).stream({
      prompt: 'go',
      writable: out.writable,
      experimental_transform: [smoothStream({ delayInMs: null }), shouting],
    })
    const types = out.types()
    expect(types.lastIndexOf('text-delta')).toBeGreaterThan(0)
    expect(types.indexOf('text-end')).toBeLessThan(types.indexOf('tool-call'))
    expect(types.indexOf('tool-call')).toBeLessThan(types.indexOf('tool-result'))
    const shown = out.parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('')
    expect(shown).toBe('ONE TWOOK')
  })

  test('stopStream ends the model call with what came until then', async () => {
    const stopping: PartTransform = ({ stopStream }) =>
      new TransformStream({
        transform(part, controller) {
          controller.enqueue(part)
          if (part.type === 'text-delta') stopStream()
        },
      })
    const out = collector()
    const result = await new WorkflowAgent({ model: words() }).stream({
      prompt: 'go',
      writable: out.writable,
      experimental_transform: stopping,
    })
    expect(result.text.length).toBeLessThan('Hello there. '.length)
    expect(result).toMatchObject({ finishReason: 'other' })
    expect(out.isClosed()).toBe(true)
  })

  test('one that throws fails the call, and the stream closes', async () => {
    const broken: PartTransform = () =>
      new TransformStream({
        transform() {
          throw new Error('broken')
        },
      })
    const out = collector()
    const stream = new WorkflowAgent({ model: words(), maxRetries: 0 }).stream({
      prompt: 'go',
      writable: out.writable,
      experimental_transform: broken,
    })
    const result = await stream
    expect(result.error).toMatchObject({ message: 'broken' })
    expect(out.isClosed()).toBe(true)
  })
})

describe('what is shown and kept', () => {
  const thinking = () =>
    scriptedModel(
      [
        { type: 'reasoning-start', id: 'r' },
        { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
        { type: 'reasoning-end', id: 'r', providerMetadata: { p: { signature: 's' } } },
        { type: 'raw', rawValue: { chunk: 1 } },
        toolCall('echo', { word: 'x' }),
        finish('tool-calls'),
      ],
      text('ok'),
    )

  test('sendReasoning: false hides it from readers; the next model call has it with its signature', async () => {
    const model = thinking()
    const out = collector()
    const agent = new WorkflowAgent({ model, tools, sendReasoning: false })
    const { steps } = await agent.stream({ prompt: 'go', writable: out.writable })
    expect(out.types().filter((type) => type.startsWith('reasoning'))).toEqual([])
    expect(steps[0]?.reasoningText).toBe('Hm.')
    expect(model.doStreamCalls[1]?.prompt[1]?.content[0]).toMatchObject({
      type: 'reasoning',
      providerOptions: { p: { signature: 's' } },
    })
  })

  test('include: what is large is kept only where it is asked for', async () => {
    const plain = await new WorkflowAgent({ model: thinking(), tools }).stream({
      prompt: 'go',
      writable: new WritableStream(),
    })
    expect(plain.steps[0]?.request).toEqual({})
    const model = thinking()
    const kept = await new WorkflowAgent({ model, tools }).stream({
      prompt: 'go',
      writable: new WritableStream(),
      include: { requestMessages: true, rawChunks: true },
    })
    expect(kept.steps[0]?.request.messages).toEqual([{ role: 'user', content: 'go' }])
    expect(model.doStreamCalls[0]?.includeRawChunks).toBe(true)
  })

  test('8.2 #27: files that the model cannot fetch are downloaded; private addresses are refused', async () => {
    const model = words()
    const image = { type: 'image' as const, image: new URL('https://cdn.example/a.png') }
    const messages = [{ role: 'user' as const, content: [image] }]
    const asked: unknown[] = []
    await new WorkflowAgent({ model }).stream({
      messages,
      writable: new WritableStream(),
      download: (requests) => {
        asked.push(...requests)
        return [{ data: new Uint8Array([1]), mediaType: 'image/png' }]
      },
    })
    expect(asked).toEqual([{ url: image.image, isUrlSupportedByModel: false }])
    expect(model.doStreamCalls[0]?.prompt[0]?.content[0]).toMatchObject({
      mediaType: 'image/png',
      data: { type: 'data', data: new Uint8Array([1]) },
    })
    const inside = new URL('http://169.254.169.254/latest/meta-data')
    await expect(
      new WorkflowAgent({ model: words() }).stream({
        messages: [{ role: 'user', content: [{ type: 'image', image: inside }] }],
        writable: new WritableStream(),
      }),
    ).rejects.toThrow(/169\.254\.169\.254/)
  })
})
