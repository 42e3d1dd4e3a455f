import { describe, expect, test } from 'vitest'
import type { JsonValue } from '@holdfast/core'
import { runOnEngine } from './support/engine-world.ts'
import type { Death, EngineRun } from './support/engine-world.ts'
import { orderAgent, orderWorkflow } from './support/order-agent.ts'
import type { Effects } from './support/order-agent.ts'
import { chunkTypes, rendered } from './support/rendered.ts'

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

  test('renders the same wherever it is cut: before and after every commit, twice', async () => {
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
          expect(cut.run.record.status, where).toBe('completed')
          expect(cut.output, where).toEqual(whole.output)
          expect(await rendered(cut.chunks), where).toEqual(message)
          expect(cut.effects.size, where).toBe(approved ? 1 : 0)
        }
      }
    }
  })
})
