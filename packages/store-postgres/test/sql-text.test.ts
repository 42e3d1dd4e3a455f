import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { payloads } from '../src/announcements.ts'
import { chunksOf, chunksText, tagsText } from '../src/columns.ts'
import { sql, trusted } from '../src/sql-text.ts'
import { topicHash } from '../src/topic-hash.ts'
import { query, serverUrl } from './support/postgres-target.ts'

describe('SQL as text', () => {
  it('keeps what is trusted, and quotes what is not', () => {
    expect(sql`select ${trusted('a')} = ${"it's"}, ${-1}, ${2.5}, ${true}, ${null}`.text).toBe(
      "select a = 'it''s', (-1), 2.5, true, null",
    )
  })

  it('refuses what no statement can hold', () => {
    expect(() => sql`select ${'a\0b'}`).toThrow(TypeError)
    expect(() => sql`select ${Number.NaN}`).toThrow(TypeError)
  })
})

describe.skipIf(serverUrl === '')('SQL on a server [needs postgres]', () => {
  it.each(['on', 'off'])(
    'gives each text back as it was, with standard_conforming_strings %s',
    async (setting) => {
      const texts = ["'", '\\', "\\'", "'; drop table x; --", 'a\\\\b', 'ü€😀', '\n\t', '$1', "E'"]
      const random = fc.sample(fc.string({ unit: 'grapheme' }), { numRuns: 200, seed: 7 })
      for (const text of [...texts, ...random.filter((one) => !one.includes('\0'))]) {
        const [row] = await query(sql`select ${text} as text`.text, withSetting(setting))
        expect(row).toEqual({ text })
      }
    },
    60_000,
  )
})

function withSetting(setting: string): string {
  const url = new URL(serverUrl)
  url.searchParams.set('options', `-c standard_conforming_strings=${setting}`)
  return url.href
}

describe('chunks in one row', () => {
  it('come back as they were, whatever stands in them', () => {
    const chunk = fc.record(
      { data: fc.string(), tag: fc.string({ minLength: 1 }) },
      { requiredKeys: ['data'] },
    )
    fc.assert(
      fc.property(fc.array(chunk, { minLength: 1 }), (chunks) => {
        expect(chunksOf({ data: chunksText(chunks), tags: tagsText(chunks) })).toEqual(chunks)
      }),
    )
  })
})

describe('a notification', () => {
  const keys = (count: number) => Array.from({ length: count }, (_, index) => `run/s/${index}`)

  it('fits into 8,000 bytes, and names each topic once', () => {
    const list = payloads(keys(2_000), '0190a1b2-0000-7000-8000-00000000000a')
    for (const payload of list) expect(Buffer.byteLength(payload)).toBeLessThan(8_000)
    const hashes = list.flatMap((payload) => payload.split(',').slice(1))
    expect(hashes).toEqual(keys(2_000).map(topicHash))
    expect(new Set(hashes).size).toBe(2_000)
  })

  it('of too many topics says that everything may have changed', () => {
    expect(payloads(keys(2_001), 'me')).toEqual(['me,*'])
    expect(payloads([], 'me')).toEqual([])
  })
})
