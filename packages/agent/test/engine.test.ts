import { describe, expect, test } from 'vitest'
import { APICallError } from '@ai-sdk/provider'
import type { MockLanguageModelV4 } from 'ai/test'
import { WorkflowAgent } from '@holdfast/agent'
import type { JsonValue } from '@holdfast/core'
import { runOnEngine } from './support/engine-world.ts'
import type { Death, EngineRun } from './support/engine-world.ts'
import { orderAgent, orderWorkflow } from './support/order-agent.ts'
import type { Effects } from './support/order-agent.ts'
import { chunkTypes, rendered } from './support/rendered.ts'
import {
  finish,
  hangingStreamOf,
  promptedModel,
  scriptedModel,
  text,
} from './support/scripted-model.ts'

/** A reader stops at the first of them. */
const endsStream = new Set<unknown>(['finish', 'abort', 'error'])

/** Dozens of runs each. */
const matrix = { timeout: 120_000 }
const input = { prompt: 'Cancel order 1001' }

async function orders(
  approved: boolean,
  deaths: readonly Death[] = [],
): Promise<EngineRun & { readonly effects: Effects }> {
  const effects: Effects = new Map()
  const run = await runOnEngine({
    definition: () => orderWorkflow(() => orderAgent(effects)),
    input,
    deaths,
    answer: (): JsonValue => ({ approved, reason: 'as you like' }),
  })
  return { ...run, effects }
}

describe('an agent on the engine', () => {
  test('answers in one stream, is interrupted for an approval, and goes on in the next', async () => {
    const { run, output, streams, effects } = await orders(true)
    expect(run.record.status).toBe('completed')
    expect(streams.map((chunks) => [chunkTypes(chunks)[0], chunks.at(-1)])).toEqual([
      ['start', { type: 'finish', finishReason: 'tool-calls' }],
      ['start', { type: 'finish', finishReason: 'stop' }],
    ])
    for (const chunks of streams) {
      expect(chunks[0]).toEqual({ type: 'start', messageId: run.record.id })
    }
    expect(output).toMatchObject({
      text: 'All is done as you asked.',
      finishReason: 'stop',
      steps: 3,
    })
    expect([...effects.values()]).toEqual([1])
  })

  test(
    'renders the same wherever it is cut: before and after every commit, twice',
    matrix,
    async () => {
      for (const approved of [true, false]) {
        const whole = await orders(approved)
        const message = await rendered(whole.chunks)
        expect(whole.commits).toBeGreaterThan(10)
        for (let commit = 1; commit <= whole.commits; commit += 1) {
          for (const when of ['before', 'after'] as const) {
            const cut = await orders(approved, [
              { commit, when },
              { commit: 2, when },
            ])
            const where = `cut ${when} commit ${commit}`
            expect(cut.run.record.status, `in ${where}`).toBe('completed')
            expect(cut.output, `in ${where}`).toEqual(whole.output)
            expect(await rendered(cut.chunks), `in ${where}`).toEqual(message)
            expect(cut.effects.size, `in ${where}`).toBe(approved ? 1 : 0)
          }
        }
      }
    },
  )

  test(
    'C3: a failure in mid-stream takes the step back, also when the process dies around it',
    matrix,
    async () => {
      const run = async (deaths: readonly Death[]): Promise<EngineRun> =>
        runOnEngine({
          definition: (system) =>
            orderWorkflow(() => new WorkflowAgent({ model: failingFirst(), system })),
          input,
          deaths,
          stepMs: 500,
        })
      const whole = await run([])
      expect(chunkTypes(whole.chunks).filter((type) => type === 'reset-step')).toHaveLength(1)
      const message = await rendered(whole.chunks)
      expect(message.parts.map((part) => [part.type, 'text' in part ? part.text : ''])).toEqual([
        ['step-start', ''],
        ['text', 'All of the answer.'],
      ])
      for (let commit = 1; commit <= whole.commits; commit += 1) {
        for (const when of ['before', 'after'] as const) {
          const cut = await run([
            { commit, when },
            { commit: 3, when },
          ])
          expect(await rendered(cut.chunks), `cut ${when} commit ${commit}`).toEqual(message)
        }
      }
    },
  )

  test('A4: a cancel in mid-stream keeps what had come; the stream ends with abort', async () => {
    const { run, output, chunks, log } = await runOnEngine({
      definition: () =>
        orderWorkflow(
          () =>
            new WorkflowAgent({
              model: scriptedModel(async () =>
                hangingStreamOf([
                  { type: 'text-start', id: 't' },
                  { type: 'text-delta', id: 't', delta: 'Half an ans' },
                ]),
              ),
            }),
        ),
      input,
      stepMs: 50,
      seen: async ({ record }, { supervisor }) => {
        if (record.status === 'running') {
          await supervisor.cancel({ runId: record.id, by: { kind: 'person' } })
        }
      },
    })
    expect(run.record.status).toBe('cancelled')
    expect(output).toMatchObject({
      text: 'Half an ans',
      messages: [{ role: 'assistant', content: [{ type: 'text', text: 'Half an ans' }] }],
    })
    expect(chunkTypes(chunks)).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'abort',
    ])
    expect(log.of('engine.run.foreign_await')).toEqual([])
  })

  test('a cancel while a person is asked keeps the step; a tool that runs may still settle', async () => {
    const { run, output } = await runOnEngine({
      definition: () => orderWorkflow(() => orderAgent()),
      input,
      stepMs: 50,
      seen: async ({ record }, { supervisor }) => {
        if (record.status === 'interrupted') {
          await supervisor.cancel({ runId: record.id, by: { kind: 'person' } })
        }
      },
    })
    expect(run.record.status).toBe('cancelled')
    expect(output).toMatchObject({
      steps: 2,
      messages: [
        { role: 'assistant' },
        { role: 'tool' },
        { role: 'assistant', content: [{}, { toolCallId: 'call-3' }, { toolCallId: 'call-4' }] },
        { role: 'tool', content: [{ toolCallId: 'call-4' }] },
      ],
    })
  })

  test('A24: a steering message is taken up once, wherever the process dies', matrix, async () => {
    const run = async (deaths: readonly Death[]): Promise<EngineRun> =>
      runOnEngine({
        definition: () => orderWorkflow(() => orderAgent()),
        input,
        deaths,
        answer: () => ({ approved: true }),
        seen: ({ record }, { supervisor }) => {
          if (record.status !== 'interrupted') return
          const body = { id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'Hurry' }] }
          // The process may die before it hears back.
          const message = { id: 'm-1', body }
          void supervisor.send({ runId: record.id, message }).catch(() => undefined)
        },
      })
    const whole = await run([])
    const message = await rendered(whole.chunks)
    expect(message.parts.filter(({ type }) => type === 'steering-message')).toHaveLength(1)
    expect(JSON.stringify(whole.output)).toContain('Hurry')
    for (let commit = 2; commit <= whole.commits; commit += 1) {
      const cut = await run([{ commit, when: 'after' }])
      expect(await rendered(cut.chunks), `cut after commit ${commit}`).toEqual(message)
      expect(cut.output).toEqual(whole.output)
    }
  })

  test('a run whose model fails for good fails, with safe text, and its hooks were told once', async () => {
    const errors: unknown[] = []
    const { run, chunks } = await runOnEngine({
      definition: () =>
        orderWorkflow(
          () =>
            new WorkflowAgent({
              model: scriptedModel(() => Promise.reject(new Error('hunter2'))),
              onError: ({ error }) => void errors.push(error),
            }),
        ),
      input,
    })
    expect(run.record).toMatchObject({
      status: 'failed',
      error: { code: 'model_failed', message: 'An error occurred.', retryable: false },
    })
    expect(chunks.at(-1)).toEqual({ type: 'error', errorText: 'An error occurred.' })
    expect(chunkTypes(chunks).filter((type) => endsStream.has(type))).toEqual(['error'])
    expect(errors).toHaveLength(1)
  })
})

/** A model whose first call in a process breaks off after some words. */
function failingFirst(): MockLanguageModelV4 {
  let calls = 0
  return promptedModel(() => {
    calls += 1
    if (calls > 1) return [...text('All of the answer.'), finish()]
    const error = new APICallError({
      message: 'overloaded',
      url: 'https://model',
      requestBodyValues: {},
      isRetryable: true,
    })
    return [...text('All of the ans', 'first').slice(0, 3), { type: 'error', error }]
  })
}
