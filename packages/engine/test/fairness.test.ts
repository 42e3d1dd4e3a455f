// Who executes when there is more to execute than may be at once.
import { describe, expect, test } from 'vitest'
import { defineWorkflow } from '@holdfast/workflow'
import { Slots } from '../src/slots.ts'
import type { Slot } from '../src/slots.ts'
import { createWorld, gate, noInput, until, untilStatus } from './harness.ts'

const common = { version: 'v1', description: '', input: noInput } as const
const other = '00000000-0000-4000-8000-000000000002'

describe('slots', () => {
  test('a session with a thousand waiting does not starve another', () => {
    const slots = new Slots(4, 4)
    const served: string[] = []
    const give: (() => void)[] = []
    const ask = (session: string): void => {
      let slot: Slot | undefined
      const back = (): void => slot?.release()
      slot = slots.request(session, () => {
        served.push(session)
        give.push(back)
      })
    }
    for (let count = 0; count < 1_000; count += 1) ask('busy')
    for (let count = 0; count < 5; count += 1) ask('small')
    expect(served).toEqual(['busy', 'busy', 'busy', 'busy'])
    // As each is given back, the sessions take turns.
    for (let count = 0; count < 10; count += 1) give[count]?.()
    expect(served.slice(4)).toEqual(
      Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? 'busy' : 'small')),
    )
  })

  test('a session never holds more than its workers, all never more than allowed', () => {
    let held = 0
    let most = 0
    const slots = new Slots(5, 2, (change) => {
      held += change
      most = Math.max(most, held)
    })
    const holding = new Map<string, number>()
    const queue: (() => void)[] = []
    let granted = 0
    for (const session of ['a', 'b', 'c', 'd']) {
      for (let count = 0; count < 4; count += 1) {
        let slot: Slot | undefined
        slot = slots.request(session, () => {
          granted += 1
          const now = (holding.get(session) ?? 0) + 1
          holding.set(session, now)
          expect(now).toBeLessThanOrEqual(2)
          queue.push(() => {
            holding.set(session, (holding.get(session) ?? 0) - 1)
            slot?.release()
          })
        })
      }
    }
    while (queue.length > 0) queue.shift()?.()
    expect(most).toBe(5)
    expect(granted).toBe(16)
    expect(slots.held).toBe(0)
  })

  test('one that is not wanted any more is passed over, and given back once', () => {
    const slots = new Slots(1, 1)
    const served: number[] = []
    const [first, second, third] = [1, 2, 3].map((number) =>
      slots.request('s', () => served.push(number)),
    )
    second?.release()
    first?.release()
    first?.release()
    expect(served).toEqual([1, 3])
    expect(slots.held).toBe(1)
    third?.release()
    expect(slots.held).toBe(0)
    slots.close()
    expect(slots.take('s')).toBeUndefined()
  })
})

describe('an engine', () => {
  test('lets a run of one session through while another has a thousand', async () => {
    const world = createWorld()
    let steps = 0
    const busy = defineWorkflow({
      ...common,
      name: 'busy',
      run: (ctx) => ctx.step('work', () => (steps += 1)),
    })
    const { engine, session } = world.engine([busy], {
      limits: { maxActiveRuns: 4, maxWorkers: 4 },
    })
    const held = gate()
    const starts = Array.from({ length: 1_000 }, () => session.start(busy, {}))
    await Promise.all(starts)
    const lone = await engine.session(other).start(busy, {})
    await untilStatus(world, lone, 'completed')
    expect(steps).toBeLessThan(1_000)
    held.open()
    await until(world, () => steps === 1_001)
  })

  test('acknowledges starts, and cancels what waits, while all slots are held', async () => {
    const world = createWorld()
    const hold = gate()
    const stuck = defineWorkflow({
      ...common,
      name: 'stuck',
      run: (ctx) => ctx.step('work', () => hold.promise),
    })
    const { session } = world.engine([stuck], { limits: { maxActiveRuns: 1 } })
    const warm = await session.start(stuck, {})
    await untilStatus(world, warm, 'running')
    const queued = await session.start(stuck, {})
    expect((await queued.status()).record.status).toBe('pending')
    await queued.cancel('not any more')
    await untilStatus(world, queued, 'cancelled')
    const history = await queued.history()
    expect(history.activities.map(({ kind }) => kind)).toEqual([
      'run_started',
      'run_cancel_requested',
      'run_cancelled',
    ])
    hold.open()
    await warm.result()
  })
})
