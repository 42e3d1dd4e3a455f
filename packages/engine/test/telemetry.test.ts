import { describe, expect, test } from 'vitest'
import type { Telemetry } from '@holdfast/core'
import { defineWorkflow } from '@holdfast/workflow'
import { anyJson, createWorld, noInput, until, untilStatus } from './harness.ts'
import { createRecordingTelemetry } from './recording-telemetry.ts'
import type { RecordingTelemetry } from './recording-telemetry.ts'

const common = { version: 'v1', description: '', input: noInput } as const
const child = defineWorkflow({
  ...common,
  name: 'child',
  run: (ctx) => ctx.step('in child', () => 1),
})
let failures = 0
const parent = defineWorkflow({
  ...common,
  name: 'parent',
  async run(ctx) {
    await ctx.step(
      'flaky',
      () => {
        failures += 1
        if (failures % 2 === 1) throw new TypeError('once')
        return null
      },
      { retryBaseMs: 2 },
    )
    await ctx.child('child', child, {})
    return ctx.interrupt('ask', { schema: anyJson })
  },
})

const durations = (telemetry: RecordingTelemetry, name: string) =>
  telemetry.records.filter((record) => record.name === name)

describe('telemetry', () => {
  test('has spans with parents, durations in seconds, and no ids on metrics', async () => {
    const world = createWorld()
    const telemetry = createRecordingTelemetry()
    const first = world.engine([parent, child], { telemetry })
    const run = await first.session.start(parent, {})
    await untilStatus(world, run, 'interrupted', 5)
    await world.system.advance(3_000)
    await run.resume({ value: 1 })
    await run.result()
    await world.system.settle()
    const runs = telemetry.named('holdfast.run')
    const parentSpan = runs.find(
      ({ attributes }) => attributes['holdfast.workflow.name'] === 'parent',
    )
    const childSpan = runs.find(
      ({ attributes }) => attributes['holdfast.workflow.name'] === 'child',
    )
    expect(parentSpan?.attributes).toMatchObject({
      'holdfast.run.id': run.id,
      'holdfast.workflow.version': 'v1',
      'holdfast.run.status': 'completed',
    })
    expect(childSpan?.parent).toBe(parentSpan)
    const steps = telemetry.named('holdfast.step')
    expect(
      steps.map(({ attributes, parent: above }) => [
        attributes['holdfast.step.label'],
        attributes['holdfast.step.attempt'],
        attributes['error.type'],
        above,
      ]),
    ).toEqual([
      ['flaky', 1, 'TypeError', parentSpan],
      ['flaky', 2, undefined, parentSpan],
      ['in child', 1, undefined, childSpan],
    ])
    const [question] = telemetry.named('holdfast.interrupt')
    expect(question?.parent).toBe(parentSpan)
    expect(question?.attributes['holdfast.interrupt.answered_by']).toBe('person')
    const [wait] = durations(telemetry, 'holdfast.interrupt.duration')
    expect(wait?.value).toBeGreaterThanOrEqual(3)
    expect(telemetry.named('holdfast.store.commit').length).toBeGreaterThan(5)
    for (const name of ['run', 'step', 'store.commit', 'slot.wait']) {
      expect(durations(telemetry, `holdfast.${name}.duration`).length).toBeGreaterThan(0)
    }
    for (const { attributes } of [...telemetry.records, ...telemetry.counts]) {
      expect(JSON.stringify(attributes ?? {})).not.toContain(run.id)
    }
    // Everything that began has ended, once.
    expect(telemetry.spans.filter(({ ends }) => ends !== 1)).toEqual([])
    const held = telemetry.counts.filter(({ name }) => name === 'holdfast.slots.held')
    expect(held.reduce((sum, { value }) => sum + value, 0)).toBe(0)
    expect(telemetry.counts.filter(({ name }) => name === 'holdfast.runs.ended')).toHaveLength(2)
    expect(telemetry.counts.filter(({ name }) => name === 'holdfast.runs.started')).toHaveLength(2)
  })

  test('a recovery is told of, and a wait for an answer counts from its question, over processes', async () => {
    const world = createWorld()
    const ask = defineWorkflow({
      ...common,
      name: 'asks',
      run: (ctx) => ctx.interrupt('ask', { schema: anyJson }),
    })
    const first = world.engine([ask])
    const run = await first.session.start(ask, {})
    await untilStatus(world, run, 'interrupted')
    first.kill()
    await world.system.advance(7_000)
    const telemetry = createRecordingTelemetry()
    const second = world.engine([ask], { telemetry })
    await second.session.run(run.id).resume({ value: 1 })
    await second.session.run(run.id).result()
    await world.system.settle()
    expect(telemetry.named('holdfast.recovery')).toHaveLength(1)
    expect(durations(telemetry, 'holdfast.interrupt.duration')[0]?.value).toBeGreaterThanOrEqual(7)
    expect(telemetry.spans.filter(({ ends }) => ends !== 1)).toEqual([])
  })

  test('that throws harms nothing, and is told to the log once', async () => {
    const world = createWorld()
    const broken = (): never => {
      throw new Error('telemetry is down')
    }
    const telemetry: Telemetry = { startSpan: broken, count: broken, record: broken }
    const { session } = world.engine([parent, child], { telemetry })
    const run = await session.start(parent, {})
    await until(world, async () => (await run.status()).record.interrupts.length > 0, 5)
    await run.resume({ value: 1 })
    expect(await run.result()).toEqual({ value: 1 })
    expect(world.log.of('engine.telemetry.failed')).toHaveLength(1)
  })
})
