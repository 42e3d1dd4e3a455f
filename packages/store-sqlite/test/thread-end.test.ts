import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteStore } from '../src/index.ts'

let directory = ''
const threads: Worker[] = []
const started = (thread: Worker): void => void threads.push(thread)
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-thread-'))
  threads.length = 0
  process.on('worker', started)
})
afterEach(() => {
  process.off('worker', started)
  rmSync(directory, { recursive: true })
})

/** A thread that has exited has no number any more. */
const numbers = () => threads.map(({ threadId }) => threadId)

describe('the thread that writes (K4)', () => {
  it('has exited when its opening has failed', async () => {
    // A client looks at no file that is not there, so that the thread is the one that fails.
    const path = join(directory, 'missing', 'store.db')
    await expect(openSqliteStore({ path, mode: 'client' })).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    expect(numbers()).toEqual([-1])
  })

  it('has exited when closing has resolved, for everybody who closes', async () => {
    const store = await openSqliteStore({ path: join(directory, 'store.db') })
    expect(numbers()).toEqual([expect.toSatisfy((number: number) => number > 0)])
    const first = store.close()
    await store.close()
    expect(numbers()).toEqual([-1])
    await first
  })

  it('has exited when a store is closed whose writer was lost', async () => {
    const store = await openSqliteStore({ path: join(directory, 'store.db') })
    const [thread] = threads
    void thread?.terminate()
    await store.close()
    expect(numbers()).toEqual([-1])
  })
})
