import { describe, test } from 'vitest'
import { race } from './race-trial.ts'

describe('races, long', () => {
  test('10,000 of cancels, answers, messages, ends and takeovers lose nothing and end once', async () => {
    for (let seed = 1_000; seed < 11_000; seed += 1) await race(seed)
  }, 1_800_000)
})
