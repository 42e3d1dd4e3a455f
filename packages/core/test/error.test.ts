import { describe, expect, it } from 'vitest'
import {
  aborted,
  ErrorCode,
  hasErrorCode,
  HoldfastError,
  isHoldfastError,
  isStoreConflict,
  retryableCodes,
  runNotFound,
  StoreConflictError,
} from '../src/index.ts'

describe('a Holdfast error', () => {
  it('is known by its brand, also when another copy of the package made it', async () => {
    const path = '../src/error.ts?copy'
    const copy = (await import(path)) as { readonly HoldfastError: typeof HoldfastError }
    const foreign = new copy.HoldfastError(ErrorCode.runEnded, { message: 'It has ended.' })
    expect(foreign).not.toBeInstanceOf(HoldfastError)
    expect(isHoldfastError(foreign)).toBe(true)
    expect(hasErrorCode(foreign, 'run_ended')).toBe(true)
    expect(hasErrorCode(foreign, 'run_exists')).toBe(false)
  })

  it('is not anything that looks like one', () => {
    const others = [new Error('x'), { code: 'run_ended' }, null, undefined, 'run_ended', 7]
    for (const value of others) expect(isHoldfastError(value)).toBe(false)
  })

  it('says whether the same may succeed later, by its code unless it is told otherwise', () => {
    for (const code of Object.values(ErrorCode)) {
      expect(new HoldfastError(code, { message: '' }).retryable).toBe(retryableCodes.has(code))
    }
    const given = new HoldfastError('store_unavailable', { message: '', retryable: false })
    expect(given.retryable).toBe(false)
  })

  it('keeps its cause for logs, and has none if none was given', () => {
    const cause = new Error('disk')
    expect(new HoldfastError('internal', { message: '', cause }).cause).toBe(cause)
    expect('cause' in new HoldfastError('internal', { message: '' })).toBe(false)
    const controller = new AbortController()
    controller.abort('enough')
    expect(aborted(controller.signal, 'The read')).toMatchObject({
      code: 'aborted',
      message: 'The read was aborted.',
      cause: 'enough',
    })
  })

  it('has plain details, safe to show', () => {
    expect(runNotFound('r')).toMatchObject({ code: 'run_not_found', details: { run_id: 'r' } })
    expect(new HoldfastError('internal', { message: '' }).details).toEqual({})
  })

  it('has codes that are distinct and in snake case', () => {
    const codes = Object.values(ErrorCode)
    expect(new Set(codes).size).toBe(codes.length)
    for (const code of codes) expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
  })
})

describe('a store conflict', () => {
  it('is told from other errors, by its reason', () => {
    const conflict = new StoreConflictError({ reason: 'log-grown', write: 2, actual: 5 })
    expect(conflict).toMatchObject({
      code: 'store_conflict',
      retryable: false,
      facts: { reason: 'log-grown', write: 2, actual: 5 },
      details: { reason: 'log-grown', write: 2, actual: 5 },
    })
    expect(isStoreConflict(conflict)).toBe(true)
    expect(isStoreConflict(conflict, 'log-grown')).toBe(true)
    expect(isStoreConflict(conflict, 'run-ended')).toBe(false)
    expect(isStoreConflict(new HoldfastError('store_conflict', { message: '' }))).toBe(false)
    expect(isStoreConflict(new Error('x'))).toBe(false)
  })
})
