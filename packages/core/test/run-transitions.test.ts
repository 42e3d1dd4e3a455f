import { describe, expect, it } from 'vitest'
import { isTerminal, isTransitionAllowed } from '../src/index.ts'
import type { RunStatus } from '../src/index.ts'

const statuses = [
  'pending',
  'running',
  'interrupted',
  'completed',
  'cancelled',
  'failed',
] as const satisfies readonly RunStatus[]

/** From each status: whether a run may move to each of `statuses`, in their order. */
const table: Readonly<Record<RunStatus, readonly boolean[]>> = {
  pending: [true, true, false, false, true, true],
  running: [false, true, true, true, true, true],
  interrupted: [false, true, true, false, true, true],
  completed: [false, false, false, true, false, false],
  cancelled: [false, false, false, false, true, false],
  failed: [false, false, false, false, false, true],
}

describe('a run', () => {
  for (const from of statuses) {
    for (const [index, to] of statuses.entries()) {
      const allowed = table[from][index] === true
      it(`${allowed ? 'may' : 'may not'} go from ${from} to ${to}`, () => {
        expect(isTransitionAllowed(from, to)).toBe(allowed)
      })
    }
  }

  it('has ended in three of its statuses', () => {
    expect(statuses.filter(isTerminal)).toEqual(['completed', 'cancelled', 'failed'])
  })
})
