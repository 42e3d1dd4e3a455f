import { describe, expect, test } from 'vitest'
import { runProgress } from '../src/index.ts'
import type { JsonObject, StoredRun } from '../src/index.ts'

function progressOf(head?: JsonObject) {
  return runProgress((head === undefined ? {} : { head }) as StoredRun)
}

describe('runProgress', () => {
  test('reads what an engine writes at the head of a journal', () => {
    const progress = { completed: 1, total: 4, message: 'reading' }
    expect(progressOf({ completed_steps: 2, total_steps: 8, progress })).toEqual({
      completedSteps: 2,
      totalSteps: 8,
      ...progress,
    })
    expect(progressOf({ completed_steps: 0 })).toEqual({ completedSteps: 0 })
  })

  test('is absent where the head says nothing of it, or nonsense', () => {
    expect(progressOf()).toBeUndefined()
    expect(progressOf({})).toBeUndefined()
    expect(
      progressOf({ completed_steps: -1, total_steps: '8', progress: ['reading'] }),
    ).toBeUndefined()
    expect(progressOf({ progress: { completed: null, message: '' } })).toBeUndefined()
  })
})
