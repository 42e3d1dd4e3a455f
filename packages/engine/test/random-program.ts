// Random definitions over every operation, and a trace of all that they get to see.
import fc from 'fast-check'
import type { JsonValue, SkewPolicy, WorkflowContext, WorkflowDefinition } from '@holdfast/core'
import { defineWorkflow } from '@holdfast/workflow'
import { anyJson, noInput } from './harness.ts'

/** One piece of a program. */
export type Piece =
  | { readonly kind: 'step'; readonly key: string; readonly turns: number; readonly fails: number }
  | { readonly kind: 'once'; readonly key: string; readonly turns: number }
  | { readonly kind: 'sleep'; readonly key: string; readonly ms: number }
  | { readonly kind: 'interrupt'; readonly key: string }
  | { readonly kind: 'receive'; readonly key: string; readonly timeoutMs: number | undefined }
  | { readonly kind: 'messages' }
  | { readonly kind: 'child'; readonly key: string }
  | { readonly kind: 'output'; readonly key: string }
  | { readonly kind: 'progress'; readonly completed: number }
  | { readonly kind: 'values' }
  | { readonly kind: 'throw' }
  | { readonly kind: 'catch'; readonly piece: Piece }
  | { readonly kind: 'cleanup'; readonly piece: Piece }
  | { readonly kind: 'sequence'; readonly pieces: readonly Piece[] }
  | { readonly kind: 'loop'; readonly key: string; readonly times: number; readonly piece: Piece }
  | {
      readonly kind: 'all' | 'race' | 'any'
      readonly branches: readonly Piece[]
    }

const key = fc.constantFrom('a', 'b', 'c', 'd/e', 'f#2')
const turns = fc.nat({ max: 6 })

/** Programs of bounded size: some pieces in a row, or at once. */
export const programs: fc.Arbitrary<Piece> = fc.letrec<{ program: Piece; piece: Piece }>((tie) => {
  const branches = fc.array(tie('piece'), { minLength: 3, maxLength: 4 })
  return {
    program: fc.oneof(
      fc.record({
        kind: fc.constant('sequence' as const),
        pieces: fc.array(tie('piece'), { minLength: 3, maxLength: 6 }),
      }),
      fc.record({ kind: fc.constantFrom('all' as const, 'race' as const), branches }),
    ),
    piece: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'piece', withCrossShrink: true },
      {
        weight: 6,
        arbitrary: fc.record({
          kind: fc.constant('step' as const),
          key,
          turns,
          fails: fc.constantFrom(0, 0, 0, 1, 9),
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('once' as const), key, turns }) },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('sleep' as const),
          key,
          ms: fc.constantFrom(0, 10, 500, 3_000),
        }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('interrupt' as const), key }) },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('receive' as const),
          key,
          timeoutMs: fc.constantFrom(undefined, 20, 2_000),
        }),
      },
      { weight: 1, arbitrary: fc.constant({ kind: 'messages' as const }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('child' as const), key }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('output' as const), key }) },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('progress' as const),
          completed: fc.nat({ max: 5 }),
        }),
      },
      { weight: 1, arbitrary: fc.constant({ kind: 'values' as const }) },
      { weight: 1, arbitrary: fc.constant({ kind: 'throw' as const }) },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('catch' as const), piece: tie('piece') }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('cleanup' as const), piece: tie('piece') }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('loop' as const),
          key,
          times: fc.integer({ min: 1, max: 5 }),
          piece: tie('piece'),
        }),
      },
      {
        weight: 6,
        arbitrary: fc.record({
          kind: fc.constant('sequence' as const),
          pieces: fc.array(tie('piece'), { minLength: 2, maxLength: 5 }),
        }),
      },
      {
        weight: 5,
        arbitrary: fc.record({
          kind: fc.constantFrom('all' as const, 'race' as const, 'any' as const),
          branches,
        }),
      },
    ),
  }
}).program

/** What happens outside of the definition: counted, and in a random order. */
export interface Outside {
  /** A body begins. Gives its number: 1 for the first time. */
  began(stepId: string): number
  /** A body has come to its end. */
  ended(stepId: string): void
  /** So many turns of the event loop, and perhaps more. */
  pause(turns: number): Promise<void>
}

/** One thing that a definition saw, and the time of the entry that was delivered last. */
export type Seen = readonly [now: number, what: string, value: JsonValue]

/** The child of all programs. */
export const childDefinition = defineWorkflow({
  name: 'random_child',
  version: 'v1',
  description: '',
  input: anyJson,
  run: async (ctx, input) => ({
    got: (input as { value?: JsonValue }).value ?? null,
    did: await ctx.step('work', () => 'worked'),
  }),
})

/** A definition that carries out a program. */
export function definitionOf(
  program: Piece,
  outside: () => Outside,
  newer?: NewerCode,
): WorkflowDefinition<object, JsonValue, JsonValue | void> {
  const keyOf = (key: string): string => newer?.keys[key] ?? key
  return defineWorkflow({
    ...(newer === undefined ? {} : { revision: 'newer', skew: newer.skew }),
    name: 'random_program',
    version: 'v1',
    description: '',
    input: noInput,
    stream: {
      opening: ({ number }) => [{ type: 'start', number }],
      closing: ({ number, end }) => [{ type: 'finish', number, end }],
    },
    async run(ctx) {
      const seen: Seen[] = []
      try {
        await carryOut(ctx, program, { seen, outside: outside(), keyOf })
        return { seen: seen as unknown as JsonValue, ended: 'returned' }
      } catch (error) {
        return { seen: seen as unknown as JsonValue, ended: codeOf(error) }
      }
    },
  })
}

/** The same program, in code that has other keys. What it sees is told under the old ones. */
export interface NewerCode {
  readonly keys: Readonly<Record<string, string>>
  readonly skew: SkewPolicy
}

interface Stage {
  readonly seen: Seen[]
  readonly outside: Outside
  keyOf(key: string): string
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? (error as Error).message
}

async function carryOut(ctx: WorkflowContext, piece: Piece, stage: Stage): Promise<JsonValue> {
  const { outside, keyOf } = stage
  const see = (what: string, value: JsonValue): JsonValue => {
    stage.seen.push([ctx.now(), what, value])
    return value
  }
  switch (piece.kind) {
    case 'step': {
      const value = await ctx.step(
        keyOf(piece.key),
        async ({ stepId, attempt, output }) => {
          outside.began(stepId)
          await outside.pause(piece.turns)
          if (piece.turns > 4) await output.write({ type: 'delta', key: piece.key, attempt })
          outside.ended(stepId)
          if (attempt <= piece.fails) throw Object.assign(new Error('failed'), { code: 'E_STEP' })
          return { key: piece.key, attempt }
        },
        { retries: 1, retryBaseMs: 40, retryMaxMs: 40 },
      )
      return see(`step ${piece.key}`, value)
    }
    case 'once': {
      const value = await ctx.step(
        keyOf(piece.key),
        async ({ stepId }) => {
          outside.began(`once ${stepId}`)
          await outside.pause(piece.turns)
          outside.ended(`once ${stepId}`)
          return 'once'
        },
        { once: true, retries: 0 },
      )
      return see(`once ${piece.key}`, value)
    }
    case 'sleep':
      await ctx.sleep(keyOf(piece.key), piece.ms)
      return see(`slept ${piece.key}`, null)
    case 'interrupt':
      return see(`answer ${piece.key}`, await ctx.interrupt(keyOf(piece.key), { schema: anyJson }))
    case 'receive': {
      const message =
        piece.timeoutMs === undefined
          ? await ctx.receive(keyOf(piece.key))
          : await ctx.receive(keyOf(piece.key), { timeoutMs: piece.timeoutMs })
      return see(`received ${piece.key}`, message?.id ?? null)
    }
    case 'messages':
      return see(
        'messages',
        ctx.messages().map(({ id }) => id),
      )
    case 'child':
      return see(
        `child ${piece.key}`,
        (await ctx.child(keyOf(piece.key), childDefinition, { value: 1 })) ?? null,
      )
    case 'output':
      await ctx.output(keyOf(piece.key), [{ type: 'said', key: piece.key }])
      return see(`output ${piece.key}`, null)
    case 'progress':
      ctx.progress({ completed: piece.completed })
      return null
    case 'values':
      return see('values', [ctx.random(), ctx.uuid()])
    case 'throw':
      throw Object.assign(new Error('thrown'), { code: 'E_THROWN' })
    case 'catch':
      try {
        return await carryOut(ctx, piece.piece, stage)
      } catch (error) {
        return see('caught', codeOf(error))
      }
    case 'cleanup':
      return ctx.cleanup((inner) => carryOut(inner, piece.piece, stage))
    case 'sequence': {
      let last: JsonValue = null
      for (const next of piece.pieces) last = await carryOut(ctx, next, stage)
      return last
    }
    case 'loop': {
      // A body uses only its state, its items and its own context: so each turn has its own trace.
      const result = await ctx.loop<JsonValue, JsonValue>(
        keyOf(piece.key),
        { state: 0, items: ['initial'] },
        async (inner, turn) => {
          const seen: Seen[] = []
          const value = await carryOut(inner, piece.piece, { outside, seen, keyOf })
          if (turn.iteration !== 1) turn.append({ seen, value })
          if (turn.iteration + 1 < piece.times) return { state: (turn.state as number) + 1 }
          return { done: true, result: [turn.state, [...turn.items], seen] as unknown as JsonValue }
        },
      )
      return see('looped', result)
    }
    case 'all': {
      const results = await ctx.all(branchesOf(piece.branches, stage))
      return see('all', { ...results })
    }
    case 'race':
      return see('race', await ctx.race(branchesOf(piece.branches, stage)))
    case 'any':
      return see('any', await ctx.any(branchesOf(piece.branches, stage)))
  }
}

function branchesOf(
  pieces: readonly Piece[],
  stage: Stage,
): Record<string, (context: WorkflowContext) => Promise<JsonValue>> {
  return Object.fromEntries(
    pieces.map((piece, index) => [`b${index}`, (context) => carryOut(context, piece, stage)]),
  )
}
