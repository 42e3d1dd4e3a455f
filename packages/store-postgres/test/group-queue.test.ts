import type { Commit } from '@holdfast/core'
import { createManualSystem } from '@holdfast/testing'
import { describe, expect, it } from 'vitest'
import { GroupQueue, groupBounds, nextGroup } from '../src/group-queue.ts'
import type { WaitingCommit } from '../src/group-queue.ts'
import type { CommitOutcome } from '../src/group-transaction.ts'

const done: CommitOutcome = {
  kind: 'committed',
  receipt: { results: [] },
  work: false,
  repeated: false,
}

function commit(sessionId: string, urgency: 'now' | 'chunks', key = 'k'): Commit {
  return {
    sessionId,
    urgency,
    writes: [{ kind: 'log-append', log: 'l', key, value: '1', onFailure: 'fail' }],
  }
}

const waiting = (sessionId: string, urgency: 'now' | 'chunks', length = 10): WaitingCommit => ({
  commit: commit(sessionId, urgency),
  length,
  settle: () => undefined,
})

describe('a group', () => {
  const large = groupBounds.length * 0.6

  it('is all that waits, in its order, as long as that fits', () => {
    const pending = [waiting('a', 'chunks'), waiting('b', 'now'), waiting('a', 'now')]
    expect(nextGroup(pending)).toEqual([pending, []])
  })

  it('prefers steps to chunks when not all fit, and never turns a session around', () => {
    const pending = [
      waiting('chunks only', 'chunks', large),
      waiting('both', 'chunks', large),
      waiting('both', 'now'),
      waiting('chunks only', 'chunks'),
      waiting('step', 'now'),
    ]
    const [group, rest] = nextGroup(pending)
    expect(group.map((one) => pending.indexOf(one))).toEqual([1, 2, 4])
    expect(rest.map((one) => pending.indexOf(one))).toEqual([0, 3])
  })

  it('takes one commit however large it is', () => {
    const pending = [waiting('a', 'now', 3 * large), waiting('a', 'now')]
    expect(nextGroup(pending)).toEqual([pending.slice(0, 1), pending.slice(1)])
  })

  it('has a bound in number', () => {
    const pending = Array.from({ length: 1_500 }, (_, index) => waiting(String(index), 'now'))
    const [group, rest] = nextGroup(pending)
    expect([...group, ...rest]).toEqual(pending)
    expect(group).toHaveLength(groupBounds.commits)
  })

  it('takes nothing of a session whose commits are being written', () => {
    const pending = [waiting('busy', 'now'), waiting('free', 'now')]
    expect(nextGroup(pending, new Set(['busy']))).toEqual([pending.slice(1), pending.slice(0, 1)])
  })
})

/** A queue whose groups are written when the test says so. */
function controlledQueue(queueCommits = 100) {
  const system = createManualSystem()
  const groups: { readonly keys: readonly string[]; readonly finish: () => Promise<void> }[] = []
  const queue = new GroupQueue(
    (commits) =>
      new Promise((resolve) => {
        groups.push({
          keys: commits.map(({ sessionId }) => sessionId),
          async finish() {
            resolve(commits.map(() => done))
            await system.settle()
          },
        })
      }),
    system,
    { queueCommits, groupsAtOnce: 2 },
  )
  return { system, groups, queue }
}

describe('the queue', () => {
  it('writes two groups at once, of disjoint sessions, and what comes meanwhile in the next', async () => {
    const { system, groups, queue } = controlledQueue()
    for (const session of ['a', 'b']) void queue.ask(commit(session, 'now'))
    await system.settle()
    for (const session of ['a', 'c', 'a']) void queue.ask(commit(session, 'now'))
    await system.settle()
    void queue.ask(commit('d', 'now'))
    await system.settle()
    expect(groups.map(({ keys }) => keys)).toEqual([['a', 'b'], ['c']])
    await groups[0]?.finish()
    expect(groups[2]?.keys).toEqual(['a', 'a', 'd'])
    await groups[1]?.finish()
    await groups[2]?.finish()
    expect(groups).toHaveLength(3)
  })

  it('holds chunks for 20 ms, or until something goes that is not held', async () => {
    const { system, groups, queue } = controlledQueue()
    void queue.ask(commit('alone', 'chunks'))
    await system.advance(19)
    expect(groups).toEqual([])
    await system.advance(1)
    expect(groups[0]?.keys).toEqual(['alone'])
    await groups[0]?.finish()
    void queue.ask(commit('held', 'chunks'))
    void queue.ask(commit('step', 'now'))
    await system.settle()
    expect(groups[1]?.keys).toEqual(['held', 'step'])
  })

  it('writes due chunks of a busy session as soon as it is free', async () => {
    const { system, groups, queue } = controlledQueue()
    void queue.ask(commit('a', 'now'))
    await system.settle()
    void queue.ask(commit('a', 'chunks'))
    await system.advance(20)
    expect(groups).toHaveLength(1)
    await groups[0]?.finish()
    expect(groups[1]?.keys).toEqual(['a'])
  })

  it('refuses what is beyond its bound, and takes more once something was written', async () => {
    const { system, groups, queue } = controlledQueue(2)
    void queue.ask(commit('a', 'now'))
    void queue.ask(commit('b', 'now'))
    expect(() => queue.ask(commit('c', 'now'))).toThrow('2 commits are waiting')
    await system.settle()
    await groups[0]?.finish()
    void queue.ask(commit('c', 'now'))
    await system.settle()
    expect(groups[1]?.keys).toEqual(['c'])
  })

  it('drains: what is held is written now', async () => {
    const { system, groups, queue } = controlledQueue()
    void queue.ask(commit('a', 'chunks'))
    let drained = false
    void queue.drain().then(() => {
      drained = true
    })
    await system.settle()
    expect([groups.length, drained]).toEqual([1, false])
    await groups[0]?.finish()
    expect(drained).toBe(true)
  })
})
