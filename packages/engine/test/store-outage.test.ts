import { describe, expect, test } from 'vitest'
import { forEachSeed, replayFaults } from '@holdfast/testing'
import { chargesOnce } from './testing-guide.examples.ts'

describe('a store that is away for a while', () => {
  test('R6: and does not hear that a session was let go of, is told again: a run that sleeps wakes up', async () => {
    const heard = replayFaults([{ call: 16, kind: 'fail-call' }], chargesOnce)
    await expect(heard).resolves.not.toThrow()
  })

  test('R6: is no crash: no run is failed for it, however often it is taken up again', async () => {
    const outages = forEachSeed(
      {
        seed: 1,
        seeds: 10,
        rate: 0.2,
        kinds: ['fail-before', 'fail-after', 'delay', 'tear-watches', 'hold-watches', 'fail-call'],
      },
      chargesOnce,
    )
    await expect(outages).resolves.not.toThrow()
  })
})
