import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { APICallError } from '@ai-sdk/provider'
import type {
  LanguageModelV2,
  LanguageModelV2StreamPart,
  LanguageModelV3,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider'
import { createManualSystem } from '@holdfast/testing'
import type { ManualSystem } from '@holdfast/testing'
import { WorkflowAgent } from '@holdfast/agent'
import type { WorkflowAgentOptions, WorkflowAgentStreamResult } from '@holdfast/agent'
import { ContentCollector } from '../src/content-collector.ts'
import type { ModelCallStreamPart } from '../src/model-call-part.ts'
import { isPassingFailure, retryDelayMs } from '../src/retry.ts'
import { collector } from './support/collect.ts'
import type { PartCollector } from './support/collect.ts'
import {
  finish,
  hangingStreamOf,
  scriptedModel,
  streamOf,
  text,
  toolCall,
} from './support/scripted-model.ts'
import type { Answer } from './support/scripted-model.ts'

function apiError(statusCode: number, responseHeaders: Record<string, string> = {}): APICallError {
  return new APICallError({
    message: 'no',
    url: 'u',
    requestBodyValues: {},
    statusCode,
    responseHeaders,
  })
}

/** Streams while the manual time goes on to each timer, and says which waits there were. */
async function streamed(
  answers: readonly Answer[],
  options: Partial<WorkflowAgentOptions> = {},
): Promise<{
  readonly result: WorkflowAgentStreamResult
  readonly out: PartCollector
  readonly waits: readonly number[]
  readonly system: ManualSystem
}> {
  const system = createManualSystem()
  const agent = new WorkflowAgent({ model: scriptedModel(...answers), system, ...options })
  const out = collector()
  const waits: number[] = []
  let result: WorkflowAgentStreamResult | undefined
  const running = agent.stream({ prompt: 'go', writable: out.writable })
  void running.then((ended) => {
    result = ended
    return ended
  })
  await system.settle()
  for (let turn = 0; result === undefined && turn < 50; turn += 1) {
    const before = system.now()
    if (!(await system.advanceToNextTimer())) break
    waits.push(system.now() - before)
    await system.settle()
  }
  return { result: await running, out, waits, system }
}

describe('retries', () => {
  test('a passing failure is tried again after the time that the provider asks for', async () => {
    const { result, waits, system } = await streamed([
      () => Promise.reject(apiError(429, { 'retry-after': '7' })),
      () => Promise.reject(apiError(503, { 'retry-after-ms': '250' })),
      [...text('Now.'), finish()],
    ])
    expect(result.text).toBe('Now.')
    expect(waits).toEqual([7_000, 250])
    expect(system.timerCount).toBe(0)
  })

  test('else the wait doubles from a second, with jitter, and never passes a minute', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (n, random) => {
          const full = Math.min(60_000, 1_000 * 2 ** (n - 1))
          const delay = retryDelayMs(apiError(500), n, { now: () => 0, next: () => random })
          expect(delay).toBeGreaterThanOrEqual(full / 2)
          expect(delay).toBeLessThanOrEqual(full)
        },
      ),
    )
    const date = new Date(30_000).toUTCString()
    const clock = { now: () => 10_000, next: () => 0 }
    expect(retryDelayMs(apiError(429, { 'retry-after': date }), 1, clock)).toBe(20_000)
    expect(retryDelayMs(apiError(429, { 'retry-after': '3600' }), 1, clock)).toBe(500)
  })

  test('what will not pass is not tried again', async () => {
    expect(isPassingFailure(apiError(400))).toBe(false)
    expect(isPassingFailure(apiError(409))).toBe(true)
    expect(isPassingFailure(new Error('a bug'))).toBe(false)
    expect(isPassingFailure(new TypeError('fetch failed'))).toBe(true)
    const reset = Object.assign(new Error('socket'), { code: 'ECONNRESET' })
    expect(isPassingFailure(new Error('wrapped', { cause: reset }))).toBe(true)
    const { out, waits } = await streamed([() => Promise.reject(apiError(401))])
    expect(waits).toEqual([])
    expect(out.types()).toEqual(['start', 'start-step', 'error', 'finish'])
  })

  test('one in mid-stream takes back what was shown, and the record has only the last try', async () => {
    const { result, out } = await streamed([
      [...text('Half of').slice(0, 2), { type: 'error', error: apiError(500) }],
      [...text('All of it.'), finish()],
    ])
    expect(out.types()).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta',
      'reset-step',
      'text-start',
      'text-delta',
      'text-delta',
      'text-delta',
      'text-end',
      'model-call-end',
      'finish-step',
      'finish',
    ])
    expect(result.text).toBe('All of it.')
  })

  test('an abort while it waits ends the wait', async () => {
    const system = createManualSystem()
    const controller = new AbortController()
    const agent = new WorkflowAgent({
      model: scriptedModel(() => Promise.reject(apiError(503))),
      system,
    })
    const out = collector()
    const { signal: abortSignal } = controller
    const running = agent.stream({ prompt: 'go', writable: out.writable, abortSignal })
    await system.settle()
    expect(system.timerCount).toBe(1)
    controller.abort()
    expect((await running).aborted).toBe(true)
    expect(system.timerCount).toBe(0)
  })

  test('a stream that ends with nothing is an error; with something, its end is named other', async () => {
    const { result } = await streamed([[], [], []])
    expect(result.error).toMatchObject({ code: 'model_failed' })
    const cut = await streamed([text('Something')])
    expect(cut.result).toMatchObject({ text: 'Something', finishReason: 'other' })
  })
})

describe('timeouts', () => {
  test('the first output and each next one are waited for so long, and then tried again', async () => {
    const hanging = [{ type: 'text-start' as const, id: 't' }]
    const { result, waits } = await streamed(
      [
        async () => hangingStreamOf([]),
        async () => hangingStreamOf(hanging),
        [...text('At last.'), finish()],
      ],
      { timeout: { firstChunkMs: 3_000, chunkMs: 1_500 } },
    )
    expect(result.text).toBe('At last.')
    expect(waits.filter((wait) => wait === 3_000 || wait === 1_500)).toEqual([3_000, 1_500])
  })

  test('a step has its time, retries included', async () => {
    const { result, system } = await streamed([async () => hangingStreamOf([])], {
      timeout: { stepMs: 9_000 },
    })
    expect(result.error).toMatchObject({
      code: 'timeout',
      message: 'step timeout exceeded: 9000 ms.',
    })
    expect(system.timerCount).toBe(0)
  })
})

describe('content', () => {
  async function collected(
    deltas: readonly string[],
  ): Promise<{ readonly whole: string; readonly emitted: readonly string[] }> {
    const parts: ModelCallStreamPart[] = []
    const content = new ContentCollector(
      async (part) => void parts.push(part),
      {
        taken: new Set(['a']),
        suffix: '2',
      },
      () => ({}),
    )
    await content.accept({ type: 'text-start', id: 'a' })
    for (const delta of deltas) await content.accept({ type: 'text-delta', id: 'a', delta })
    await content.accept({ type: 'text-end', id: 'a' })
    const [block] = content.content
    const emitted = parts.flatMap((part) => (part.type === 'text-delta' ? [part.text] : []))
    return { whole: block?.type === 'text' ? block.text : '', emitted }
  }

  test('K3: texts cut anywhere come out whole, with no half of a pair at any end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.array(fc.nat(40)), async (given, cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), given.length]
        const deltas = places.slice(1).map((end, index) => given.slice(places[index], end))
        const { whole, emitted } = await collected(deltas)
        const wellFormed = given.replaceAll(/\p{Surrogate}/gu, '\ufffd')
        expect(whole).toBe(wellFormed)
        expect(emitted.join('')).toBe(wellFormed)
        for (const part of emitted) expect(part).not.toMatch(/\p{Surrogate}/u)
      }),
    )
  })

  test('K2: an id that an earlier step had gets a suffix; two of one step differ too', async () => {
    const { result, out } = await streamed(
      [
        [...text('One', '0'), ...text('two', '0'), toolCall('none', {}), finish('tool-calls')],
        [...text('Three', '0'), finish()],
      ],
      { tools: {} },
    )
    const ids = out.parts.flatMap((part) => (part.type === 'text-start' ? [part.id] : []))
    expect(ids).toEqual(['0', '0.1', '0.2'])
    expect(result.steps.map(({ text: words }) => words)).toEqual(['Onetwo', 'Three'])
  })

  test('files, sources, reasoning files and custom parts are shown and kept', async () => {
    const { result, out } = await streamed([
      [
        { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com' },
        {
          type: 'file',
          mediaType: 'image/png',
          data: { type: 'data', data: new Uint8Array([1, 2, 3]) },
        },
        {
          type: 'reasoning-file',
          mediaType: 'image/png',
          data: { type: 'url', url: new URL('https://example.com/a.png') },
        },
        { type: 'custom', kind: 'a.b', providerMetadata: { a: { id: 1 } } },
        finish(),
      ],
    ])
    expect(out.types()).toEqual(
      expect.arrayContaining(['source', 'file', 'reasoning-file', 'custom']),
    )
    expect(result.steps[0]).toMatchObject({
      sources: [{ url: 'https://example.com' }],
      files: [{ mediaType: 'image/png', base64: 'AQID' }],
    })
    expect(result.responseMessages).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } },
          {
            type: 'reasoning-file',
            mediaType: 'image/png',
            data: { type: 'url', url: new URL('https://example.com/a.png') },
          },
          { type: 'custom', kind: 'a.b', providerOptions: { a: { id: 1 } } },
        ],
      },
    ])
  })
})

describe('models of older versions', () => {
  test('a V2 model: its usage, finish reason, files and warnings are adapted', async () => {
    const prompts: unknown[] = []
    const parts: LanguageModelV2StreamPart[] = [
      { type: 'stream-start', warnings: [{ type: 'unsupported-setting', setting: 'seed' }] },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Old.' },
      { type: 'text-end', id: 't' },
      { type: 'file', mediaType: 'image/png', data: 'AQID' },
      {
        type: 'finish',
        finishReason: 'unknown',
        usage: { inputTokens: 4, outputTokens: 2, totalTokens: 6, cachedInputTokens: 1 },
      },
    ]
    const model: LanguageModelV2 = {
      specificationVersion: 'v2',
      provider: 'old',
      modelId: 'v2',
      supportedUrls: { 'image/*': [/^https:/] },
      doGenerate: () => Promise.reject(new Error('not here')),
      doStream: async ({ prompt }) => {
        prompts.push(prompt)
        return { stream: streamOf(parts as never) as never }
      },
    }
    const agent = new WorkflowAgent({ model })
    const result = await agent.stream({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } },
            { type: 'image', image: new URL('https://example.com/a.png') },
          ],
        },
      ],
      writable: collector().writable,
    })
    expect(prompts).toEqual([
      [
        {
          role: 'user',
          content: [
            { type: 'file', mediaType: 'image/png', data: 'AQID' },
            { type: 'file', mediaType: 'image', data: new URL('https://example.com/a.png') },
          ],
        },
      ],
    ])
    expect(result).toMatchObject({
      text: 'Old.',
      finishReason: 'other',
      totalUsage: { inputTokens: 4, inputTokenDetails: { cacheReadTokens: 1 }, outputTokens: 2 },
      warnings: [{ type: 'unsupported', feature: 'seed' }],
    })
    expect(result.steps[0]?.files).toMatchObject([{ base64: 'AQID' }])
  })

  test('a V3 model passes but for its files', async () => {
    const parts: LanguageModelV3StreamPart[] = [
      { type: 'file', mediaType: 'image/png', data: new Uint8Array([1, 2, 3]) },
      {
        type: 'finish',
        finishReason: { unified: 'stop', raw: 'end' },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
      },
    ]
    const model: LanguageModelV3 = {
      specificationVersion: 'v3',
      provider: 'newer',
      modelId: 'v3',
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error('not here')),
      doStream: async () => ({ stream: streamOf(parts as never) as never }),
    }
    const agent = new WorkflowAgent({ model })
    const result = await agent.stream({ prompt: 'go', writable: collector().writable })
    expect(result.steps[0]).toMatchObject({ rawFinishReason: 'end', files: [{ base64: 'AQID' }] })
  })

  test('a model named by its id is found by resolveModel, or refused', async () => {
    const model = scriptedModel([...text('Found.'), finish()])
    const agent = new WorkflowAgent({ model: 'a/b', resolveModel: () => model })
    expect((await agent.stream({ prompt: 'go', writable: collector().writable })).text).toBe(
      'Found.',
    )
    const lost = new WorkflowAgent({ model: 'a/b' })
    await expect(
      lost.stream({ prompt: 'go', writable: collector().writable }),
    ).rejects.toMatchObject({ code: 'configuration_invalid' })
  })
})
