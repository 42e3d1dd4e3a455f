import { describe, expect, test } from 'vitest'
import { runThroughKills } from './kill.ts'

describe('a process on SQLite', () => {
  test('that is killed at random moments is followed by one that goes on at once', async () => {
    expect(await runThroughKills(1, 3)).toBeGreaterThan(0)
  }, 60_000)
})
