import { describe, test } from 'vitest'
import { tryWith } from './crash-trial.ts'

describe('a crash matrix, whole', () => {
  for (const fault of [
    'fail-before',
    'fail-after',
    'take-session',
    'tear-watches',
    'delay',
  ] as const) {
    test(`R6: ${fault} at each commit is got over by the same process`, async () => {
      const { commits } = await tryWith({ kind: 'none' })
      for (let commit = 1; commit <= commits; commit += 1) {
        await tryWith({ kind: 'fault', fault, commit })
      }
    }, 600_000)
  }

  for (const when of ['before', 'after'] as const) {
    test(`A19: a death just ${when} each commit is got over by another process`, async () => {
      const { commits } = await tryWith({ kind: 'none' })
      for (let commit = 1; commit <= commits; commit += 1) {
        await tryWith({ kind: 'death', when, commit })
      }
    }, 600_000)
  }
})
