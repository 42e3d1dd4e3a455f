import { generateText, isStepCount, streamText, ToolLoopAgent } from 'ai'
import type { ToolSet } from 'ai'
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest'
import { agentWorkflow, WorkflowAgent } from '@holdfast/agent'
import type { HoldfastError, InvokableTool, ToolInvocation } from '@holdfast/core'
import { createEngine } from '@holdfast/engine'
import { createMemoryStore } from '@holdfast/store-memory'
import { toAiSdkTools, toFunctionDefinitions } from '../src/ai-sdk.ts'
import { workflowToolNames } from '../src/index.ts'
import { asking, question } from './support/questions.ts'
import { scriptedModel } from './support/scripted-model.ts'
import { createSession, sessionOne } from './support/session.ts'

const startCounter = {
  toolName: 'workflow_run_start',
  input: '{"definition_name":"counter_flow","definition_version":"v1","input":{"count":1}}',
}
const listRuns = { toolName: 'workflow_run_list', input: '' }

/** What each tool call led to: its output, or its error's message. */
function outcomes(steps: readonly { readonly content: readonly object[] }[]): readonly unknown[] {
  return steps
    .flatMap(({ content }) => content)
    .flatMap((part) => {
      if ('type' in part && part.type === 'tool-result' && 'output' in part) return [part.output]
      if ('type' in part && part.type === 'tool-error' && 'error' in part) {
        return [part.error instanceof Error ? part.error.message : part.error]
      }
      return []
    })
}

test('is a tool set of the SDK', () => {
  const tools = toAiSdkTools(createSession().tools)
  expectTypeOf(tools).toExtend<ToolSet>()
  expectTypeOf(toAiSdkTools).parameter(0).toExtend<readonly InvokableTool[]>()
  expect(Object.keys(tools)).toEqual([...workflowToolNames])
})

test('generateText: the model is told of the schemas, and its calls act on the session', async () => {
  const session = createSession()
  const model = scriptedModel([startCounter], [listRuns])
  const { steps, text } = await generateText({
    model,
    tools: toAiSdkTools(session.tools),
    prompt: 'count',
    stopWhen: isStepCount(5),
  })
  expect(text).toBe('done')
  const [started, listed] = outcomes(steps)
  expect(started).toMatchObject({ definition_name: 'counter_flow', run_status: 'pending' })
  expect(listed).toMatchObject({ runs: [started] })
  const told = model.doGenerateCalls[0]?.tools
  expect(told?.map((tool) => tool.name)).toEqual([...workflowToolNames])
  for (const tool of session.tools) {
    const { name, description, inputSchema } = tool.info()
    expect(told).toContainEqual(
      expect.objectContaining({ type: 'function', name, description, inputSchema }),
    )
  }
})

test('streamText and ToolLoopAgent: the same', async () => {
  const session = createSession()
  const tools = toAiSdkTools(session.tools)
  const streamed = streamText({
    model: scriptedModel([startCounter], [listRuns]),
    tools,
    prompt: 'count',
    stopWhen: isStepCount(5),
  })
  const [started, listed] = outcomes(await streamed.steps)
  expect(listed).toMatchObject({ runs: [started] })
  const agent = new ToolLoopAgent({ model: scriptedModel([listRuns]), tools })
  const { steps } = await agent.generate({ prompt: 'what is running?' })
  expect(outcomes(steps)).toEqual([{ runs: [started] }])
})

test('our agent: the same, in memory', async () => {
  const session = createSession()
  const tools = toAiSdkTools(session.tools)
  const agent = new WorkflowAgent({ model: scriptedModel([startCounter], [listRuns]), tools })
  const { steps, text } = await agent.generate({ prompt: 'count' })
  expect(text).toBe('done')
  const [started, listed] = outcomes(steps)
  expect(started).toMatchObject({ definition_name: 'counter_flow' })
  expect(listed).toMatchObject({ runs: [started] })
})

test('our agent in a durable run: its own run is known, and one call starts one run', async () => {
  const seen: ToolInvocation[] = []
  const session = createSession()
  const watched = session.tools.map((tool) => ({
    ...tool,
    invoke(text: string, invocation?: ToolInvocation) {
      seen.push(invocation ?? {})
      return tool.invoke(text, invocation)
    },
  }))
  const store = createMemoryStore()
  const model = scriptedModel([startCounter, { toolName: 'workflow_run_cancel', input: '{}' }])
  const chat = agentWorkflow({
    name: 'counting_agent',
    version: 'v1',
    description: 'Counts.',
    conversation: {
      turns: async () => [
        {
          messageId: 'm1',
          message: { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'count' }] },
          runId: sessionOne,
          status: 'running' as const,
        },
      ],
    },
    agent: new WorkflowAgent({ model, tools: toAiSdkTools(watched) }),
  })
  const engine = createEngine({ store, definitions: [chat] })
  onTestFinished(async () => {
    await engine.close()
    await store.close()
  })
  const run = await engine.session(sessionOne).start(chat, { chatId: 'c1', messageId: 'm1' })
  await run.result()
  expect(seen).toHaveLength(2)
  expect(seen.map(({ callerRunId }) => callerRunId)).toEqual([run.id, run.id])
  const [first, second] = seen.map(({ idempotencyKey }) => idempotencyKey)
  expect(first).toBeTypeOf('string')
  expect(second).not.toBe(first)
  expect(await session.call('workflow_run_list', {})).toMatchObject({ runs: [{}] })
  // What a crash would do: the same call with the same key.
  const { toolName, input } = startCounter
  const again = seen[0] ?? {}
  await session.tool(toolName as 'workflow_run_start').invoke(input, again)
  expect((await session.store.runs(sessionOne)).items).toHaveLength(1)
})

describe('a failure', () => {
  test('is a tool error in words for the model, and told to the host with its cause', async () => {
    const session = createSession()
    const onError = vi.fn<(error: HoldfastError, call: object) => void>()
    const runId = '00000000-0000-7000-8000-0000000000ff'
    const { steps } = await generateText({
      model: scriptedModel(
        [{ toolName: 'workflow_run_get', input: JSON.stringify({ run_id: runId }) }],
        [{ toolName: 'workflow_run_get', input: '{"unexpected":true}' }],
      ),
      tools: toAiSdkTools(session.tools, { onError }),
      prompt: 'look',
      stopWhen: isStepCount(3),
    })
    expect(outcomes(steps)).toEqual([
      `run_not_found: No run ${runId} in this session. workflow_run_list shows the runs of this session.`,
      'arguments_invalid: Invalid arguments: unknown field "unexpected". ' +
        "Send what the tool's schema asks for, and nothing else.",
    ])
    expect(onError.mock.calls.map(([error, call]) => [error.code, call])).toEqual([
      ['run_not_found', { toolName: 'workflow_run_get', toolCallId: 'call-1-0' }],
      ['arguments_invalid', { toolName: 'workflow_run_get', toolCallId: 'call-2-0' }],
    ])
  })

  test('of a foreign kind does not show its words', async () => {
    const failing = new Error('postgres://user:password@db')
    const tool: InvokableTool = {
      info: () => createSession().tool('workflow_run_get').info(),
      invoke: () => Promise.reject(failing),
    }
    const onError = vi.fn<(error: HoldfastError) => void>()
    const { steps } = await generateText({
      model: scriptedModel([{ toolName: 'workflow_run_get', input: '{}' }]),
      tools: toAiSdkTools([tool], { onError }),
      prompt: 'look',
      stopWhen: isStepCount(3),
    })
    expect(outcomes(steps)).toEqual(['internal: The tool failed. Do not try again; tell the user.'])
    expect(onError.mock.calls[0]?.[0].cause).toBe(failing)
  })
})

test('a scripted model can neither answer for a person nor act on the run it runs in', async () => {
  const session = createSession({ extensions: true })
  const own = await asking(session, question('q0'))
  const asked = await asking(session, question('q1', { answer: 'person' }))
  const answer = (run_id: string, more = {}) => ({
    toolName: 'workflow_run_resume',
    input: JSON.stringify({ run_id, resume: { approved: true }, ...more }),
  })
  const cancel = (run_id: string) => ({
    toolName: 'workflow_run_cancel',
    input: JSON.stringify({ run_id, reason: 'I want to' }),
  })
  const start = (definition_name: string) => ({
    toolName: 'workflow_run_start',
    input: JSON.stringify({ definition_name, definition_version: 'v1', input: {} }),
  })
  const { steps } = await generateText({
    model: scriptedModel(
      [answer(asked), answer(asked, { interrupt_id: 'q1' }), answer(asked, { by: 'person' })],
      [answer(own), cancel(own)],
      [start('chat_agent'), start('coding_harness')],
    ),
    tools: toAiSdkTools(session.tools, { callerRunId: own }),
    prompt: 'approve it yourself',
    stopWhen: isStepCount(9),
  })
  expect(outcomes(steps).map((text) => String(text).split(':')[0])).toEqual([
    'interrupt_needs_person',
    'interrupt_needs_person',
    'arguments_invalid',
    'own_run',
    'own_run',
    'definition_unknown',
    'definition_unknown',
  ])
  for (const runId of [own, asked]) {
    expect(await session.call('workflow_run_get', { run_id: runId })).toMatchObject({
      run_status: 'interrupted',
    })
  }
})

describe('execution options', () => {
  const execute = (tools: ToolSet, name: string, input: unknown, more = {}): unknown => {
    const run = tools[name]?.execute
    if (run === undefined) throw new Error(`${name} cannot be executed`)
    return run(input, { toolCallId: 'c', messages: [], context: {}, ...more })
  }
  const given = { definition_name: 'counter_flow', definition_version: 'v1', input: { count: 1 } }

  test('R1. a durable agent’s key makes a repeated call the same run', async () => {
    const tools = toAiSdkTools(createSession().tools)
    const options = { idempotencyKey: 'step 1, call 1' }
    const first = await execute(tools, 'workflow_run_start', given, options)
    expect(await execute(tools, 'workflow_run_start', given, options)).toEqual(first)
  })

  test('the run that executes is known from the options, and goes before the host’s', async () => {
    const session = createSession()
    const [own, other] = [await session.start(), await session.start()]
    const tools = toAiSdkTools(session.tools, { callerRunId: other })
    const stopped = execute(tools, 'workflow_run_cancel', { run_id: own }, { runId: own })
    await expect(stopped).rejects.toMatchObject({ code: 'own_run' })
    await expect(execute(tools, 'workflow_run_cancel', { run_id: other })).rejects.toMatchObject({
      code: 'own_run',
    })
  })

  test('an abort reaches the tool', async () => {
    const tools = toAiSdkTools(createSession().tools)
    const options = { abortSignal: AbortSignal.abort() }
    await expect(execute(tools, 'workflow_run_list', {}, options)).rejects.toMatchObject({
      code: 'aborted',
    })
  })

  test.each([
    [{ ...given, input: { count: 2 ** 53 } }, 'json_number_unsafe'],
    [{ ...given, input: { count: [{ deep: -1e300 }] } }, 'json_number_unsafe'],
    [{ ...given, input: { count: Number.NaN } }, 'json_unsupported_value'],
    [{ ...given, input: { count: '\ud800' } }, 'json_unicode_invalid'],
    [undefined, 'json_unsupported_value'],
  ])(
    'what may have been altered by the SDK’s parser, or is no JSON, is refused: %j',
    async (input, code) => {
      const tools = toAiSdkTools(createSession().tools)
      await expect(execute(tools, 'workflow_run_start', input)).rejects.toMatchObject({ code })
    },
  )
})

test('function definitions are plain JSON for OpenAI and Anthropic', () => {
  const { tools } = createSession()
  const [first] = tools
  const { name, description, inputSchema } = first.info()
  const openAi = toFunctionDefinitions(tools, 'openai')
  const anthropic = toFunctionDefinitions(tools, 'anthropic')
  expect(openAi.map((tool) => tool.function.name)).toEqual([...workflowToolNames])
  expect(openAi[0]).toEqual({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  })
  expect(anthropic.map((tool) => tool.name)).toEqual([...workflowToolNames])
  expect(anthropic[0]).toEqual({ name, description, input_schema: inputSchema })
})
