// What docs/guides/testing.md shows is so.

import { expect, test } from 'vitest'
import { crashes, faults, remindsAfterADay } from './testing-guide.examples.ts'

test('a day passes at once', async () => {
  expect(await remindsAfterADay()).toEqual(['running', 'completed'])
})

test('an order is charged once, whenever the process dies', async () => {
  const { trials } = await crashes()
  expect(trials).toBeGreaterThan(10)
})

test('an order is charged once, whatever the store does', async () => {
  const tally = await faults()
  expect(tally.trials).toBe(20)
  expect(tally.faults).toBeGreaterThan(20)
})
