import type { Commit, Store } from '@holdfast/core'
import { createManualSystem, faultyStore } from '@holdfast/testing'
import type { FaultKind } from '@holdfast/testing'
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../src/index.ts'

const sessionId = '0190a1b2-0000-7000-8000-00000000000a'

function append(key: string, epoch?: number): Commit {
  return {
    sessionId,
    writes: [{ kind: 'log-append', log: 'l', key, value: '1', onFailure: 'fail' }],
    ...(epoch === undefined ? {} : { fence: { epoch } }),
  }
}

async function keysOf(store: Store): Promise<readonly string[]> {
  const page = await store.logPage(sessionId, 'l', { from: 0, limit: 100 })
  return page.entries.map(({ key }) => key)
}

function once(kind: FaultKind, commit = 1) {
  return { faults: [{ commit, kind }] as const }
}

describe('a faulty store', () => {
  it('writes nothing of a commit that fails before it, and may be asked again', async () => {
    const store = faultyStore(createMemoryStore(), once('fail-before', 2))
    await store.commit(append('a'))
    await expect(store.commit(append('b'))).rejects.toMatchObject({
      code: 'store_unavailable',
      retryable: true,
    })
    expect(await keysOf(store)).toEqual(['a'])
    await store.commit(append('b'))
    expect(store.injected).toEqual([{ commit: 2, kind: 'fail-before' }])
    expect(store.commits).toBe(3)
  })

  it('has written a commit that fails after it, and a refused one stays refused', async () => {
    const store = faultyStore(createMemoryStore(), {
      faults: [
        { commit: 1, kind: 'fail-after' },
        { commit: 2, kind: 'fail-after' },
      ],
    })
    await expect(store.commit(append('a'))).rejects.toMatchObject({ code: 'store_outcome_unknown' })
    await expect(store.commit(append('a'))).rejects.toMatchObject({ code: 'store_conflict' })
    expect(await keysOf(store)).toEqual(['a'])
  })

  it('answers a lost acknowledgement only when it closes', async () => {
    const inner = createMemoryStore()
    const store = faultyStore(inner, once('lose-acknowledgement'))
    const outcome = store.commit(append('a')).catch((error: unknown) => error)
    await store.commit(append('b'))
    expect(await keysOf(store)).toEqual(['a', 'b'])
    await store.close()
    expect(await outcome).toMatchObject({ code: 'store_closed' })
    await expect(inner.nextWake()).rejects.toMatchObject({ code: 'store_closed' })
  })

  it('delays a commit behind a later one', async () => {
    const system = createManualSystem()
    const store = faultyStore(createMemoryStore(), { ...once('delay'), delayMs: 50, system })
    const delayed = store.commit(append('a'))
    await store.commit(append('b'))
    expect(await keysOf(store)).toEqual(['b'])
    await system.advance(50)
    await delayed
    expect(await keysOf(store)).toEqual(['b', 'a'])
  })

  it('takes a session away', async () => {
    const store = faultyStore(createMemoryStore(), once('take-session', 2))
    const { epoch } = await store.claimSession(sessionId)
    await store.commit(append('a', epoch))
    await expect(store.commit(append('b', epoch))).rejects.toMatchObject({ code: 'store_fenced' })
    await expect(store.commit(append('c', epoch))).rejects.toMatchObject({ code: 'store_fenced' })
  })

  it('tears the watches that are open, and not later ones', async () => {
    const store = faultyStore(createMemoryStore(), once('tear-watches'))
    const topic = { kind: 'log', sessionId, log: 'l' } as const
    const { signal } = new AbortController()
    const open = store.watch(topic, signal)[Symbol.asyncIterator]()
    await open.next()
    const waiting = open.next().catch((error: unknown) => error)
    await store.commit(append('a'))
    expect(await waiting).toMatchObject({ code: 'store_unavailable' })
    const again = store.watch(topic, signal)[Symbol.asyncIterator]()
    await again.next()
    const next = again.next()
    await store.commit(append('b'))
    expect(await next).toMatchObject({ done: false })
  })

  it('tells a node that its lease is lost', async () => {
    const store = faultyStore(createMemoryStore(), once('lose-node'))
    expect(store.node?.lost.aborted).toBe(false)
    await store.commit(append('a'))
    expect(store.node?.lost.aborted).toBe(true)
  })

  it('does the same for the same seed, and replays from what it did', async () => {
    const play = async (plan: Parameters<typeof faultyStore>[1]) => {
      const store = faultyStore(createMemoryStore(), plan)
      const outcomes: string[] = []
      for (let index = 0; index < 60; index += 1) {
        outcomes.push(
          await store.commit(append(String(index))).then(
            () => 'done',
            (error: unknown) => (error as { readonly code: string }).code,
          ),
        )
      }
      return { outcomes, injected: store.injected }
    }
    const random = { seed: 11, rate: 0.3, kinds: ['fail-before', 'fail-after'] } as const
    const first = await play({ random })
    expect(first.injected.length).toBeGreaterThan(5)
    expect(await play({ random })).toEqual(first)
    expect(await play({ faults: first.injected })).toEqual(first)
    expect(await play({ random: { ...random, seed: 12 } })).not.toEqual(first)
  })
})
