import { describe, expect, test } from 'vitest'
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { dynamicTool, tool } from 'ai'
import { z } from 'zod'
import { HoldfastError } from '@holdfast/core'
import type { JsonValue } from '@holdfast/core'
import { createManualSystem, createRecordingLog } from '@holdfast/testing'
import { toUIMessageChunk, WorkflowAgent } from '@holdfast/agent'
import type { WorkflowAgentOptions } from '@holdfast/agent'
import { collector } from './support/collect.ts'
import type { PartCollector } from './support/collect.ts'
import { FakeRun } from './support/fake-run.ts'
import { orderWorkflow } from './support/order-agent.ts'
import { chunkTypes, rendered } from './support/rendered.ts'
import { finish, scriptedModel, text, toolCall } from './support/scripted-model.ts'

/** Runs one step with these calls, then an answer of words. */
async function calling(
  calls: readonly LanguageModelV4StreamPart[],
  options: Omit<WorkflowAgentOptions, 'model'>,
): Promise<{
  readonly out: PartCollector
  readonly result: Awaited<ReturnType<WorkflowAgent['stream']>>
  readonly prompt: unknown
}> {
  const model = scriptedModel([...calls, finish('tool-calls')], [...text('done'), finish()])
  const agent = new WorkflowAgent({ model, ...options })
  const out = collector()
  const result = await agent.stream({ prompt: 'go', writable: out.writable })
  return { out, result, prompt: model.doStreamCalls[1]?.prompt.at(-1) }
}

describe('tools of a step', () => {
  test('run at once up to the limit; results are emitted as they come, told in model order', async () => {
    let running = 0
    let most = 0
    let endFirst: () => void = () => undefined
    const fifthRan = new Promise<void>((resolve) => {
      endFirst = resolve
    })
    const slow = tool({
      inputSchema: z.object({ n: z.number() }),
      execute: async ({ n }) => {
        running += 1
        most = Math.max(most, running)
        if (n === 5) endFirst()
        await (n === 1 ? fifthRan : Promise.resolve())
        running -= 1
        return n
      },
    })
    const numbers = [1, 2, 3, 4, 5]
    const { out, prompt } = await calling(
      numbers.map((n) => toolCall('slow', { n }, `c${n}`)),
      { tools: { slow }, toolCallConcurrency: 2 },
    )
    expect(most).toBe(2)
    const emitted = out.parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : []))
    expect(emitted.slice(0, 3)).toEqual([2, 3, 4])
    expect(new Set(emitted)).toEqual(new Set(numbers))
    expect(prompt).toMatchObject({
      content: numbers.map((n) => ({ toolCallId: `c${n}`, output: { type: 'json', value: n } })),
    })
  })

  test('unknown tools and inputs that do not fit are told to the model, and shown', async () => {
    const strict = tool({ inputSchema: z.object({ n: z.number() }), execute: async () => 'ran' })
    const { out, prompt, result } = await calling(
      [
        toolCall('missing', {}, 'c1'),
        toolCall('strict', { n: 'x' }, 'c2'),
        toolCall('strict', '{"n":', 'c3'),
      ],
      { tools: { strict } },
    )
    expect(prompt).toMatchObject({
      content: [
        {
          toolCallId: 'c1',
          output: {
            type: 'error-text',
            value: "Model tried to call unavailable tool 'missing'. Available tools: strict.",
          },
        },
        { output: { value: expect.stringContaining('Invalid input for tool strict') } },
        { output: { value: 'Invalid input for tool strict: it is not JSON' } },
      ],
    })
    expect(out.parts.filter(({ type }) => type === 'tool-result')).toEqual([])
    expect(out.parts.map((part) => toUIMessageChunk(part)?.type)).toEqual(
      expect.arrayContaining(['tool-input-error']),
    )
    expect(result.steps[0]?.toolCalls.map(({ invalid }) => invalid)).toEqual([true, true, true])
  })

  test('a repair that fails or gives nothing leaves the call invalid', async () => {
    const strict = tool({ inputSchema: z.object({ n: z.number() }), execute: async () => 'ran' })
    const failing = await calling([toolCall('strict', {}, 'c1')], {
      tools: { strict },
      repairToolCall: () => Promise.reject(new Error('hunter2')),
    })
    expect(JSON.stringify(failing.prompt)).toContain('Error repairing tool call')
    expect(JSON.stringify(failing.prompt)).not.toContain('hunter2')
    const giving = await calling([toolCall('strict', {}, 'c1')], {
      tools: { strict },
      repairToolCall: () => null,
    })
    expect(JSON.stringify(giving.prompt)).toContain('Invalid input for tool strict')
  })

  test('a generator shows what it yields; its last value is the output', async () => {
    const yielding = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield 'half'
        yield 'whole'
      },
    })
    const { out, result } = await calling([toolCall('yielding', {}, 'c1')], { tools: { yielding } })
    const shown = out.parts.flatMap((part) =>
      part.type === 'tool-result' ? [[part.output, part.preliminary]] : [],
    )
    expect(shown).toEqual([
      ['half', true],
      ['whole', true],
      ['whole', undefined],
    ])
    expect(result.steps[0]?.toolResults[0]?.output).toBe('whole')
  })

  test('a tool that takes too long is an error for the model, and the run goes on', async () => {
    const system = createManualSystem()
    const seen: boolean[] = []
    const stuck = tool({
      inputSchema: z.object({}),
      execute: (_input, { abortSignal }) => {
        abortSignal?.addEventListener('abort', () => seen.push(true))
        return new Promise<string>(() => undefined)
      },
    })
    const running = calling([toolCall('stuck', {}, 'c1')], {
      tools: { stuck },
      system,
      timeout: { toolMs: 60_000, tools: { stuck: 2_000 } },
    })
    await system.settle()
    await system.advance(2_000)
    const { prompt, result } = await running
    expect(prompt).toMatchObject({
      content: [{ output: { type: 'error-text', value: 'tool timeout exceeded: 2000 ms.' } }],
    })
    expect(result.finishReason).toBe('stop')
    expect(seen).toEqual([true])
    expect(system.timerCount).toBe(0)
  })

  test('an output that JSON cannot hold, or that is too large, is an error for the model', async () => {
    const outputs: Record<string, unknown> = { big: 10n, large: 'x'.repeat(5_000_000) }
    const giving = tool({
      inputSchema: z.object({ what: z.string() }),
      execute: async ({ what }) => outputs[what],
    })
    const { prompt } = await calling(
      [toolCall('giving', { what: 'big' }, 'c1'), toolCall('giving', { what: 'large' }, 'c2')],
      { tools: { giving } },
    )
    expect(prompt).toMatchObject({
      content: [
        { output: { type: 'error-text', value: 'JSON cannot hold a bigint.' } },
        { output: { type: 'error-text', value: expect.stringContaining('too large') } },
      ],
    })
  })

  test('the error itself goes to the log and to onToolExecutionEnd, and nowhere else', async () => {
    const boom = new Error('hunter2')
    const log = createRecordingLog()
    const ends: unknown[] = []
    const failing = tool({
      inputSchema: z.object({}),
      execute: (): Promise<string> => Promise.reject(boom),
    })
    const { out, prompt } = await calling([toolCall('failing', {}, 'c1')], {
      tools: { failing },
      log,
      onToolExecutionEnd: (event) => void ends.push(event.success ? undefined : event.error),
    })
    expect(ends).toEqual([boom])
    expect(log.of('agent.tool.failed')[0]?.cause).toBe(boom)
    expect(JSON.stringify([out.parts, prompt])).not.toContain('hunter2')
  })

  test('a HoldfastError is told by its message: it is safe to show by its promise', async () => {
    const failing = tool({
      inputSchema: z.object({}),
      execute: (): Promise<string> =>
        Promise.reject(new HoldfastError('run_not_found', { message: 'No such run.' })),
    })
    const { prompt } = await calling([toolCall('failing', {}, 'c1')], { tools: { failing } })
    expect(prompt).toMatchObject({
      content: [{ output: { type: 'error-text', value: 'No such run.' } }],
    })
  })

  test('a tool gets its context, checked by its schema', async () => {
    const contextual = tool({
      inputSchema: z.object({}),
      contextSchema: z.object({ tenant: z.string() }),
      execute: async (_input, { context }) => context.tenant,
    })
    const good = await calling([toolCall('contextual', {}, 'c1')], {
      tools: { contextual },
      toolsContext: { contextual: { tenant: 'kelp' } },
    })
    expect(good.result.steps[0]?.toolResults[0]?.output).toBe('kelp')
    const bad = await calling([toolCall('contextual', {}, 'c1')], {
      tools: { contextual },
      toolsContext: { contextual: { tenant: 1 } },
    })
    expect(bad.result.steps[0]?.toolResults).toEqual([])
  })

  test('a policy that throws, or denies, never lets a tool run', async () => {
    let ran = 0
    const guarded = tool({
      inputSchema: z.object({}),
      execute: async () => {
        ran += 1
        return 'ran'
      },
    })
    const denied = await calling([toolCall('guarded', {}, 'c1')], {
      tools: { guarded },
      toolApproval: { guarded: { type: 'denied', reason: 'not today' } },
    })
    expect(denied.prompt).toMatchObject({
      content: [{ output: { type: 'execution-denied', reason: 'not today' } }],
    })
    expect(denied.out.types()).toEqual(
      expect.arrayContaining([
        'tool-approval-request',
        'tool-approval-response',
        'tool-output-denied',
      ]),
    )
    const broken = await calling([toolCall('guarded', {}, 'c1')], {
      tools: { guarded },
      toolApproval: () => Promise.reject(new Error('no database')),
    })
    expect(broken.prompt).toMatchObject({
      content: [{ output: { type: 'error-text', value: expect.stringContaining('approval') } }],
    })
    expect(ran).toBe(0)
  })

  test('in memory an approval ends the call, with the others done and the question named', async () => {
    const kept: unknown[] = []
    const guarded = tool({
      inputSchema: z.object({ n: z.number() }),
      needsApproval: async ({ n }) => n > 100,
      execute: async ({ n }) => n,
    })
    const model = scriptedModel([
      toolCall('guarded', { n: 200 }, 'c1'),
      toolCall('guarded', { n: 50 }, 'c2'),
      finish('tool-calls'),
    ])
    const agent = new WorkflowAgent({
      model,
      tools: { guarded },
      approvals: {
        put: async (record) => void kept.push(record),
        get: async () => undefined,
        use: async () => false,
      },
    })
    const ends: string[] = []
    const out = collector()
    const result = await agent.stream({
      prompt: 'go',
      writable: out.writable,
      onEnd: ({ finishReason }) => void ends.push(finishReason),
    })
    expect(result).toMatchObject({
      finishReason: 'tool-calls',
      pendingApprovals: [{ toolCallId: 'c1', toolName: 'guarded', input: { n: 200 } }],
      toolResults: [{ toolCallId: 'c2', output: 50 }],
    })
    expect(kept).toMatchObject([{ toolCallId: 'c1', input: { n: 200 } }])
    expect(out.types().slice(-4)).toEqual([
      'tool-result',
      'tool-approval-request',
      'finish-step',
      'finish',
    ])
    expect(ends).toEqual(['tool-calls'])
  })

  test('A16: an approval in the messages of a call that is not durable is refused', async () => {
    const agent = new WorkflowAgent({ model: scriptedModel() })
    const messages = [
      { role: 'user' as const, content: 'pay' },
      {
        role: 'assistant' as const,
        content: [
          { type: 'tool-call' as const, toolCallId: 'c1', toolName: 'pay', input: {} },
          { type: 'tool-approval-request' as const, approvalId: 'a1', toolCallId: 'c1' },
        ],
      },
      {
        role: 'tool' as const,
        content: [{ type: 'tool-approval-response' as const, approvalId: 'a1', approved: true }],
      },
    ]
    await expect(agent.generate({ messages })).rejects.toMatchObject({ code: 'approval_invalid' })
  })

  test('a durable client-side tool is answered by the client, or fails by its word', async () => {
    for (const answer of [{ output: { lat: 1 } }, { error: 'no permission' }]) {
      const asked: JsonValue[] = []
      const locate = tool({
        inputSchema: z.object({}),
        outputSchema: z.object({ lat: z.number() }),
      })
      const definition = orderWorkflow(
        () =>
          new WorkflowAgent({
            model: scriptedModel(
              [toolCall('locate', {}, 'c1'), finish('tool-calls')],
              [...text('done'), finish()],
            ),
            tools: { locate },
          }),
      )
      const run = new FakeRun({
        answer: async (_id, { payload }) => {
          asked.push(payload ?? null)
          return answer
        },
      })
      const outcome = await run.execute(definition, { prompt: 'where?' })
      expect(asked).toEqual([
        { kind: 'client-tool', toolCallId: 'c1', toolName: 'locate', input: {} },
      ])
      const message = await rendered(run.stream(definition, outcome))
      expect(message.parts[1]).toMatchObject(
        'output' in answer
          ? { state: 'output-available', output: { lat: 1 } }
          : { state: 'output-error', errorText: 'no permission' },
      )
    }
  })

  test('A17: an approval that a provider asks for is forwarded once, and not executed here', async () => {
    const model = scriptedModel(
      [
        {
          type: 'tool-call',
          toolCallId: 'c1',
          toolName: 'remote',
          input: '{}',
          providerExecuted: true,
          dynamic: true,
        },
        { type: 'tool-approval-request', approvalId: 'provider-1', toolCallId: 'c1' },
        finish('tool-calls'),
      ],
      [...text('done'), finish()],
    )
    const definition = orderWorkflow(() => new WorkflowAgent({ model }))
    const run = new FakeRun({ answer: async () => ({ approved: true, reason: 'yes' }) })
    const outcome = await run.execute(definition, { prompt: 'go' })
    expect(outcome.kind).toBe('completed')
    const forwarded = model.doStreamCalls[1]?.prompt.filter(({ role }) => role === 'tool')
    expect(forwarded).toEqual([
      {
        role: 'tool',
        content: [
          {
            type: 'tool-approval-response',
            approvalId: 'provider-1',
            approved: true,
            reason: 'yes',
          },
        ],
      },
    ])
    expect(chunkTypes(run.stream(definition, outcome))).toEqual(
      expect.arrayContaining(['tool-approval-request', 'tool-approval-response']),
    )
  })

  test('a dynamic tool, its title and metadata are marked on every chunk', async () => {
    const remote = dynamicTool({
      inputSchema: z.object({}),
      title: 'Remote',
      metadata: { source: 'mcp' },
      execute: async () => 'ok',
    })
    const { out } = await calling([toolCall('remote', {}, 'c1')], { tools: { remote } })
    const chunks = out.parts.map((part) => toUIMessageChunk(part))
    expect(chunks).toContainEqual({
      type: 'tool-input-available',
      toolCallId: 'c1',
      toolName: 'remote',
      input: {},
      dynamic: true,
      title: 'Remote',
      toolMetadata: { source: 'mcp' },
    })
    expect(chunks).toContainEqual({
      type: 'tool-output-available',
      toolCallId: 'c1',
      output: 'ok',
      dynamic: true,
      toolMetadata: { source: 'mcp' },
    })
  })
})

test('a dynamic tool is dynamic, titled and described from the first chunk of its call on', async () => {
  const look = dynamicTool({
    title: 'Look',
    inputSchema: z.object({}),
    execute: async () => 'seen',
  })
  const run = new FakeRun()
  const definition = orderWorkflow(
    () =>
      new WorkflowAgent({
        model: scriptedModel(
          [
            { type: 'tool-input-start', id: 'c', toolName: 'look' },
            { type: 'tool-input-end', id: 'c' },
            toolCall('look', {}, 'c'),
            finish('tool-calls'),
          ],
          [...text('done'), finish()],
        ),
        tools: { look },
      }),
  )
  const outcome = await run.execute(definition, { prompt: 'go' })
  const ofTheCall = run
    .stream(definition, outcome)
    .filter((chunk) => JSON.stringify(chunk).includes('"toolCallId":"c"'))
  expect(ofTheCall.length).toBeGreaterThan(1)
  for (const chunk of ofTheCall) expect(chunk).toMatchObject({ dynamic: true })
})
