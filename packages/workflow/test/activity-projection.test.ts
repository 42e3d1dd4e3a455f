import { describe, expect, test } from 'vitest'
import { projectActivities } from '../src/index.ts'
import type { JournalEntry } from '../src/index.ts'

const run = {
  sessionId: '00000000-0000-0000-0000-000000000001',
  runId: '00000000-0000-0000-0000-000000000002',
  definition: { name: 'counter_flow', version: 'v1' },
}
const step = (label: string, at: number): JournalEntry => ({
  kind: 'step-completed',
  at,
  path: label,
  label,
  attempt: 1,
  value: { json: 'secret value' },
})

describe('the projection to activities', () => {
  test('case 42: is pure and shows nothing of values', () => {
    const revision = {
      revision: 2,
      completedSteps: 3,
      entries: [step('first', 10), step('second', 11)],
    }
    const once = projectActivities(run, revision)
    expect(JSON.stringify(projectActivities(run, revision))).toBe(JSON.stringify(once))
    expect(JSON.stringify(once)).not.toContain('secret')
    expect(once.map((activity) => [activity.stepLabel, activity.completedSteps])).toEqual([
      ['first', 2],
      ['second', 3],
    ])
    expect(new Set(once.map((activity) => activity.eventId)).size).toBe(2)
  })

  test('case 43: labels are cut at 128 bytes on a code point, without control characters', () => {
    const [activity] = projectActivities(run, {
      revision: 1,
      completedSteps: 1,
      entries: [step(`\u0007${'é'.repeat(80)}`, 1)],
    })
    expect(activity?.stepLabel).toBe('é'.repeat(64))
  })

  test('case 44: one terminal activity for each end', () => {
    for (const status of ['completed', 'cancelled', 'failed'] as const) {
      const activities = projectActivities(run, {
        revision: 4,
        completedSteps: 0,
        entries: [
          { kind: 'run-ended', at: 1, status, undelivered: [], superseded: [], inFlight: [] },
        ],
      })
      expect(activities.map((activity) => activity.kind)).toEqual([`run_${status}`])
    }
  })

  test('completed never exceeds total', () => {
    const [activity] = projectActivities(
      { ...run, totalSteps: 1 },
      { revision: 1, completedSteps: 2, entries: [step('again', 1)] },
    )
    expect(activity).toMatchObject({ completedSteps: 2, totalSteps: 2 })
  })
})
