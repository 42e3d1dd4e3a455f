import { describe, expect, test } from 'vitest'
import { race } from './race-trial.ts'

describe('races', () => {
  test('of cancels, answers, messages, ends and takeovers lose nothing and end once', async () => {
    const ends = new Map<string, number>()
    for (let seed = 0; seed < 150; seed += 1) {
      const status = await race(seed)
      ends.set(status, (ends.get(status) ?? 0) + 1)
    }
    expect(ends.get('completed')).toBeGreaterThan(30)
    expect(ends.get('cancelled')).toBeGreaterThan(10)
  }, 60_000)
})
