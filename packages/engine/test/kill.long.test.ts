import { describe, expect, test } from 'vitest'
import { runThroughKills } from './kill.ts'

describe('a process on SQLite, long', () => {
  test('that is killed at random moments is followed by one that goes on at once', async () => {
    let hits = 0
    for (let seed = 1; seed <= 20; seed += 1) hits += await runThroughKills(seed, 12)
    expect(hits).toBeGreaterThan(60)
  }, 900_000)
})
