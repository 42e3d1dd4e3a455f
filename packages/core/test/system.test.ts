import { describe, expect, it } from 'vitest'
import { isUuid } from '../src/index.ts'
import { system } from '../src/system/index.ts'

describe('the system', () => {
  it('runs each macrotask after all microtasks, also those that microtasks queue, and in order', async () => {
    const order: string[] = []
    await new Promise<void>((resolve) => {
      system.macrotask(() => {
        order.push('macrotask 1')
        void Promise.resolve()
          .then(() => order.push('microtask of 1'))
          .then(() => order.push('its microtask'))
      })
      system.macrotask(() => {
        order.push('macrotask 2')
        resolve()
      })
      void Promise.resolve()
        .then(() => order.push('microtask'))
        .then(() => order.push('its microtask too'))
      order.push('now')
    })
    expect(order).toEqual([
      'now',
      'microtask',
      'its microtask too',
      'macrotask 1',
      'microtask of 1',
      'its microtask',
      'macrotask 2',
    ])
  })

  it('cancels a timer', async () => {
    const fired: string[] = []
    const cancel = system.after(0, () => fired.push('cancelled'))
    cancel()
    cancel()
    await new Promise<void>((resolve) => {
      system.after(1, resolve)
    })
    expect(fired).toEqual([])
  })

  it('waits for a timer that is longer than the host can set', async () => {
    let fired = false
    const cancel = system.after(2 ** 40, () => {
      fired = true
    })
    await new Promise<void>((resolve) => {
      system.after(2, resolve)
    })
    expect(fired).toBe(false)
    cancel()
  })

  it('gives run ids that ascend, and other ids that do not repeat', () => {
    const ids = Array.from({ length: 2_000 }, () => system.runId())
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.every((id) => isUuid(id) && id[14] === '7')).toBe(true)
    const others = Array.from({ length: 500 }, () => [system.uuid(), system.shortId()]).flat()
    expect(new Set(others).size).toBe(others.length)
    const number = system.next()
    expect(number >= 0 && number < 1).toBe(true)
  })
})
