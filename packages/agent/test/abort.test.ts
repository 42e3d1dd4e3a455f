import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { tool } from 'ai'
import { z } from 'zod'
import { createManualSystem } from '@holdfast/testing'
import { WorkflowAgent } from '@holdfast/agent'
import { collector } from './support/collect.ts'
import { finish, hangingStreamOf, scriptedModel, text, toolCall } from './support/scripted-model.ts'

const unhandled: unknown[] = []
const remember = (reason: unknown): void => void unhandled.push(reason)

beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', remember)
})

afterEach(() => {
  process.off('unhandledRejection', remember)
})

/** Lets so many microtasks pass. */
async function microtasks(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve()
}

const macrotask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A tool call that waits a while in its own way. */
const tools = {
  quick: tool({ inputSchema: z.object({}), execute: async () => 'quick' }),
  deaf: tool({
    inputSchema: z.object({}),
    // Hears no signal, and takes some turns.
    execute: async () => {
      await microtasks(20)
      return 'deaf'
    },
  }),
  streaming: tool({
    inputSchema: z.object({}),
    async *execute() {
      yield 'first'
      await microtasks(5)
      yield 'second'
    },
  }),
}

interface Told {
  readonly ends: number
  readonly aborts: number
  readonly errors: number
}

/** Runs the script, aborting when so many microtasks have passed. */
async function abortedAfter(turns: number): Promise<{
  readonly types: readonly string[]
  readonly closed: boolean
  readonly told: Told
  readonly openTexts: number
  readonly finished: boolean
}> {
  const told = { ends: 0, aborts: 0, errors: 0 }
  const controller = new AbortController()
  const agent = new WorkflowAgent({
    model: scriptedModel(
      [
        ...text('One two'),
        toolCall('quick', {}, 'c1'),
        toolCall('deaf', {}, 'c2'),
        toolCall('streaming', {}, 'c3'),
        finish('tool-calls'),
      ],
      [...text('Three'), finish()],
    ),
    tools,
    prepareStep: async () => {
      await Promise.resolve()
      return {}
    },
    stopWhen: async () => false,
    onEnd: () => void (told.ends += 1),
    onAbort: () => void (told.aborts += 1),
    onError: () => void (told.errors += 1),
  })
  const out = collector()
  const { signal: abortSignal } = controller
  const running = agent.stream({ prompt: 'go', writable: out.writable, abortSignal })
  await microtasks(turns)
  controller.abort()
  const result = await running
  await macrotask()
  const started = out.parts.filter(({ type }) => type === 'text-start').length
  const ended = out.parts.filter(({ type }) => type === 'text-end').length
  return {
    types: out.types(),
    closed: out.isClosed(),
    told,
    openTexts: started - ended,
    finished: result.aborted !== true,
  }
}

describe('abort', () => {
  test(
    'at every await: the stream is closed once, parts end, callbacks are told once',
    { timeout: 60_000 },
    async () => {
      let turns = 0
      let aborted = 0
      for (; ; turns += 1) {
        const { types, closed, told, openTexts, finished } = await abortedAfter(turns)
        const where = `after ${turns} microtasks: ${types.join(' ')}`
        expect(closed, `in ${where}`).toBe(true)
        expect(openTexts, `in ${where}`).toBe(0)
        expect(types[0], `in ${where}`).toBe('start')
        const terminal = types.filter((type) => type === 'finish' || type === 'abort')
        expect(terminal, `in ${where}`).toEqual([finished ? 'finish' : 'abort'])
        expect(types.at(-1), `in ${where}`).toBe(terminal[0])
        expect(told.errors, `in ${where}`).toBe(0)
        expect(told.aborts, `in ${where}`).toBe(finished ? 0 : 1)
        expect(told.ends, `in ${where}`).toBeLessThanOrEqual(1)
        if (finished) {
          expect(told.ends).toBe(1)
          break
        }
        aborted += 1
      }
      expect(aborted).toBeGreaterThan(100)
      expect(unhandled).toEqual([])
    },
  )

  test('a tool that never ends and hears no signal is left behind in memory', async () => {
    const controller = new AbortController()
    const agent = new WorkflowAgent({
      model: scriptedModel([toolCall('stuck', {}), finish('tool-calls')]),
      tools: {
        stuck: tool({
          inputSchema: z.object({}),
          execute: () => {
            controller.abort()
            return new Promise<string>(() => undefined)
          },
        }),
      },
    })
    const out = collector()
    const { signal: abortSignal } = controller
    const result = await agent.stream({ prompt: 'go', writable: out.writable, abortSignal })
    expect(result.aborted).toBe(true)
    expect(out.types().slice(-2)).toEqual(['tool-error', 'abort'])
  })

  test('a model that hears no signal is left behind, before and after its stream began', async () => {
    for (const answer of [
      () => new Promise<never>(() => undefined),
      async () => hangingStreamOf([{ type: 'text-start', id: 't' }]),
    ]) {
      const controller = new AbortController()
      const agent = new WorkflowAgent({ model: scriptedModel(answer) })
      const out = collector()
      const { signal: abortSignal } = controller
      const running = agent.stream({ prompt: 'go', writable: out.writable, abortSignal })
      await macrotask()
      controller.abort()
      expect((await running).aborted).toBe(true)
      expect(out.isClosed()).toBe(true)
    }
  })

  test('a reader that stops reading does not keep an aborted call from its end', async () => {
    const controller = new AbortController()
    const agent = new WorkflowAgent({ model: scriptedModel([...text('a b c d e f'), finish()]) })
    let writes = 0
    const writable = new WritableStream({
      write: () => {
        writes += 1
        return new Promise<void>(() => undefined)
      },
    })
    const { signal: abortSignal } = controller
    const running = agent.stream({ prompt: 'go', writable, abortSignal })
    await macrotask()
    controller.abort()
    expect((await running).aborted).toBe(true)
    expect(writes).toBe(1)
  })

  test('a reader that goes away ends the call with what it said', async () => {
    const agent = new WorkflowAgent({ model: scriptedModel([...text('a b c'), finish()]) })
    const errors: unknown[] = []
    const writable = new WritableStream({
      write: (part: { readonly type: string }) => {
        if (part.type === 'text-delta') throw new Error('gone')
      },
    })
    const onError = ({ error }: { readonly error: unknown }): void => void errors.push(error)
    await expect(agent.stream({ prompt: 'go', writable, onError })).rejects.toThrow('gone')
    expect(errors).toHaveLength(1)
    await macrotask()
    expect(unhandled).toEqual([])
  })

  test('the total time ends a call with an error, whatever it is doing', async () => {
    const system = createManualSystem()
    const agent = new WorkflowAgent({
      system,
      timeout: 5_000,
      model: scriptedModel([toolCall('stuck', {}), finish('tool-calls')]),
      tools: {
        stuck: tool({
          inputSchema: z.object({}),
          execute: () => new Promise<string>(() => undefined),
        }),
      },
    })
    const out = collector()
    const running = agent.stream({ prompt: 'go', writable: out.writable })
    await system.settle()
    await system.advance(5_000)
    const { error, finishReason } = await running
    expect(error).toMatchObject({ code: 'timeout', message: 'total timeout exceeded: 5000 ms.' })
    expect(finishReason).toBe('error')
    expect(out.types().slice(-2)).toEqual(['error', 'finish'])
    expect(system.timerCount).toBe(0)
  })
})
