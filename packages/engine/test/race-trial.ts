// Cancels, answers and messages that race with a run's way to its end, and with a lost lease.
import { expect } from 'vitest'
import type { HoldfastError, JsonValue } from '@holdfast/core'
import { createMemoryDatabase } from '@holdfast/store-memory'
import { createManualSystem, createRecordingLog, createSeededRandom } from '@holdfast/testing'
import { decodeEntries, defineWorkflow } from '@holdfast/workflow'
import { anyJson, noInput, sessionId, startNode } from './harness.ts'

/** Refusals that are right while a run moves. */
const refusals = new Set([
  'run_ended',
  'interrupt_answered',
  'interrupt_not_found',
  'run_not_interrupted',
  'store_closed',
  'store_unavailable',
])

/** One race; checks that whatever was acknowledged was carried out or named, and that the run ended once. */
export async function race(seed: number): Promise<string> {
  const random = createSeededRandom(seed)
  const system = createManualSystem({ seed })
  const database = createMemoryDatabase({ system })
  const log = createRecordingLog()
  let executions = 0
  const definition = defineWorkflow({
    name: 'racing',
    version: 'v1',
    description: '',
    input: noInput,
    async run(ctx) {
      const taken: string[] = []
      await ctx.step('before', async () => {
        await pauseTurns(random.below(6))
      })
      taken.push(...ctx.messages().map(({ id }) => id))
      const answer = await ctx.interrupt<JsonValue>('ask', { schema: anyJson })
      taken.push(...ctx.messages().map(({ id }) => id))
      await ctx.step('after', async () => {
        executions += 1
        await pauseTurns(random.below(6))
      })
      return { taken, answer }
    },
  })
  async function pauseTurns(turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) await system.settle(1)
  }
  const nodes = [startNode({ database, system, log }, [definition], { node: `a${seed}` })]
  let node = nodes[0]
  if (node === undefined) throw new Error('no node')
  const run = await node.session.start(definition, {})
  const acknowledged = { cancels: 0, answers: 0, messages: [] as string[] }
  const accept = async (act: () => Promise<unknown>): Promise<boolean> => {
    try {
      await act()
      return true
    } catch (error) {
      const { code } = error as HoldfastError
      if (!refusals.has(code)) throw error
      return false
    }
  }
  const calls: Promise<void>[] = []
  let moved = false
  for (let round = 0; round < 400; round += 1) {
    const face = node.session.run(run.id)
    const status = await face.status()
    if (status.record.endedAt !== undefined) break
    const choice = random.below(24)
    const call = async (): Promise<void> => {
      if (choice === 0 && seed % 2 === 0) {
        if (await accept(() => face.cancel())) acknowledged.cancels += 1
      } else if (choice < 6) {
        const [question] = status.record.interrupts
        if (question === undefined) return
        const answer = () => face.resume({ value: choice }, { interruptId: question.id })
        if (await accept(answer)) acknowledged.answers += 1
      } else if (choice < 9) {
        const id = `m${round}`
        if (await accept(() => face.send({ id, body: 1 }))) acknowledged.messages.push(id)
      }
    }
    calls.push(call())
    if (!moved && seed % 5 === 0 && choice === 10) {
      moved = true
      database.expireLease(`a${seed}`)
      node = startNode({ database, system, log }, [definition], { node: `b${seed}` })
      nodes.push(node)
    }
    await system.settle(random.below(3))
    if (choice === 23) await system.advance(10)
  }
  await Promise.all(calls)
  const reader = node.session.run(run.id)
  for (
    let round = 0;
    round < 200 && (await reader.status()).record.endedAt === undefined;
    round += 1
  ) {
    const [question] = (await reader.status()).record.interrupts
    if (question !== undefined) {
      if (await accept(() => reader.resume({ value: 99 }, { interruptId: question.id }))) {
        acknowledged.answers += 1
      }
    }
    await system.advance(100)
  }
  const { record, unread } = await reader.status()
  const rows = await node.store.journal(sessionId, run.id, { from: 0, limit: 1_000 })
  const entries = rows.flatMap((row) => decodeEntries(row).entries)
  const ends = entries.flatMap((entry) => (entry.kind === 'run-ended' ? [entry] : []))
  expect(ends).toHaveLength(1)
  const [end] = ends
  expect(entries.at(-1)).toBe(end)
  expect(record.status).toBe(acknowledged.cancels > 0 ? 'cancelled' : 'completed')
  expect(unread).toEqual([])
  const output = (await node.session.supervisor.output(run.id)) as { taken?: string[] } | undefined
  const named = [...(output?.taken ?? []), ...(end?.undelivered ?? [])]
  expect(acknowledged.cancels > 0 ? [] : named.toSorted()).toEqual(
    acknowledged.cancels > 0 ? [] : acknowledged.messages.toSorted(),
  )
  if (acknowledged.cancels > 0) {
    // What the definition had taken before it was cancelled is not told by an output.
    const arrived = entries.flatMap((entry) =>
      entry.kind === 'message-arrived' ? [entry.messageId] : [],
    )
    for (const id of acknowledged.messages)
      expect([...arrived, ...(end?.undelivered ?? [])]).toContain(id)
  }
  const answered = entries.filter(({ kind }) => kind === 'interrupt-answered').length
  expect(answered + (end?.superseded.length ?? 0)).toBeGreaterThanOrEqual(acknowledged.answers)
  expect(acknowledged.answers).toBeLessThanOrEqual(1)
  expect(executions).toBeLessThanOrEqual(moved ? 2 : 1)
  for (const { kill } of nodes) kill()
  return record.status
}
