// The faults of agents that users met elsewhere, by their numbers in the project's list.
import { describe, expect, test } from 'vitest'
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { tool } from 'ai'
import type { MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'
import { hasErrorCode } from '@holdfast/core'
import type { JsonValue } from '@holdfast/core'
import { isStepCount, toUIMessageChunk, WorkflowAgent } from '@holdfast/agent'
import type { StepResult } from '@holdfast/agent'
import { collector } from './support/collect.ts'
import { FakeRun } from './support/fake-run.ts'
import { orderAgent, orderWorkflow } from './support/order-agent.ts'
import { chunkTypes } from './support/rendered.ts'
import {
  finish,
  hangingStreamOf,
  promptedModel,
  scriptedModel,
  text,
  toolCall,
} from './support/scripted-model.ts'

/** A reader stops at the first of them. */
const endsStream = new Set<unknown>(['finish', 'abort', 'error'])

const again = tool({ inputSchema: z.object({}), execute: async () => 'more' })
const callAgain = (id: string): LanguageModelV4StreamPart[] => [
  toolCall('again', {}, id),
  finish('tool-calls'),
]

/** Calls `again` for ever. */
function tirelessModel(): MockLanguageModelV4 {
  return promptedModel(({ prompt }) => callAgain(`call-${prompt.length}`))
}

describe('faults', () => {
  test('A1: a condition that resolves to false later does not end the run', async () => {
    const asked: number[] = []
    const agent = new WorkflowAgent({
      model: tirelessModel(),
      tools: { again },
      stopWhen: async ({ steps }) => {
        asked.push(steps.length)
        await Promise.resolve()
        return steps.length === 3
      },
    })
    const { steps } = await agent.stream({ prompt: 'go', writable: collector().writable })
    expect(steps).toHaveLength(3)
    expect(asked).toEqual([1, 2, 3])
  })

  test('A2: a model that throws gives an error chunk, the reason error, and onError once', async () => {
    const boom = new Error('postgres://admin:hunter2@db/prod is down')
    const errors: unknown[] = []
    const agent = new WorkflowAgent({
      model: scriptedModel(() => Promise.reject(boom)),
      onError: ({ error }) => void errors.push(error),
    })
    const out = collector()
    const result = await agent.stream({ prompt: 'go', writable: out.writable })
    expect(out.types()).toEqual(['start', 'start-step', 'error', 'finish'])
    expect(out.parts.at(-1)).toEqual({ type: 'finish', finishReason: 'error' })
    expect(result).toMatchObject({ finishReason: 'error', error: boom })
    expect(errors).toHaveLength(1)
    expect(out.isClosed()).toBe(true)
  })

  test('A2: an error in mid-stream does the same, and open texts are what they were', async () => {
    const errors: unknown[] = []
    const agent = new WorkflowAgent({
      model: scriptedModel([
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: 'Half' },
        { type: 'error', error: new Error('cut') },
      ]),
      onError: ({ error }) => void errors.push(error),
    })
    const out = collector()
    const result = await agent.stream({ prompt: 'go', writable: out.writable })
    expect(out.types().slice(-2)).toEqual(['error', 'finish'])
    expect('error' in result).toBe(true)
    expect(errors).toHaveLength(1)
  })

  test('A3: a signal that fired before: abort, then the stream closes', async () => {
    const aborted: unknown[] = []
    const model = scriptedModel([...text('never'), finish()])
    const agent = new WorkflowAgent({ model, onAbort: (event) => void aborted.push(event) })
    const out = collector()
    const abortSignal = AbortSignal.abort('stop it')
    const result = await agent.stream({ prompt: 'go', writable: out.writable, abortSignal })
    expect(out.types()).toEqual(['start', 'abort'])
    expect(out.isClosed()).toBe(true)
    expect(result.aborted).toBe(true)
    expect(aborted).toEqual([{ steps: [], reason: 'stop it' }])
    expect(model.doStreamCalls).toHaveLength(0)
  })

  test('A4: aborted in mid-stream: parts end, abort follows, the partial text is kept', async () => {
    const controller = new AbortController()
    const agent = new WorkflowAgent({
      model: scriptedModel(async () =>
        hangingStreamOf([
          { type: 'text-start', id: 't' },
          { type: 'text-delta', id: 't', delta: 'Half an ans' },
        ]),
      ),
    })
    const out = collector((part) => {
      if (part.type === 'text-delta') controller.abort()
    })
    const { signal: abortSignal } = controller
    const result = await agent.stream({ prompt: 'go', writable: out.writable, abortSignal })
    expect(out.types()).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'abort',
    ])
    expect(out.isClosed()).toBe(true)
    expect(result.responseMessages).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: 'Half an ans' }] },
    ])
  })

  test('A4: a durable run that is cancelled in mid-stream keeps the partial text and ends with abort', async () => {
    const aborts: (readonly StepResult[])[] = []
    const definition = orderWorkflow(
      () =>
        new WorkflowAgent({
          model: scriptedModel(async () =>
            hangingStreamOf([
              { type: 'text-start', id: 't' },
              { type: 'text-delta', id: 't', delta: 'Half an ans' },
            ]),
          ),
          onAbort: ({ steps }) => void aborts.push(steps),
        }),
    )
    const run = new FakeRun({ committed: (count, cut) => (count === 1 ? cut.cancel() : undefined) })
    const outcome = await run.execute(definition, { prompt: 'go' })
    expect(outcome).toMatchObject({
      kind: 'cancelled',
      output: {
        messages: [{ role: 'assistant', content: [{ type: 'text', text: 'Half an ans' }] }],
        text: 'Half an ans',
      },
    })
    expect(chunkTypes(run.stream(definition, outcome))).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'abort',
    ])
    expect(aborts.map((steps) => steps.length)).toEqual([1])
  })

  test('A5: reasoning, its signature and item ids are sent back as they came', async () => {
    const model = scriptedModel(
      [
        { type: 'reasoning-start', id: 'r', providerMetadata: { openai: { itemId: 'rs_1' } } },
        { type: 'reasoning-delta', id: 'r', delta: 'I think' },
        {
          type: 'reasoning-delta',
          id: 'r',
          delta: '',
          providerMetadata: { anthropic: { signature: 'sig' } },
        },
        { type: 'reasoning-end', id: 'r' },
        { type: 'text-start', id: 't', providerMetadata: { openai: { itemId: 'msg_1' } } },
        { type: 'text-delta', id: 't', delta: 'Wait.' },
        { type: 'text-end', id: 't' },
        {
          type: 'tool-call',
          toolCallId: 'c1',
          toolName: 'again',
          input: '{}',
          providerMetadata: { openai: { itemId: 'fc_1' } },
        },
        finish('tool-calls'),
      ],
      [...text('done'), finish()],
    )
    const agent = new WorkflowAgent({ model, tools: { again } })
    await agent.stream({ prompt: 'go', writable: collector().writable })
    expect(model.doStreamCalls[1]?.prompt[1]).toEqual({
      role: 'assistant',
      content: [
        {
          type: 'reasoning',
          text: 'I think',
          providerOptions: { openai: { itemId: 'rs_1' }, anthropic: { signature: 'sig' } },
        },
        { type: 'text', text: 'Wait.', providerOptions: { openai: { itemId: 'msg_1' } } },
        {
          type: 'tool-call',
          toolCallId: 'c1',
          toolName: 'again',
          input: {},
          providerOptions: { openai: { itemId: 'fc_1' } },
        },
      ],
    })
  })

  test('A6: every detail of usage is summed', async () => {
    const model = scriptedModel(callAgain('c1'), [...text('done'), finish()])
    const agent = new WorkflowAgent({ model, tools: { again } })
    const { totalUsage } = await agent.stream({ prompt: 'go', writable: collector().writable })
    expect(totalUsage).toEqual({
      inputTokens: 20,
      inputTokenDetails: { noCacheTokens: 14, cacheReadTokens: 4, cacheWriteTokens: 2 },
      outputTokens: 10,
      outputTokenDetails: { textTokens: 6, reasoningTokens: 4 },
      totalTokens: 30,
    })
  })

  test('A7: the text is in the messages also when its end was cut for length', async () => {
    for (const reason of ['length', 'content-filter', 'other', 'error', 'interrupted'] as const) {
      const agent = new WorkflowAgent({
        model: scriptedModel([...text('As far as'), finish(reason)]),
      })
      const result = await agent.stream({ prompt: 'go', writable: collector().writable })
      expect(result.messages.at(-1)).toEqual({
        role: 'assistant',
        content: [{ type: 'text', text: 'As far as' }],
      })
      expect(result.finishReason).toBe(reason)
    }
  })

  test('A8: the text of an error does not reach a reader or the model, unless a hook says so', async () => {
    const secret = 'postgres://admin:hunter2@db/prod'
    const failing = tool({
      inputSchema: z.object({}),
      execute: (): Promise<string> => Promise.reject(new Error(secret)),
    })
    const model = scriptedModel([toolCall('failing', {}), finish('tool-calls')], () =>
      Promise.reject(new Error(secret)),
    )
    const agent = new WorkflowAgent({ model, tools: { failing } })
    const out = collector()
    await agent.stream({ prompt: 'go', writable: out.writable })
    const chunks = out.parts.map((part) => toUIMessageChunk(part))
    expect(chunks).toContainEqual({
      type: 'tool-output-error',
      toolCallId: 'call-failing',
      errorText: 'The tool failed.',
    })
    expect(chunks).toContainEqual({ type: 'error', errorText: 'An error occurred.' })
    expect(JSON.stringify(chunks)).not.toContain('hunter2')
    expect(JSON.stringify(model.doStreamCalls)).not.toContain('hunter2')

    const told = new WorkflowAgent({
      model: scriptedModel(
        [toolCall('failing', {}), finish('tool-calls')],
        [...text('ok'), finish()],
      ),
      tools: { failing },
      errorText: (error, source) => `${source}: ${error instanceof Error ? error.message : ''}`,
    })
    const { steps } = await told.stream({ prompt: 'go', writable: collector().writable })
    expect(steps[0]?.content.at(-1)).toMatchObject({ type: 'tool-error', error: `tool: ${secret}` })
  })

  test('A8: a durable run that fails tells nothing of the cause', async () => {
    const definition = orderWorkflow(
      () => new WorkflowAgent({ model: scriptedModel(() => Promise.reject(new Error('hunter2'))) }),
    )
    const run = new FakeRun()
    const outcome = await run.execute(definition, { prompt: 'go' })
    expect(outcome.kind).toBe('failed')
    expect(outcome.kind === 'failed' && hasErrorCode(outcome.error, 'model_failed')).toBe(true)
    const chunks = run.stream(definition, outcome)
    expect(chunks.at(-1)).toEqual({ type: 'error', errorText: 'An error occurred.' })
    expect(chunkTypes(chunks).filter((type) => endsStream.has(type))).toEqual(['error'])
    expect(JSON.stringify([chunks, run.journal])).not.toContain('hunter2')
  })

  test('A10: start carries a message id, finish its reason', async () => {
    const agent = new WorkflowAgent({ model: scriptedModel([...text('hi'), finish()]) })
    const out = collector()
    await agent.stream({ prompt: 'go', writable: out.writable, messageId: 'message-1' })
    expect(out.parts[0]).toEqual({ type: 'start', messageId: 'message-1' })
    expect(out.parts.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' })
  })

  test('A11: stop conditions, prepareStep and onStepEnd see the tool results', async () => {
    const seen: unknown[] = []
    const model = scriptedModel(callAgain('c1'), [...text('done'), finish()])
    const agent = new WorkflowAgent({
      model,
      tools: { again },
      stopWhen: ({ steps }) => {
        seen.push(['stopWhen', steps.at(-1)?.toolResults.map(({ output }) => output)])
        return false
      },
      prepareStep: ({ steps }) => {
        seen.push(['prepareStep', steps.at(-1)?.toolResults.map(({ output }) => output)])
        return undefined
      },
      onStepEnd: ({ toolResults }) => {
        seen.push(['onStepEnd', toolResults.map(({ output }) => output)])
      },
    })
    await agent.stream({ prompt: 'go', writable: collector().writable })
    expect(seen).toEqual([
      ['prepareStep', undefined],
      ['onStepEnd', ['more']],
      ['stopWhen', ['more']],
      ['prepareStep', ['more']],
      ['onStepEnd', []],
    ])
  })

  test('A12: an empty list of active tools is no tools', async () => {
    const model = scriptedModel([...text('hi'), finish()])
    const agent = new WorkflowAgent({ model, tools: { again }, activeTools: [] })
    await agent.stream({ prompt: 'go', writable: collector().writable })
    expect(model.doStreamCalls[0]?.tools).toBeUndefined()
  })

  test('A13: a model that always calls a tool is stopped after 20 steps, with a warning', async () => {
    const agent = new WorkflowAgent({ model: tirelessModel(), tools: { again } })
    const ends: number[] = []
    const result = await agent.stream({
      prompt: 'go',
      writable: collector().writable,
      onEnd: ({ steps }) => void ends.push(steps.length),
    })
    expect(result.steps).toHaveLength(20)
    expect(result.warnings).toMatchObject([{ type: 'step-limit', steps: 20 }])
    expect(ends).toEqual([20])
    const bounded = await agent.stream({
      prompt: 'go',
      writable: collector().writable,
      stopWhen: isStepCount(2),
    })
    expect(bounded.steps).toHaveLength(2)
    expect(bounded.warnings).toEqual([])
  })

  test('A13: a durable run asks, and goes on by as many steps as it is given', async () => {
    const asked: JsonValue[] = []
    const definition = orderWorkflow(
      () => new WorkflowAgent({ model: tirelessModel(), tools: { again }, maxSteps: 2 }),
    )
    const run = new FakeRun({
      answer: async (_id, { payload }) => {
        asked.push(payload ?? null)
        return { extend: asked.length === 1 ? 3 : 0 }
      },
    })
    const outcome = await run.execute(definition, { prompt: 'go' })
    expect(asked).toEqual([
      { kind: 'budget', steps: 2 },
      { kind: 'budget', steps: 5 },
    ])
    expect(outcome).toMatchObject({ kind: 'completed', output: { steps: 5 } })
  })

  test('A14, A15: an approved tool gets messages, a live signal, its callbacks, like any other', async () => {
    const seen: Record<string, unknown>[] = []
    const calls: string[] = []
    const approved = tool({
      inputSchema: z.object({ n: z.number() }),
      needsApproval: true,
      execute: async (_input, options) => {
        const { abortSignal, messages, toolCallId } = options
        seen.push({ ...options, abortSignal: abortSignal?.aborted, messages, toolCallId })
        return 'ok'
      },
    })
    const definition = orderWorkflow(
      () =>
        new WorkflowAgent({
          model: scriptedModel(
            [toolCall('approved', { n: 1 }, 'c1'), finish('tool-calls')],
            [...text('done'), finish()],
          ),
          tools: { approved },
          onToolExecutionStart: ({ toolName }) => void calls.push(`start ${toolName}`),
          onToolExecutionEnd: (event) => void calls.push(`end ${event.toolName} ${event.success}`),
        }),
    )
    const run = new FakeRun({ answer: async () => ({ approved: true }) })
    expect((await run.execute(definition, { prompt: 'go' })).kind).toBe('completed')
    expect(seen).toMatchObject([
      {
        toolCallId: 'c1',
        abortSignal: false,
        messages: [{ role: 'user', content: 'go' }],
        runId: run.runId,
        idempotencyKey: expect.stringContaining(run.runId),
      },
    ])
    expect(calls).toEqual(['start approved', 'end approved true'])
  })

  test('A15: the signal reaches execute and fires in it', async () => {
    const controller = new AbortController()
    const reasons: unknown[] = []
    const waits = tool({
      inputSchema: z.object({}),
      execute: (_input, { abortSignal }) =>
        new Promise<string>((_resolve, reject) => {
          abortSignal?.addEventListener('abort', () => {
            reasons.push(abortSignal.reason)
            reject(new Error('stopped'))
          })
          controller.abort('enough')
        }),
    })
    const agent = new WorkflowAgent({
      model: scriptedModel([toolCall('waits', {}), finish('tool-calls')]),
      tools: { waits },
    })
    const out = collector()
    const { signal: abortSignal } = controller
    await agent.stream({ prompt: 'go', writable: out.writable, abortSignal })
    expect(reasons).toEqual(['enough'])
    expect(out.types().at(-1)).toBe('abort')
  })

  test('A18: two questions of one step have ids of their own and take any order of answers', async () => {
    const inOrder: string[][] = []
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const two = tool({
        inputSchema: z.object({}),
        needsApproval: true,
        execute: async () => 'ok',
      })
      const definition = orderWorkflow(
        () =>
          new WorkflowAgent({
            model: scriptedModel(
              [toolCall('two', {}, 'c1'), toolCall('two', {}, 'c2'), finish('tool-calls')],
              [...text('done'), finish()],
            ),
            tools: { two },
          }),
      )
      const asked: { id: string; answer: (value: JsonValue) => void }[] = []
      const run = new FakeRun({
        answer: (id) =>
          new Promise((answer) => {
            asked.push({ id, answer })
            if (asked.length < 2) return
            for (const index of order) asked[index]?.answer({ approved: index === 0 })
          }),
      })
      const outcome = await run.execute(definition, { prompt: 'go' })
      expect(new Set(asked.map(({ id }) => id)).size).toBe(2)
      expect(outcome).toMatchObject({
        output: {
          messages: [
            {},
            {
              role: 'tool',
              content: [
                { toolCallId: 'c1', output: { type: 'text', value: 'ok' } },
                { toolCallId: 'c2', output: { type: 'execution-denied' } },
              ],
            },
            {},
          ],
        },
      })
      inOrder.push(asked.map(({ id }) => id))
    }
    expect(inOrder[0]).toEqual(inOrder[1])
  })

  test('A22: signals of steps leave no listeners behind', async () => {
    const controller = new AbortController()
    let listeners = 0
    const { signal } = controller
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners += 1
      add(...given)
    }
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners -= 1
      remove(...given)
    }
    const agent = new WorkflowAgent({ model: tirelessModel(), tools: { again } })
    await agent.stream({ prompt: 'go', writable: collector().writable, abortSignal: signal })
    expect(listeners).toBe(0)
  })

  test('A24: a message to a running agent is taken up before its next step', async () => {
    const definition = orderWorkflow(() => orderAgent())
    const run = new FakeRun({
      answer: async () => ({ approved: true }),
      committed: (count, steered) => {
        if (count === 1) {
          const parts = [{ type: 'text', text: 'Hurry up' }]
          steered.send({ id: 'm-1', body: { id: 'm-1', role: 'user', parts } })
        }
      },
    })
    const outcome = await run.execute(definition, { prompt: 'go' })
    expect(outcome).toMatchObject({
      kind: 'completed',
      output: {
        messages: [
          { role: 'assistant' },
          { role: 'tool' },
          { role: 'user', content: [{ type: 'text', text: 'Hurry up' }] },
          { role: 'assistant' },
          { role: 'tool' },
          { role: 'assistant' },
        ],
      },
    })
    const chunks = run.stream(definition, outcome)
    const at = chunks.findIndex((chunk) => chunkTypes([chunk])[0] === 'steering-message')
    expect(chunks[at]).toEqual({
      type: 'steering-message',
      id: 'm-1',
      parts: [{ type: 'text', text: 'Hurry up' }],
    })
    expect(chunkTypes(chunks.slice(at - 1, at + 2))).toEqual([
      'finish-step',
      'steering-message',
      'start-step',
    ])
  })

  test('A24: a message that comes during the last answer is answered before the run ends', async () => {
    const model = promptedModel(({ prompt }) => {
      const last = prompt.at(-1)
      const words = JSON.stringify(last?.content).includes('And?')
        ? 'That too.'
        : 'The first answer.'
      return [...text(words), finish()]
    })
    const definition = orderWorkflow(() => new WorkflowAgent({ model }))
    const run = new FakeRun({
      committed: (count, steered) => {
        if (count === 1) steered.send({ id: 'm-1', body: 'And?' })
      },
    })
    const outcome = await run.execute(definition, { prompt: 'go' })
    expect(outcome).toMatchObject({ kind: 'completed', output: { text: 'That too.', steps: 2 } })
  })
})
