import { describe, expect, test } from 'vitest'
import { eventIdOf, stepIdOf } from '../src/index.ts'

const uuid = (n: number): string => `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`
const run = { sessionId: uuid(1), runId: uuid(2) }

describe('event ids', () => {
  test('agree with the published vectors (spec/tools 7.5)', () => {
    expect(eventIdOf({ ...run, kind: 'run_started', revision: 0 })).toBe(
      'd5a9e63d-3a36-53de-97f8-db5ecdb1306e',
    )
    expect(eventIdOf({ ...run, kind: 'run_completed', revision: 4 })).toBe(
      'ea0520c2-40e6-5ccb-9fc2-19049fc9992d',
    )
  })

  test('case 50: ordinals, steps and revisions separate ids', () => {
    const at = { ...run, kind: 'step_completed', revision: 1, stepId: uuid(3) } as const
    const ids = [
      eventIdOf({ ...at, ordinal: 0 }),
      eventIdOf({ ...at, ordinal: 1 }),
      eventIdOf({ ...at, revision: 2 }),
      eventIdOf({ ...at, stepId: uuid(4) }),
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('a step id depends on the run and the whole path', () => {
    expect(stepIdOf(uuid(2), 'a/b')).not.toBe(stepIdOf(uuid(2), 'a/b#2'))
    expect(stepIdOf(uuid(2), 'a/b')).not.toBe(stepIdOf(uuid(5), 'a/b'))
  })
})
