import { isUuid } from '@holdfast/core'
import { describe, expect, it } from 'vitest'
import { createManualSystem, createRecordingLog, createSeededRandom } from '../src/index.ts'

describe('a manual system', () => {
  it('lets time pass only when it is told to, and shows a timer its own time', async () => {
    const system = createManualSystem({ now: 1_000 })
    const fired: [string, number][] = []
    const mark = (name: string) => () => void fired.push([name, system.now()])
    system.after(30, mark('late'))
    system.after(10, mark('first'))
    system.after(10, mark('second'))
    const cancel = system.after(20, mark('never'))
    cancel()
    system.after(-5, mark('at once'))
    await system.settle()
    expect(fired).toEqual([])
    await system.advance(29)
    expect(fired).toEqual([
      ['at once', 1_000],
      ['first', 1_010],
      ['second', 1_010],
    ])
    expect([system.now(), system.timerCount, system.nextTimerAt]).toEqual([1_029, 1, 1_030])
    expect(await system.advanceToNextTimer()).toBe(true)
    expect(await system.advanceToNextTimer()).toBe(false)
    expect(system.now()).toBe(1_030)
  })

  it('fires timers that a timer has set, in the same advance, after what it led to', async () => {
    const system = createManualSystem({ now: 0 })
    const fired: number[] = []
    const again = async () => {
      await Promise.resolve()
      fired.push(system.now())
      if (fired.length < 3) system.after(10, () => void again())
    }
    system.after(10, () => void again())
    await system.advance(100)
    expect(fired).toEqual([10, 20, 30])
    expect(system.now()).toBe(100)
  })

  it('can have a clock that goes back, which fires nothing', async () => {
    const system = createManualSystem({ now: 1_000 })
    let fired = false
    system.after(10, () => void (fired = true))
    system.setNow(500)
    expect(system.now()).toBe(500)
    await system.settle()
    expect(fired).toBe(false)
    await system.advance(510)
    expect(fired).toBe(true)
  })

  it('holds macrotasks back if it is asked to', async () => {
    const system = createManualSystem({ macrotasks: 'manual' })
    const ran: number[] = []
    system.macrotask(() => ran.push(1))
    system.macrotask(() => ran.push(2))
    await system.settle()
    expect([ran, system.macrotaskCount]).toEqual([[], 2])
    expect(system.runMacrotask()).toBe(true)
    expect(ran).toEqual([1])
    expect([system.runMacrotask(), system.runMacrotask()]).toEqual([true, false])
  })

  it('gives ids of the right form, the same for a seed, and run ids that ascend', () => {
    const draw = (seed: number) => {
      const system = createManualSystem({ seed })
      return [system.uuid(), system.shortId(), system.next(), system.runId(), system.runId()]
    }
    expect(draw(5)).toEqual(draw(5))
    expect(draw(5)).not.toEqual(draw(6))
    const system = createManualSystem()
    const ids = Array.from({ length: 5_000 }, () => system.runId())
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.every(isUuid)).toBe(true)
    expect(isUuid(system.uuid())).toBe(true)
  })
})

describe('seeded numbers', () => {
  it('lie in [0, 1), spread over it, and repeat for a seed', () => {
    const random = createSeededRandom(3)
    const numbers = Array.from({ length: 2_000 }, () => random.next())
    expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true)
    const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.05)
    const again = createSeededRandom(3)
    expect(numbers.every((number) => number === again.next())).toBe(true)
    expect(createSeededRandom(1).below(1)).toBe(0)
  })
})

describe('a recording log', () => {
  it('keeps records in order, and finds them by event', () => {
    const log = createRecordingLog()
    log.write({ level: 'info', event: 'a', message: 'one' })
    log.write({ level: 'error', event: 'b', message: 'two' })
    log.write({ level: 'info', event: 'a', message: 'three' })
    expect(log.records.map(({ message }) => message)).toEqual(['one', 'two', 'three'])
    expect(log.of('a').map(({ message }) => message)).toEqual(['one', 'three'])
  })
})
