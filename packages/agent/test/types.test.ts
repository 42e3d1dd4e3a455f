// What the compiler knows: checked by the type check, and run so that the expressions are real.
import { expectTypeOf, test } from 'vitest'
import { isStepCount as isStepCountOfTheirs, tool } from 'ai'
import type { Agent, GenerateTextResult, StreamTextResult } from 'ai'
import { z } from 'zod'
import { hasToolCall, isStepCount, Output, WorkflowAgent } from '@holdfast/agent'
import type { OutputSpecification, WorkflowAgentLiveResult } from '@holdfast/agent'
import { finish, scriptedModel, text } from './support/scripted-model.ts'

const weather = tool({
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, degrees: 21 }),
})
const count = tool({ inputSchema: z.object({ upTo: z.number() }), execute: ({ upTo }) => upTo })
const tools = { weather, count }
const model = () => scriptedModel([...text('{"ok": true}'), finish()])

test('results, hooks and callbacks follow the tools', async () => {
  const agent = new WorkflowAgent({
    model: model(),
    tools,
    activeTools: ['weather'],
    toolChoice: { type: 'tool', toolName: 'count' },
    stopWhen: [isStepCount(3), hasToolCall('count'), isStepCountOfTheirs(4)],
    timeout: { tools: { weather: 1_000 } },
    prepareStep: ({ steps }) => {
      for (const call of steps[0]?.toolCalls ?? []) {
        if (call.dynamic === true) continue
        if (call.toolName === 'weather') expectTypeOf(call.input).toEqualTypeOf<{ city: string }>()
      }
      return { activeTools: ['count'] }
    },
    onToolExecutionStart: ({ toolCall }) => {
      if (toolCall.dynamic !== true && toolCall.toolName === 'count') {
        expectTypeOf(toolCall.input).toEqualTypeOf<{ upTo: number }>()
      }
    },
    onStepEnd: ({ toolResults }) => {
      for (const result of toolResults) {
        if (result.dynamic === true || result.toolName !== 'weather') continue
        expectTypeOf(result.output).toEqualTypeOf<{ city: string; degrees: number }>()
      }
    },
  })
  expectTypeOf(agent.tools).toEqualTypeOf(tools)
  const result = await agent.stream({ prompt: 'go', writable: new WritableStream() })
  expectTypeOf(result.output).toEqualTypeOf<string>()
  expectTypeOf(result.steps[0]?.staticToolCalls[0]?.toolName).toEqualTypeOf<
    'weather' | 'count' | undefined
  >()
})

test('names of tools that are not there are refused', () => {
  // @ts-expect-error no such tool
  void new WorkflowAgent({ model: model(), tools, activeTools: ['wether'] })
  // @ts-expect-error no such tool
  void new WorkflowAgent({ model: model(), tools, toolChoice: { type: 'tool', toolName: 'sum' } })
  // @ts-expect-error no such tool
  void new WorkflowAgent({ model: model(), tools, prepareStep: () => ({ activeTools: ['sum'] }) })
})

test('output has the type of its specification, of the agent or of the call', async () => {
  const output = Output.object({ schema: z.object({ ok: z.boolean() }) })
  const agent = new WorkflowAgent({ model: model(), output })
  const live = await agent.stream({ prompt: 'go' })
  expectTypeOf(live).toEqualTypeOf<WorkflowAgentLiveResult<typeof agent.tools, typeof output>>()
  expectTypeOf(await live.output).toEqualTypeOf<{ ok: boolean }>()
  const plain = new WorkflowAgent({ model: model(), tools })
  const called = await plain.stream({ prompt: 'go', writable: new WritableStream(), output })
  expectTypeOf(called.output).toEqualTypeOf<{ ok: boolean }>()
  const choice = Output.choice({ options: ['yes', 'no'] as const })
  expectTypeOf(choice).toEqualTypeOf<OutputSpecification<'yes' | 'no', 'yes' | 'no', never>>()
  const list = Output.array({ element: z.number() })
  expectTypeOf(list).toEqualTypeOf<OutputSpecification<number[], number[], number>>()
})

test("an agent and its results are AI SDK's", () => {
  const agent = new WorkflowAgent({ model: model(), tools })
  expectTypeOf(agent).toExtend<Agent<never, typeof tools, Record<string, unknown>>>()
  type Generated = Awaited<ReturnType<typeof agent.generate>>
  expectTypeOf<Generated>().toExtend<
    GenerateTextResult<typeof tools, Record<string, unknown>, never>
  >()
  type Live = WorkflowAgentLiveResult<typeof tools>
  expectTypeOf<Live>().toExtend<StreamTextResult<typeof tools, Record<string, unknown>, never>>()
})

test('a tool that needs a context makes the agent need one', () => {
  const contextual = tool({
    inputSchema: z.object({}),
    contextSchema: z.object({ key: z.string() }),
    execute: (_input, { context }) => context.key,
  })
  // @ts-expect-error the context is missing
  void new WorkflowAgent({ model: model(), tools: { contextual } })
  const toolsContext = { contextual: { key: 'k' } }
  void new WorkflowAgent({ model: model(), tools: { contextual }, toolsContext })
})
