import { describe, expect, test } from 'vitest'
import { ErrorCode, HoldfastError, runNotFound, StoreConflictError } from '@holdfast/core'
import { utf8Length } from '@holdfast/json'
import { modelErrorBytes, modelErrorText } from '../src/index.ts'

const runId = '00000000-0000-7000-8000-00000000000a'

describe('what a model is told of a failure', () => {
  test('is the code, what failed, on which run, and what to do next', () => {
    expect(modelErrorText(runNotFound(runId))).toBe(
      `run_not_found: No run ${runId} in this session. workflow_run_list shows the runs of this session.`,
    )
    const ended = new HoldfastError('run_ended', {
      message: `Run ${runId} is completed: nothing is waiting for an answer.`,
    })
    expect(modelErrorText(ended)).toContain('is completed: nothing is waiting for an answer.')
  })

  test.each(Object.values(ErrorCode))('%s is bounded, on one line, and says what to do', (code) => {
    for (const message of ['', 'short', 'é\u0000\n\u2028'.repeat(2_000), '\ud800'.repeat(3_000)]) {
      const text = modelErrorText(new HoldfastError(code, { message, details: { run_id: runId } }))
      expect(utf8Length(text)).toBeLessThanOrEqual(modelErrorBytes)
      expect(text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}]/u)
      expect(text.startsWith(`${code}:`)).toBe(true)
      expect(text).toMatch(/\.$/)
    }
  })

  test('never holds what a store or a foreign error said', () => {
    const secret = 'postgres://user:password@db'
    for (const error of [
      new Error(secret),
      secret,
      undefined,
      new HoldfastError('internal', { message: secret }),
      new HoldfastError('store_unavailable', { message: secret, cause: new Error(secret) }),
      new HoldfastError('record_corrupt', { message: secret }),
      new HoldfastError('model_failed', { message: secret }),
    ]) {
      expect(modelErrorText(error)).not.toContain('password')
    }
    const conflict = new StoreConflictError({ reason: 'journal-revision', write: 0 })
    expect(modelErrorText(conflict)).not.toContain('journal')
  })
})
