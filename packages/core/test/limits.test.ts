import { describe, expect, it } from 'vitest'
import { Limits, wholeNumberOption } from '../src/index.ts'

describe('a limit', () => {
  it('is a positive whole number', () => {
    const wrong = Object.entries(Limits).filter(
      ([, value]) => !Number.isSafeInteger(value) || value <= 0,
    )
    expect(wrong).toEqual([])
  })

  it('fits the ones that contain it', () => {
    expect(Limits.valueInlineBytes).toBeLessThan(Limits.valueBytes)
    expect(Limits.pageDefault).toBeLessThanOrEqual(Limits.pageMax)
    expect(Limits.maxWorkers).toBeLessThanOrEqual(Limits.maxWorkersMax)
    expect(Limits.nodeLeaseRenewMs * 3).toBeLessThan(Limits.nodeLeaseMs)
    expect(Limits.inputBytes).toBeLessThanOrEqual(Limits.httpBodyBytes)
  })
})

describe('a whole-number option', () => {
  const bounds = { min: 1, max: 64 }

  it('is taken within its bounds, both included', () => {
    expect(wholeNumberOption('maxWorkers', 1, bounds)).toBe(1)
    expect(wholeNumberOption('maxWorkers', 64, bounds)).toBe(64)
  })

  it('is refused outside them, and when it is no whole number', () => {
    for (const value of [0, 65, -1, 1.5, Number.NaN, Infinity, 2 ** 53]) {
      expect(() => wholeNumberOption('maxWorkers', value, bounds)).toThrow(
        expect.objectContaining({
          code: 'configuration_invalid',
          message: 'Option maxWorkers must be a whole number from 1 to 64.',
        }),
      )
    }
  })
})
