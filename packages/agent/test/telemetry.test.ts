import { describe, expect, test } from 'vitest'
import { tool } from 'ai'
import type { ToolSet } from 'ai'
import { z } from 'zod'
import type { JsonObject, Span, Telemetry } from '@holdfast/core'
import { WorkflowAgent } from '@holdfast/agent'
import type { AgentTelemetry } from '@holdfast/agent'
import { finish, scriptedModel, text, toolCall } from './support/scripted-model.ts'

interface Told {
  readonly name: string
  readonly parent: string | undefined
  readonly attributes: JsonObject
  readonly ended: unknown[]
}

function recorder(): { port: Telemetry; spans: Told[]; metrics: [string, number][] } {
  const spans: Told[] = []
  const metrics: [string, number][] = []
  const names = new Map<Span, string>()
  return {
    spans,
    metrics,
    port: {
      startSpan(name, attributes = {}, parent) {
        const told: Told = {
          name,
          parent: parent === undefined ? undefined : names.get(parent),
          attributes: { ...attributes },
          ended: [],
        }
        spans.push(told)
        const span: Span = {
          setAttributes: (more) => void Object.assign(told.attributes, more),
          end: (error) => void told.ended.push(error ?? 'well'),
        }
        names.set(span, name)
        return span
      },
      count: () => undefined,
      record: (name, value) => void metrics.push([name, value]),
    },
  }
}

const secret = 'hunter2'
const tools: ToolSet = {
  echo: tool({ inputSchema: z.object({ word: z.string() }), execute: ({ word }) => word }),
  fail: tool({
    inputSchema: z.object({}),
    execute: (): string => {
      throw new Error(`password ${secret}`)
    },
  }),
}
const model = () =>
  scriptedModel(
    [toolCall('echo', { word: secret }), toolCall('fail', {}), finish('tool-calls')],
    [...text(secret), finish()],
  )

async function told(telemetry: Omit<AgentTelemetry, 'port'>) {
  const { port, spans, metrics } = recorder()
  const agent = new WorkflowAgent({ model: model(), tools, id: 'desk' })
  const options = { prompt: secret, telemetry: { ...telemetry, port } }
  await agent.stream({ ...options, writable: new WritableStream() })
  return { spans, metrics }
}

describe('telemetry', () => {
  test('8.4 #1: spans of agent, model calls and tools, under the agent, each ended once', async () => {
    const { spans, metrics } = await told({})
    expect(spans.map(({ name, parent }) => [name, parent])).toEqual([
      ['invoke_agent desk', undefined],
      ['chat mock-model-id', 'invoke_agent desk'],
      ['execute_tool echo', 'invoke_agent desk'],
      ['execute_tool fail', 'invoke_agent desk'],
      ['chat mock-model-id', 'invoke_agent desk'],
    ])
    expect(spans.map(({ ended }) => ended.length)).toEqual([1, 1, 1, 1, 1])
    expect(spans[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.usage.input_tokens': 20,
    })
    expect(spans[1]?.attributes).toMatchObject({
      'gen_ai.request.model': 'mock-model-id',
      'gen_ai.response.finish_reasons': ['tool-calls'],
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 2,
    })
    expect(metrics.filter(([name]) => name === 'gen_ai.client.token.usage')).toHaveLength(4)
    expect(metrics.filter(([name]) => name === 'gen_ai.client.operation.duration')).toHaveLength(5)
  })

  test('content is told only where it is asked for, and the text of errors never', async () => {
    const quiet = await told({})
    expect(JSON.stringify(quiet.spans)).not.toContain(secret)
    expect(String(quiet.spans[3]?.ended[0])).not.toContain(secret)
    expect(quiet.spans[3]?.attributes['error.type']).toBe('Error')
    const inputs = await told({ recordInputs: true })
    expect(inputs.spans[1]?.attributes['gen_ai.input.messages']).toContain(secret)
    expect(inputs.spans[2]?.attributes['gen_ai.tool.call.result']).toBeUndefined()
    const outputs = await told({ recordOutputs: true })
    expect(outputs.spans[2]?.attributes['gen_ai.tool.call.result']).toContain(secret)
    expect(outputs.spans[4]?.attributes['gen_ai.output.messages']).toContain(secret)
  })

  test('8.2 #7: telemetry of a call replaces the agent, and can be off', async () => {
    const ours = recorder()
    const theirs = recorder()
    const agent = new WorkflowAgent({
      model: scriptedModel([...text('a'), finish()], [...text('b'), finish()]),
      telemetry: { port: ours.port },
    })
    const writable = () => new WritableStream()
    await agent.stream({ prompt: 'go', writable: writable(), telemetry: { port: theirs.port } })
    expect([ours.spans.length, theirs.spans.length]).toEqual([0, 2])
    const off = { port: ours.port, isEnabled: false }
    await agent.stream({ prompt: 'go', writable: writable(), telemetry: off })
    expect([ours.spans.length, ours.metrics.length]).toEqual([0, 0])
  })

  test('a model that fails ends its span and the agent span as failed', async () => {
    const { port, spans } = recorder()
    const failing = scriptedModel(() => Promise.reject(new Error(secret)))
    await new WorkflowAgent({ model: failing, telemetry: { port } }).stream({
      prompt: 'go',
      writable: new WritableStream(),
    })
    expect(spans.map(({ attributes }) => attributes['error.type'])).toEqual([
      'model_failed',
      'model_failed',
    ])
    expect(spans.map(({ ended }) => ended.length)).toEqual([1, 1])
  })
})
