import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Commit } from '@holdfast/core'
import { createManualSystem } from '@holdfast/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeSqlite } from '../src/driver.ts'
import type { SqlDriver } from '../src/driver.ts'
import { openWithDriver } from '../src/sqlite-store.ts'
import { nextGroup } from '../src/write-loop.ts'
import type { WriterRequest } from '../src/writer-message.ts'

const sessionId = '0190a1b2-0000-7000-8000-00000000000a'

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-failure-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

/** A driver whose next `commit` fails, before or after it has been carried out, as a disk might make it. */
function failingDriver() {
  const state = {
    next: undefined as { errcode: number; when: 'before' | 'after' } | undefined,
    opened: 0,
    closed: 0,
  }
  const driver: SqlDriver = (path, options) => {
    const connection = nodeSqlite(path, options)
    if (!options.readOnly && !path.endsWith('.owner')) state.opened += 1
    return {
      ...connection,
      close() {
        if (!options.readOnly && !path.endsWith('.owner')) state.closed += 1
        connection.close()
      },
      prepare(sql) {
        const statement = connection.prepare(sql)
        if (sql !== 'commit' || options.readOnly) return statement
        return {
          ...statement,
          run() {
            const failure = state.next
            state.next = undefined
            if (failure?.when === 'after') statement.run()
            if (failure !== undefined) {
              throw Object.assign(new Error('disk I/O error'), { errcode: failure.errcode })
            }
            return statement.run()
          },
        }
      },
    }
  }
  return { state, driver }
}

function append(key: string, commitId?: string): Commit {
  return {
    sessionId,
    writes: [{ kind: 'log-append', log: 'l', key, value: '1', onFailure: 'fail' }],
    ...(commitId === undefined ? {} : { commitId }),
  }
}

const syncFailed = 1034
const diskFull = 13

describe('a failed sync', () => {
  it('closes the connection, reopens it, and says that the outcome is unknown', async () => {
    const { state, driver } = failingDriver()
    const path = join(directory, 'a.db')
    // A new one is told by its salt.
    const saltOfLog = () => readFileSync(`${path}-wal`).subarray(16, 24).toString('hex')
    const store = await openWithDriver(driver, { path, worker: false })
    await store.commit(append('first'))
    const salt = saltOfLog()
    await store.commit(append('another'))
    expect(saltOfLog()).toBe(salt)
    state.next = { errcode: syncFailed, when: 'before' }
    await expect(store.commit(append('second'))).rejects.toMatchObject({
      code: 'store_outcome_unknown',
    })
    await store.commit(append('third'))
    expect(state).toMatchObject({ opened: 2, closed: 1 })
    // Nothing is written behind what was not synced: the log was begun anew.
    expect(saltOfLog()).not.toBe(salt)
    const page = await store.logPage(sessionId, 'l', { from: 0, limit: 10 })
    expect(page.entries.map(({ key }) => key)).toEqual(['first', 'another', 'third'])
    await store.close()
  })

  it('is decided by commit ids, whichever way it went, for each commit of the group', async () => {
    const { state, driver } = failingDriver()
    const store = await openWithDriver(driver, { path: join(directory, 'a.db'), worker: false })
    await store.commit(append('first'))
    state.next = { errcode: syncFailed, when: 'before' }
    await expect(store.commit(append('lost', 'c1'))).rejects.toMatchObject({
      code: 'store_unavailable',
      retryable: true,
    })
    state.next = { errcode: syncFailed, when: 'after' }
    const outcomes = await Promise.allSettled([
      store.commit(append('kept', 'c2')),
      store.commit(append('also kept')),
    ])
    expect(outcomes).toMatchObject([
      { status: 'fulfilled', value: { results: [{ kind: 'log-appended', sequence: 1 }] } },
      { status: 'rejected', reason: { code: 'store_outcome_unknown' } },
    ])
    expect(await store.commit(append('lost', 'c1'))).toEqual({
      results: [{ kind: 'log-appended', sequence: 3 }],
    })
    await store.close()
  })
})

describe('a full disk', () => {
  it('writes nothing, says so, and a later commit succeeds', async () => {
    const { state, driver } = failingDriver()
    const store = await openWithDriver(driver, { path: join(directory, 'a.db'), worker: false })
    state.next = { errcode: diskFull, when: 'before' }
    const outcomes = await Promise.allSettled([
      store.commit(append('a')),
      store.commit(append('b')),
    ])
    expect(outcomes).toMatchObject([
      { reason: { code: 'store_full', retryable: true } },
      { reason: { code: 'store_full', retryable: true } },
    ])
    expect((await store.logPage(sessionId, 'l', { from: 0, limit: 9 })).next).toBe(0)
    await store.commit(append('a'))
    await store.close()
  })
})

describe('chunks that are held', () => {
  it('go at once after a rest, then each 20 ms, or with the first commit that is not', async () => {
    const system = createManualSystem()
    const store = await openWithDriver(nodeSqlite, {
      path: join(directory, 'a.db'),
      worker: false,
      system,
    })
    const settled: string[] = []
    const write = (key: string, urgency: 'now' | 'chunks') =>
      store.commit({ ...append(key), urgency }).then(() => settled.push(key))
    await write('alone', 'chunks')
    await system.advance(5)
    const second = write('second', 'chunks')
    await system.advance(14)
    expect(settled).toEqual(['alone'])
    await system.advance(1)
    await second
    const along = [write('held', 'chunks'), write('step', 'now')]
    await system.settle()
    expect(settled).toEqual(['alone', 'second', 'held', 'step'])
    await Promise.all(along)
    await store.close()
  })
})

describe('a group', () => {
  const commit = (
    id: number,
    session: string,
    urgency: 'now' | 'chunks',
    length = 10,
  ): WriterRequest => ({
    id,
    kind: 'commit',
    commit: {
      sessionId: session,
      urgency,
      writes: [
        { kind: 'log-append', log: 'l', key: 'k', value: 'x'.repeat(length), onFailure: 'fail' },
      ],
    },
  })
  const ids = (requests: readonly WriterRequest[]) => requests.map(({ id }) => id)
  const large = 5 * 1024 * 1024

  it('is all that waits, in its order, as long as that fits', () => {
    const pending = [commit(1, 'a', 'chunks'), commit(2, 'b', 'now'), commit(3, 'a', 'now')]
    expect(nextGroup(pending)).toEqual([pending, []])
  })

  it('prefers steps to chunks when not all fit, and never turns a session around', () => {
    const [group, rest] = nextGroup([
      commit(1, 'chunks only', 'chunks', large),
      commit(2, 'both', 'chunks', large),
      commit(3, 'both', 'now'),
      commit(4, 'chunks only', 'chunks'),
      commit(5, 'step', 'now'),
    ])
    expect([ids(group), ids(rest)]).toEqual([
      [2, 3, 5],
      [1, 4],
    ])
  })

  it('takes one request however large it is', () => {
    const [group, rest] = nextGroup([commit(1, 'a', 'now', 3 * large), commit(2, 'a', 'now')])
    expect([ids(group), ids(rest)]).toEqual([[1], [2]])
  })

  it('has a bound in number', () => {
    const pending = Array.from({ length: 1_500 }, (_, id) => commit(id, String(id), 'now'))
    const [group, rest] = nextGroup(pending)
    expect(ids([...group, ...rest])).toEqual(ids(pending))
    expect(group).toHaveLength(1_000)
  })
})
