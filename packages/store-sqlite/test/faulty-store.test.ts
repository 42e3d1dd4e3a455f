// Each fault of @holdfast/testing does what it says, on a store in memory and on one in a file.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Commit, Store, WatchTopic } from '@holdfast/core'
import { createMemoryDatabase, createMemoryStore } from '@holdfast/store-memory'
import {
  createManualSystem,
  createMortalSystem,
  faultyStore,
  forEachFault,
  forEachSeed,
  replayFaults,
} from '@holdfast/testing'
import type { Fault, FaultKind, FaultPlan, FaultyStore } from '@holdfast/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { openSqliteStore } from '../src/index.ts'

const sessionId = '0190a1b2-0000-7000-8000-00000000000a'
const otherSession = '0190a1b2-0000-7000-8000-00000000000b'
const topic: WatchTopic = { kind: 'log', sessionId, log: 'l' }

function append(key: string, more: { readonly epoch?: number; readonly session?: string } = {}) {
  return {
    sessionId: more.session ?? sessionId,
    writes: [{ kind: 'log-append', log: 'l', key, value: '1', onFailure: 'fail' }],
    ...(more.epoch === undefined ? {} : { fence: { epoch: more.epoch } }),
  } satisfies Commit
}

async function keysOf(store: Store, session = sessionId): Promise<readonly string[]> {
  const page = await store.logPage(session, 'l', { from: 0, limit: 100 })
  return page.entries.map(({ key }) => key)
}

function once(kind: FaultKind, commit = 1) {
  return { faults: [{ commit, kind }] as const }
}

function watching(store: Store): AsyncIterator<void> {
  return store.watch(topic, new AbortController().signal)[Symbol.asyncIterator]()
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'done',
    (error: unknown) => (error as { readonly code?: unknown }).code,
  )

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const makers: Readonly<Record<string, () => Promise<Store>>> = {
  memory: async () => createMemoryStore(),
  async sqlite() {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-faults-'))
    cleanups.push(async () => rmSync(directory, { recursive: true }))
    return openSqliteStore({ path: join(directory, 'store.db'), worker: false })
  },
}

describe.each(Object.entries(makers))('a faulty store over one of %s', (_name, make) => {
  async function faulty(plan: FaultPlan): Promise<{ store: FaultyStore; inner: Store }> {
    const inner = await make()
    const store = faultyStore(inner, plan)
    cleanups.push(() => store.close())
    return { store, inner }
  }

  it('writes nothing of a commit that fails before it, and may be asked again', async () => {
    const { store } = await faulty(once('fail-before', 2))
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
    const { store } = await faulty({
      faults: [
        { commit: 1, kind: 'fail-after' },
        { commit: 2, kind: 'fail-after' },
      ],
    })
    expect(await codeOf(store.commit(append('a')))).toBe('store_outcome_unknown')
    expect(await codeOf(store.commit(append('a')))).toBe('store_conflict')
    expect(await keysOf(store)).toEqual(['a'])
  })

  it('gives the first receipt to who repeats a commit of unknown outcome under its id', async () => {
    const { store } = await faulty({
      faults: [
        { commit: 1, kind: 'fail-after' },
        { commit: 2, kind: 'fail-before' },
      ],
    })
    const commit = { ...append('a'), commitId: 'once' }
    expect(await codeOf(store.commit(commit))).toBe('store_outcome_unknown')
    expect(await codeOf(store.commit(commit))).toBe('store_unavailable')
    expect(await store.commit(commit)).toEqual({
      results: [{ kind: 'log-appended', sequence: 0 }],
    })
    expect(await keysOf(store)).toEqual(['a'])
  })

  it('answers a lost acknowledgement only when it closes', async () => {
    const { store, inner } = await faulty(once('lose-acknowledgement'))
    const outcome = codeOf(store.commit(append('a')))
    await store.commit(append('b'))
    expect(await keysOf(store)).toEqual(['a', 'b'])
    await store.close()
    expect(await outcome).toBe('store_closed')
    expect(await codeOf(inner.nextWake())).toBe('store_closed')
  })

  it('lets a late acknowledgement arrive after those of later commits', async () => {
    const system = createManualSystem()
    const { store } = await faulty({ ...once('late-acknowledgement'), delayMs: 50, system })
    const order: string[] = []
    const late = store.commit(append('a')).then(() => order.push('a'))
    await store.commit(append('b')).then(() => order.push('b'))
    expect(await keysOf(store)).toEqual(['a', 'b'])
    expect(order).toEqual(['b'])
    await until(system, () => system.timerCount > 0)
    await system.advance(50)
    await late
    expect(order).toEqual(['b', 'a'])
    expect(store.injected).toEqual([{ commit: 1, kind: 'late-acknowledgement', ms: 50 }])
  })

  it('holds a commit with what follows in its session, while other sessions overtake it', async () => {
    const system = createManualSystem()
    const { store } = await faulty({ ...once('delay'), delayMs: 50, system })
    const delayed = store.commit(append('a'))
    const behind = store.commit(append('b'))
    await store.commit(append('c', { session: otherSession }))
    expect(await keysOf(store)).toEqual([])
    expect(await keysOf(store, otherSession)).toEqual(['c'])
    await system.advance(50)
    await Promise.all([delayed, behind])
    expect(await keysOf(store)).toEqual(['a', 'b'])
  })

  it('writes what it holds before it closes', async () => {
    const { store } = await faulty({ ...once('delay'), system: createManualSystem() })
    const delayed = codeOf(store.commit(append('a')))
    await store.close()
    expect(await delayed).toBe('done')
  })

  it('takes a session away', async () => {
    const { store } = await faulty(once('take-session', 2))
    const { epoch } = await store.claimSession(sessionId)
    await store.commit(append('a', { epoch }))
    expect(await codeOf(store.commit(append('b', { epoch })))).toBe('store_fenced')
    expect(await codeOf(store.commit(append('c', { epoch })))).toBe('store_fenced')
  })

  it('tells a node that its lease is lost', async () => {
    const { store } = await faulty(once('lose-node'))
    expect(store.node?.lost.aborted).toBe(false)
    await store.commit(append('a'))
    expect(store.node?.lost.aborted).toBe(true)
    expect(await keysOf(store)).toEqual(['a'])
  })

  it('closes in the middle: what was acknowledged is there, what comes later is refused', async () => {
    const { store, inner } = await faulty(once('close-store', 2))
    const watch = watching(store)
    await watch.next()
    const waiting = codeOf(watch.next())
    await store.commit(append('a'))
    await watch.next()
    expect(await waiting).toBe('done')
    expect(await codeOf(store.commit(append('b')))).toBe('store_closed')
    expect(await codeOf(store.commit(append('c')))).toBe('store_closed')
    expect(await codeOf(keysOf(store))).toBe('store_closed')
    expect(await codeOf(inner.nextWake())).toBe('store_closed')
    expect(await codeOf(watch.next())).toBe('store_closed')
  })

  it('tears the watches that are open, and not later ones', async () => {
    const { store } = await faulty(once('tear-watches'))
    const open = watching(store)
    await open.next()
    const waiting = codeOf(open.next())
    await store.commit(append('a'))
    expect(await waiting).toBe('store_unavailable')
    expect(await codeOf(open.next())).toBe('store_unavailable')
    const again = watching(store)
    await again.next()
    const next = again.next()
    await store.commit(append('b'))
    expect(await next).toMatchObject({ done: false })
  })

  it('ends the watches that are open without a word', async () => {
    const { store } = await faulty(once('end-watches'))
    const open = watching(store)
    await open.next()
    const waiting = open.next()
    await store.commit(append('a'))
    expect(await waiting).toMatchObject({ done: true })
    expect(await open.next()).toMatchObject({ done: true })
  })

  it('fires the watches that are open without a reason, and swallows no reason', async () => {
    const { store } = await faulty(once('fire-watches'))
    const [waited, idle] = [watching(store), watching(store)]
    await Promise.all([waited.next(), idle.next()])
    const spurious = waited.next()
    // Another session's commit is no reason.
    await store.commit(append('a', { session: otherSession }))
    expect(await spurious).toMatchObject({ done: false })
    expect(await idle.next()).toMatchObject({ done: false })
    const [reason, other] = [waited.next(), idle.next()]
    await store.commit(append('b'))
    expect(await Promise.all([reason, other])).toMatchObject([{ done: false }, { done: false }])
  })

  it('fires late, once for all that was held, and misses none', async () => {
    const system = createManualSystem()
    const { store } = await faulty({ ...once('hold-watches'), delayMs: 50, system })
    const watch = watching(store)
    await watch.next()
    let fired = 0
    const next = watch.next().then(() => (fired += 1))
    await store.commit(append('a'))
    await store.commit(append('b'))
    await system.settle()
    expect(fired).toBe(0)
    await system.advance(50)
    await next
    expect(await keysOf(store)).toEqual(['a', 'b'])
    const later = watch.next()
    await store.commit(append('c'))
    expect(await later).toMatchObject({ done: false })
  })

  it('ends a watch that is held as soon as its reader aborts it', async () => {
    const system = createManualSystem()
    const { store } = await faulty({ ...once('hold-watches'), system })
    const reader = new AbortController()
    const watch = store.watch(topic, reader.signal)[Symbol.asyncIterator]()
    await watch.next()
    const waiting = watch.next()
    await store.commit(append('a'))
    await system.settle()
    reader.abort()
    expect(await waiting).toMatchObject({ done: true })
  })

  it.each(['tear-watches', 'end-watches', 'fire-watches', 'hold-watches'] as const)(
    'misleads no reader that watches, reads and waits: %s at each commit',
    async (kind) => {
      const total = 12
      const { store } = await faulty({
        rules: [{ kind, commits: () => true }],
        delayMs: 1,
      })
      const read = async (): Promise<number> => {
        let rounds = 0
        for (;;) {
          const watch = watching(store)
          try {
            for (;;) {
              const { done } = await watch.next()
              if (done === true) break
              rounds += 1
              if ((await keysOf(store)).length === total) return rounds
            }
          } catch (error) {
            if (!(error instanceof Error) || !('code' in error)) throw error
            expect(error.code).toBe('store_unavailable')
          }
        }
      }
      const reading = read()
      for (let index = 0; index < total; index += 1) await store.commit(append(String(index)))
      expect(await reading).toBeGreaterThan(0)
      expect(store.injected).toHaveLength(total)
    },
  )

  it('fails and delays calls, those of ownership too', async () => {
    const system = createManualSystem()
    const { store } = await faulty({
      rules: [
        { kind: 'fail-call', calls: (call) => call === 'claimSession', times: 1 },
        { kind: 'delay-call', calls: (call) => call === 'logPage', times: 1 },
      ],
      delayMs: 50,
      system,
    })
    expect(await codeOf(store.claimSession(sessionId))).toBe('store_unavailable')
    await store.claimSession(sessionId)
    const stale = keysOf(store)
    await until(system, () => system.timerCount > 0)
    await store.commit(append('a'))
    expect(await keysOf(store)).toEqual(['a'])
    await system.advance(50)
    expect(await stale).toEqual([])
    expect(store.injected).toEqual([
      { call: 1, kind: 'fail-call' },
      { call: 3, kind: 'delay-call', ms: 50 },
    ])
    expect(store.calls).toBe(4)
  })

  it('chooses commits by what they write, so many times', async () => {
    const { store } = await faulty({
      rules: [
        {
          kind: 'fail-before',
          commits: ({ writes }) => writes.some((write) => 'key' in write && write.key === 'b'),
          times: 2,
        },
      ],
    })
    const tries: unknown[] = []
    for (const key of ['a', 'b', 'b', 'c', 'b']) tries.push(await codeOf(store.commit(append(key))))
    expect(tries).toEqual(['done', 'store_unavailable', 'store_unavailable', 'done', 'done'])
  })

  it('does the same for the same seed, and replays from what it did', async () => {
    const play = async (plan: FaultPlan) => {
      const { store } = await faulty({ ...plan, system: createManualSystem() })
      const outcomes: unknown[] = []
      for (let index = 0; index < 60; index += 1) {
        outcomes.push(await codeOf(store.commit(append(String(index)))))
        outcomes.push(await codeOf(store.logEntry(sessionId, 'l', String(index))))
      }
      return { outcomes, injected: [...store.injected] }
    }
    const random = {
      seed: 11,
      rate: 0.3,
      kinds: ['fail-before', 'fail-after', 'fire-watches', 'fail-call'],
    } as const
    const first = await play({ random })
    expect(new Set(first.injected.map(({ kind }) => kind))).toEqual(new Set(random.kinds))
    expect(await play({ random })).toEqual(first)
    expect(await play({ faults: first.injected })).toEqual(first)
    expect(await play({ random: { ...random, seed: 12 } })).not.toEqual(first)
  })
})

describe('a process that dies', () => {
  it('learns nothing of its last commit, which is there or not, and the next one owns its sessions', async () => {
    for (const kind of ['crash-before', 'crash-after'] as const) {
      const system = createManualSystem()
      const database = createMemoryDatabase({ system })
      const mortal = createMortalSystem(system)
      let ticks = 0
      const tick = (): void => void mortal.after(1, () => ((ticks += 1), tick()))
      tick()
      const store = faultyStore(database.open({ node: 'first' }), {
        faults: [{ commit: 2, kind }],
        crash() {
          database.kill('first')
          mortal.kill()
        },
      })
      await system.advance(2)
      const { epoch } = await store.claimSession(sessionId)
      await store.commit(append('a', { epoch }))
      expect(await codeOf(store.commit(append('b', { epoch })))).toBe('store_closed')
      expect(await codeOf(store.commit(append('c', { epoch })))).toBe('store_closed')
      await system.advance(10)
      expect(ticks).toBe(2)
      const second = database.open({ node: 'second' })
      expect((await second.claimSession(sessionId)).epoch).toBeGreaterThan(epoch)
      expect(await keysOf(second)).toEqual(kind === 'crash-before' ? ['a'] : ['a', 'b'])
    }
  })

  it('can lose its session to a node of another process', async () => {
    const database = createMemoryDatabase()
    const rival = database.open({ node: 'rival' })
    const store = faultyStore(database.open({ node: 'first' }), {
      ...once('take-session'),
      async takeSession(session) {
        database.expireLease('first')
        await rival.claimSession(session)
      },
    })
    const { epoch } = await store.claimSession(sessionId)
    expect(await codeOf(store.commit(append('a', { epoch })))).toBe('store_fenced')
    expect(store.node?.lost.aborted).toBe(true)
    expect(await codeOf(store.claimSession(sessionId))).toBe('store_unavailable')
  })
})

describe('a plan', () => {
  it.each([
    { faults: [{ commit: 1, kind: 'crash-before' }] },
    { rules: [{ kind: 'crash-after', commits: () => true }] },
    { random: { seed: 1, rate: 0.1, kinds: ['crash-after'] } },
    { random: { seed: 1, rate: 1.5, kinds: ['fail-before'] } },
    { random: { seed: 1, rate: Number.NaN, kinds: ['fail-before'] } },
    { delayMs: -1 },
  ] satisfies FaultPlan[])('that cannot be carried out is refused: %o', (plan) => {
    expect(() => faultyStore(createMemoryStore(), plan)).toThrow(
      expect.objectContaining({ code: 'configuration_invalid' }),
    )
  })
})

describe('trials', () => {
  /** Adds three keys, trying again whatever a store may fail with. `careless` believes an unknown outcome. */
  const addThree =
    (careless: boolean, seen: (readonly Fault[])[] = []) =>
    async (trial: Parameters<Parameters<typeof forEachFault>[1]>[0]): Promise<void> => {
      seen.push(trial.faults)
      const database = createMemoryDatabase()
      const store = trial.wrap(database.open())
      for (const key of ['a', 'b', 'c']) {
        for (let tries = 0; tries < 10; tries += 1) {
          const code = await codeOf(store.commit(append(key)))
          if (code === 'done' || code === 'store_conflict') break
          if (careless && code === 'store_unavailable') break
        }
      }
      expect(await keysOf(database.open({ mode: 'client' }))).toEqual(['a', 'b', 'c'])
    }

  it('run a scenario without a fault, then once for each commit and kind', async () => {
    const seen: (readonly Fault[])[] = []
    const tally = await forEachFault(['fail-before', 'fail-after'], addThree(false, seen))
    expect(tally).toEqual({ trials: 7, faults: 6 })
    expect(seen).toEqual([
      [],
      ...[1, 2, 3].flatMap((commit) => [
        [{ commit, kind: 'fail-before' }],
        [{ commit, kind: 'fail-after' }],
      ]),
    ])
  })

  it('tell which fault broke a scenario, and replay it', async () => {
    const scenario = addThree(true)
    const failure: unknown = await forEachFault(['fail-after', 'fail-before'], scenario).catch(
      (error: unknown) => error,
    )
    const faults = [{ commit: 1, kind: 'fail-before' }] as const
    expect(failure).toMatchObject({
      code: 'internal',
      message: expect.stringContaining(JSON.stringify(faults)),
      cause: expect.objectContaining({ name: 'AssertionError' }),
    })
    await expect(replayFaults(faults, scenario)).rejects.toThrow(JSON.stringify(faults))
    await replayFaults([{ commit: 1, kind: 'fail-after' }], scenario)
  })

  it('at random tell what was injected, which replays the failure', async () => {
    const random = { seed: 1, seeds: 40, rate: 0.2, kinds: ['fail-before', 'fail-after'] } as const
    const tally = await forEachSeed(random, addThree(false))
    expect(tally.trials).toBe(40)
    expect(tally.faults).toBeGreaterThan(10)
    const scenario = addThree(true)
    const failure: unknown = await forEachSeed(random, scenario).catch((error: unknown) => error)
    const told = /\[\{.*?\}\]/.exec((failure as Error).message)?.[0] ?? ''
    await expect(replayFaults(JSON.parse(told) as readonly Fault[], scenario)).rejects.toThrow(told)
  })

  it('fail of a scenario that wraps nothing, or that does not get as far as its fault', async () => {
    await expect(forEachFault(['fail-before'], async () => undefined)).rejects.toMatchObject({
      code: 'configuration_invalid',
    })
    await expect(
      replayFaults([{ commit: 9, kind: 'fail-before' }], addThree(false)),
    ).rejects.toThrow('never reached')
  })

  it('fault the first store only: what goes on after a crash is sound', async () => {
    const tally = await forEachFault(['crash-before', 'crash-after'], async (trial) => {
      const database = createMemoryDatabase()
      const run = async (node: string): Promise<boolean> => {
        const store = trial.wrap(database.open({ node }), { crash: () => database.kill(node) })
        for (const key of ['a', 'b']) {
          const code = await codeOf(store.commit(append(key)))
          if (code === 'store_closed') return false
        }
        return true
      }
      if (!(await run('first'))) expect(await run('second')).toBe(true)
      expect(await keysOf(database.open({ mode: 'client' }))).toEqual(['a', 'b'])
    })
    expect(tally).toEqual({ trials: 5, faults: 4 })
  })
})

async function until(
  system: ReturnType<typeof createManualSystem>,
  holds: () => boolean,
): Promise<void> {
  for (let turn = 0; turn < 10_000 && !holds(); turn += 1) await system.settle(1)
  expect(holds()).toBe(true)
}
