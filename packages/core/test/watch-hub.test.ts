import { describe, expect, it } from 'vitest'
import { createWatchHub } from '../src/commit-rules.ts'
import type { WatchTopic } from '../src/index.ts'

const work: WatchTopic = { kind: 'work' }

describe('a watch hub', () => {
  it('tells when a topic is watched for the first time, and when it is no more', async () => {
    const told: unknown[] = []
    const hub = createWatchHub((topic, watched) => told.push([topic.kind, watched]))
    const [first, second] = [new AbortController(), new AbortController()]
    hub.watch(work, first.signal)
    const iterator = hub.watch(work, second.signal)[Symbol.asyncIterator]()
    expect([told, hub.active, [...hub.topics()]]).toEqual([[['work', true]], true, [work]])
    first.abort()
    expect(told).toHaveLength(1)
    await iterator.return?.()
    expect([told.at(-1), hub.active]).toEqual([['work', false], false])
  })

  it('wakes all that wait on one watch by one change', async () => {
    const hub = createWatchHub()
    const iterator = hub.watch(work, new AbortController().signal)[Symbol.asyncIterator]()
    await iterator.next()
    const nexts = Promise.all([iterator.next(), iterator.next()])
    hub.fire(['work'])
    expect(await nexts).toHaveLength(2)
  })

  it('ends a watch that a loop leaves', async () => {
    const hub = createWatchHub()
    for await (const _ of hub.watch(work, new AbortController().signal)) break
    expect(hub.active).toBe(false)
  })

  it('leaves no listener on a signal that outlives its watches', async () => {
    const { signal } = new AbortController()
    let listeners = 0
    const counted = new Proxy(signal, {
      get(target, name) {
        if (name === 'addEventListener') listeners += 1
        if (name === 'removeEventListener') listeners -= 1
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    const hub = createWatchHub()
    for await (const _ of hub.watch(work, counted)) break
    hub.watch(work, counted)
    hub.close()
    expect(listeners).toBe(0)
  })

  it('is closed for watches that come later', async () => {
    const hub = createWatchHub()
    hub.close()
    const iterator = hub.watch(work, new AbortController().signal)[Symbol.asyncIterator]()
    await expect(iterator.next()).rejects.toMatchObject({ code: 'store_closed' })
  })
})
