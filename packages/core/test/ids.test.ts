import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  inboxOf,
  isUuid,
  parseStreamId,
  parseUuid,
  sessionIdFor,
  streamIdOf,
} from '../src/index.ts'

const id = '0190a1b2-c3d4-7000-8000-0000000000ef'

describe('a uuid', () => {
  it('is read in any case and given in lower case', () => {
    expect(parseUuid('run_id', id.toUpperCase())).toBe(id)
    expect(parseUuid('run_id', id)).toBe(id)
  })

  it('is hyphenated, whole and not zero; the error names the field and not the value', () => {
    const bad = [
      '',
      'x',
      id.slice(1),
      `${id}0`,
      ` ${id}`,
      `${id}\n`,
      id.replaceAll('-', ''),
      `{${id}}`,
      '00000000-0000-0000-0000-000000000000',
    ]
    for (const text of bad) {
      expect(isUuid(text)).toBe(false)
      expect(() => parseUuid('run_id', text)).toThrow(
        expect.objectContaining({
          code: 'id_invalid',
          message: 'run_id must be a nonzero UUID.',
          details: { field: 'run_id' },
        }),
      )
    }
  })
})

describe('a session id for a text', () => {
  it('is the same UUID for the same text, another for another, and never changes between releases', () => {
    expect(sessionIdFor('ann')).toBe('3ad6fb27-05cc-580e-8c87-36e0cbc78071')
    expect(sessionIdFor('bob')).not.toBe(sessionIdFor('ann'))
    expect(isUuid(sessionIdFor(''))).toBe(true)
  })
})

describe('a stream id', () => {
  it('is the run id, then the run id with a number, and is read back', () => {
    expect(streamIdOf(id, 1)).toBe(id)
    expect(streamIdOf(id, 2)).toBe(`${id}.2`)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999_999 }), (number) => {
        expect(parseStreamId(streamIdOf(id, number))).toEqual({ runId: id, number })
      }),
    )
  })

  it('has one form only', () => {
    const bad = [
      '',
      `${id}.`,
      `${id}.0`,
      `${id}.1`,
      `${id}.02`,
      `${id}.-2`,
      `${id}.2.3`,
      `${id}.2x`,
      id.toUpperCase(),
      '00000000-0000-0000-0000-000000000000',
    ]
    for (const text of bad) expect(parseStreamId(text)).toBeUndefined()
  })
})

describe('an inbox', () => {
  it('is the log of its run', () => {
    expect(inboxOf(id)).toBe(`inbox/${id}`)
  })
})
