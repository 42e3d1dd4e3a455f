import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeEntries, encodeEntries, projectActivities } from '../src/index.ts'
import type { JournalEntry } from '../src/index.ts'

const time = fc.integer({ min: 0, max: 4_000_000_000_000 })
const path = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' })
const stored = fc.oneof(
  fc.jsonValue().map((value) => ({ json: value as never })),
  fc.constant({ none: true as const }),
)

const entry: fc.Arbitrary<JournalEntry> = fc.oneof(
  fc.record({
    kind: fc.constant('step-completed' as const),
    at: time,
    path,
    label: path,
    attempt: fc.nat(),
    value: stored,
  }),
  fc.record({
    kind: fc.constant('timer-set' as const),
    at: time,
    path,
    label: path,
    wakeAt: time,
    for: fc.constantFrom('sleep' as const, 'receive' as const),
  }),
  fc.record({
    kind: fc.constant('message-arrived' as const),
    at: time,
    messageId: path,
    body: stored,
    inbox: fc.nat(),
  }),
  fc.record({ kind: fc.constant('timer-fired' as const), at: time, path }),
)

describe('any journal revision', () => {
  test('is read as it was written', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 8 }), fc.nat(), (entries, completedSteps) => {
        const data = encodeEntries(entries, completedSteps)
        const decoded = decodeEntries({ revision: 1, data })
        expect(encodeEntries(decoded.entries, decoded.completedSteps)).toBe(data)
      }),
    )
  })

  test('with any damage to its text is read whole or refused with a code', () => {
    fc.assert(
      fc.property(
        fc.array(entry, { minLength: 1, maxLength: 3 }),
        fc.nat(),
        fc.string({ maxLength: 3 }),
        (entries, at, noise) => {
          const data = encodeEntries(entries, entries.length)
          const place = at % data.length
          const damaged = data.slice(0, place) + noise + data.slice(place + 1)
          try {
            decodeEntries({ revision: 0, data: damaged })
          } catch (error) {
            expect(error).toMatchObject({
              code: expect.stringMatching(/^record_(?:corrupt|from_newer_version)$/) as unknown,
            })
          }
        },
      ),
    )
  })

  test('gives activities with ids of their own, the same each time', () => {
    const run = {
      sessionId: '00000000-0000-0000-0000-000000000001',
      runId: '00000000-0000-0000-0000-000000000002',
      definition: { name: 'any_flow', version: 'v1' },
    }
    const distinct = fc.uniqueArray(entry, {
      maxLength: 8,
      // An operation settles once.
      selector: (each) => ('path' in each ? `${each.kind} ${each.path}` : each.kind),
    })
    fc.assert(
      fc.property(distinct, (entries) => {
        const completedSteps = entries.filter(({ kind }) => kind === 'step-completed').length
        const revision = { revision: 3, completedSteps, entries }
        const activities = projectActivities(run, revision)
        expect(projectActivities(run, revision)).toEqual(activities)
        expect(new Set(activities.map(({ eventId }) => eventId)).size).toBe(activities.length)
      }),
    )
  })
})
