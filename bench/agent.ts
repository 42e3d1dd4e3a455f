// The agent's loop with a scripted model that answers at once, in memory and beside AI SDK's own.
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { isStepCount, ToolLoopAgent, jsonSchema, tool } from 'ai'
import { isStepCount as isStepCountOfOurs, WorkflowAgent } from '@holdfast/agent'
import { report, row } from './measure.ts'
import type { Report } from './measure.ts'

const rounds = 3
const toolSteps = 10
const words = 5_000

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}

/** A model that calls a tool so many times and then says so many words. */
function scriptedModel(calls: number, said: number): LanguageModelV4 {
  const parts = (done: number): LanguageModelV4StreamPart[] =>
    done < calls
      ? [
          { type: 'stream-start', warnings: [] },
          { type: 'tool-call', toolCallId: `call_${done}`, toolName: 'look', input: '{}' },
          { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
        ]
      : [
          { type: 'stream-start', warnings: [] },
          { type: 'text-start', id: 'text' },
          ...Array.from({ length: said }, () => ({
            type: 'text-delta' as const,
            id: 'text',
            delta: 'word ',
          })),
          { type: 'text-end', id: 'text' },
          { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
        ]
  return {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('streams only')),
    async doStream({ prompt }) {
      const done = prompt.filter(({ role }) => role === 'tool').length
      return { stream: streamOf(parts(done)) }
    },
  }
}

function streamOf(
  parts: readonly LanguageModelV4StreamPart[],
): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
}

const tools = {
  look: tool({
    description: 'Looks.',
    inputSchema: jsonSchema<object>({ type: 'object', additionalProperties: false }),
    execute: () => 'seen',
  }),
}

export async function run(): Promise<Report> {
  const loop: number[] = []
  const chunks: number[] = []
  await round()
  for (let index = 0; index < rounds; index += 1) {
    const figures = await round()
    loop.push(figures.loop)
    chunks.push(figures.chunks)
  }
  return report('agent', [
    row('ten-step-tool-loop-against-ai', 'ratio', loop, { atLeast: 3 }),
    row('text-chunks-to-ui-chunks-against-ai', 'ratio', chunks, { atLeast: 5 }),
  ])
}

async function round(): Promise<{ readonly loop: number; readonly chunks: number }> {
  const loopOfTheirs = await rate(200, () => theirs(scriptedModel(toolSteps, 1)))
  const loopOfOurs = await rate(200, () => ours(scriptedModel(toolSteps, 1)))
  const chunksOfTheirs = await rate(10, () => theirs(scriptedModel(0, words)))
  const chunksOfOurs = await rate(10, () => ours(scriptedModel(0, words)))
  return { loop: loopOfOurs / loopOfTheirs, chunks: chunksOfOurs / chunksOfTheirs }
}

async function ours(model: LanguageModelV4): Promise<void> {
  const agent = new WorkflowAgent({ model, tools, stopWhen: isStepCountOfOurs(toolSteps + 1) })
  await agent.stream({ prompt: 'go', writable: new WritableStream() })
}

async function theirs(model: LanguageModelV4): Promise<void> {
  const agent = new ToolLoopAgent({ model, tools, stopWhen: isStepCount(toolSteps + 1) })
  const result = await agent.stream({ prompt: 'go' })
  for await (const chunk of result.toUIMessageStream()) void chunk
}

/** How often a second. */
async function rate(times: number, work: () => Promise<void>): Promise<number> {
  const before = performance.now()
  for (let index = 0; index < times; index += 1) await work()
  return (times / (performance.now() - before)) * 1_000
}
