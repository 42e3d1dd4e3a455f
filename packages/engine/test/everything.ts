// A definition that uses every operation of a context, what drives it to its end, and what must be
// so afterwards whatever has failed on the way.
import { expect } from 'vitest'
import type { Engine } from '../src/index.ts'
import type { AnyWorkflowDefinition, JsonValue, Store, WorkflowContext } from '@holdfast/core'
import { hasErrorCode } from '@holdfast/core'
import { decodeEntries, defineWorkflow } from '@holdfast/workflow'
import { anyJson, noInput, sessionId } from './harness.ts'

export const everythingRunId = '01900000-0000-7000-8000-00000000000e'

/** Every operation of a context; the matrix fails if one is missing here. */
export const operations = [
  'step',
  'interrupt',
  'sleep',
  'child',
  'loop',
  'receive',
  'messages',
  'all',
  'race',
  'any',
  'cleanup',
  'now',
  'random',
  'uuid',
  'progress',
  'artifact',
  'output',
  'signal',
] as const satisfies readonly Exclude<keyof WorkflowContext, 'run'>[]

/** Effects outside: how often each was carried out, by the key that it was given. */
export type Effects = Map<string, number>

export interface Everything {
  readonly definitions: readonly AnyWorkflowDefinition[]
  readonly definition: AnyWorkflowDefinition
}

/** The definition. Effects are counted by their idempotency keys; `once` ones by their name. */
export function everything(effects: Effects): Everything {
  const effect = (key: string): void => void effects.set(key, (effects.get(key) ?? 0) + 1)
  const child = defineWorkflow({
    name: 'everything_child',
    version: 'v1',
    description: '',
    input: anyJson,
    run: async (ctx, input) => {
      await ctx.sleep('a little', 200)
      return ctx.step('work', ({ idempotencyKey }) => {
        effect(idempotencyKey)
        return { child: (input as { value?: JsonValue }).value ?? null }
      })
    },
  })
  const definition = defineWorkflow({
    name: 'everything',
    version: 'v1',
    description: '',
    input: noInput,
    steps: ['first', 'flaky', 'charge'],
    stream: {
      opening: ({ number }) => [{ type: 'start', number }],
      closing: ({ number, end }) => [{ type: 'finish', number, end }],
    },
    async run(ctx) {
      const cleanups: string[] = []
      const first = await ctx.step('first', async ({ output, idempotencyKey }) => {
        effect(idempotencyKey)
        await output.write({ type: 'delta', text: 'one' })
        return 'first'
      })
      ctx.progress({ completed: 1, total: 3, message: 'begun' })
      ctx.artifact({ id: 'report', kind: 'text', digest: 'a'.repeat(64), size: 3 })
      await ctx.output('said', [{ type: 'said' }])
      const drawn = [ctx.random(), ctx.uuid(), ctx.now() > 0, ctx.signal.aborted]
      const flaky = await ctx.step(
        'flaky',
        ({ attempt }) => {
          if (attempt === 1) throw new Error('not yet')
          return 'flaky'
        },
        { retryBaseMs: 100 },
      )
      const branches = await ctx.all({
        left: async (branch) => branch.step('left', () => 'l'.repeat(40_000)),
        middle: async (branch) => {
          await branch.sleep('nap', 300)
          return 'slept'
        },
        right: async (branch) => branch.interrupt('question', { schema: anyJson }),
        child: async (branch) => branch.child('the child', child, { value: 7 }),
      })
      const raced = await ctx.race<JsonValue>({
        quick: (branch) => branch.step('quick', () => 'quick'),
        never: (branch) => branch.interrupt('never', { schema: anyJson }),
      })
      const anyOf = await ctx.any<JsonValue>({
        fails: async () => {
          throw new Error('no')
        },
        works: (branch) => branch.step('works', () => 'works'),
      })
      const message = await ctx.receive('message')
      const rest = ctx.messages().length
      const none = await ctx.receive('none', { timeoutMs: 150 })
      const charge = await ctx.step(
        'charge',
        () => {
          effect('charge once')
          return 'charged'
        },
        {
          once: true,
          verify: async () =>
            effects.has('charge once') ? { done: true, value: 'charged' } : { done: false },
        },
      )
      const looped = await ctx.loop<number, number[]>('loop', { state: 0 }, async (inner, turn) => {
        turn.append(await inner.step('turn', () => turn.state * 10))
        if (turn.iteration < 2) return { state: turn.state + 1 }
        return { done: true, result: turn.items.map(Number) }
      })
      await ctx.cleanup(async (inner) => {
        cleanups.push(await inner.step('tidy', () => 'tidied'))
      })
      return {
        first,
        drawn: [...drawn].slice(2),
        flaky,
        left: branches.left.length,
        middle: branches.middle,
        right: branches.right,
        child: branches.child ?? null,
        raced,
        anyOf,
        message: message.body,
        rest,
        none: none === undefined,
        charge,
        looped,
        cleanups,
      }
    },
  })
  return { definition, definitions: [definition, child] }
}

/** What it must give. */
export const expectedOutput = {
  first: 'first',
  drawn: [true, false],
  flaky: 'flaky',
  left: 40_000,
  middle: 'slept',
  right: { value: 'the answer' },
  child: { child: 7 },
  raced: 'quick',
  anyOf: 'works',
  message: 'the message',
  rest: 0,
  none: true,
  charge: 'charged',
  looped: [0, 10, 20],
  cleanups: ['tidied'],
}

const passing = ['store_unavailable', 'store_outcome_unknown', 'store_closed', 'draining'] as const

/** What a client has had acknowledged so far. */
export interface Progress {
  started: boolean
  answered: boolean
  sent: boolean
}

/** One look at the run: starts it, answers it or sends to it, if that is due. True once it has ended. */
export async function driveOnce(
  engine: Engine,
  { definition }: Everything,
  progress: Progress,
): Promise<boolean> {
  const session = engine.session(sessionId)
  try {
    if (!progress.started) {
      await session.start(definition, {}, { runId: everythingRunId, idempotencyKey: 'start' })
      progress.started = true
    }
    const run = session.run(everythingRunId)
    const stored = await run.status()
    if (stored.record.endedAt !== undefined) return true
    const question = stored.record.interrupts.find(({ key }) => key === 'question')
    if (!progress.answered && question !== undefined) {
      await run.resume(
        { value: 'the answer' },
        { interruptId: question.id, idempotencyKey: 'answer' },
      )
      progress.answered = true
    }
    if (!progress.sent && stored.record.waitingFor === 'message') {
      await run.send({ id: 'message', body: 'the message' })
      progress.sent = true
    }
  } catch (error) {
    if (!passing.some((code) => hasErrorCode(error, code))) throw error
  }
  return false
}

/** What must be so at the end, whatever has failed. */
export async function expectIntact(store: Store, effects: Effects): Promise<void> {
  const stored = await store.run(sessionId, everythingRunId)
  expect(stored?.record).toMatchObject({ status: 'completed', parked: false, interrupts: [] })
  expect(stored?.head).toMatchObject({ progress: { completed: 1, total: 3, message: 'begun' } })
  expect(stored?.record.artifacts).toHaveLength(1)
  expect(stored?.unread).toEqual([])
  const rows = await store.journal(sessionId, everythingRunId, { from: 0, limit: 1_000 })
  expect(rows.map(({ revision }) => revision)).toEqual(rows.map((_, index) => index))
  const entries = rows.flatMap((row) => decodeEntries(row).entries)
  const end = entries.at(-1)
  expect(end).toMatchObject({ kind: 'run-ended', output: { json: expectedOutput } })
  // Nothing settles twice, and nothing follows the end.
  const settled = entries.flatMap((entry) =>
    entry.kind === 'step-completed' ||
    entry.kind === 'child-ended' ||
    entry.kind === 'output-written'
      ? [entry.path]
      : [],
  )
  expect(settled).toEqual([...new Set(settled)])
  expect(entries.filter(({ kind }) => kind === 'run-ended')).toHaveLength(1)
  expect(entries.filter(({ kind }) => kind === 'message-arrived')).toHaveLength(1)
  // Retrying an effect is only harmless under its own key; a `once` effect is never repeated.
  expect(effects.get('charge once')).toBe(1)
  const chunks: JsonValue[] = []
  for (let number = 1; number <= (stored?.record.stream ?? 0); number += 1) {
    const streamId = number === 1 ? everythingRunId : `${everythingRunId}.${number}`
    const page = await store.streamPage(sessionId, streamId, { from: 0, limit: 1_000 })
    expect(page?.head.end).toBe(number === stored?.record.stream ? 'completed' : 'interrupted')
    const stream = (page?.chunks ?? []).map(({ data }) => JSON.parse(data) as JsonValue)
    expect(stream[0]).toEqual({ type: 'start', number })
    expect(stream.at(-1)).toMatchObject({ type: 'finish', number })
    chunks.push(...stream)
  }
  expect(chunks.filter((chunk) => JSON.stringify(chunk).includes('"said"'))).toHaveLength(1)
  const children = await store.runs(sessionId, { parentRunId: everythingRunId })
  expect(children.items.map(({ record }) => record.status)).toEqual(['completed'])
}
