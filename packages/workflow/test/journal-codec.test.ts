import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  decodeEntries,
  decodeInboxEntry,
  encodeEntries,
  encodeInboxEntry,
  journalEntrySchemas,
} from '../src/index.ts'
import type { JournalEntry } from '../src/index.ts'

const completed: JournalEntry = {
  kind: 'step-completed',
  at: 5,
  path: 'load order',
  label: 'load order',
  attempt: 1,
  value: { json: { total: 240 } },
}

describe('the journal codec', () => {
  test('gives back what was written', () => {
    const data = encodeEntries([completed], 1)
    expect(decodeEntries({ revision: 3, data })).toEqual({
      revision: 3,
      completedSteps: 1,
      entries: [completed],
    })
  })

  test('A9: reads this version for ever (golden)', () => {
    const golden =
      '{"v":1,"n":1,"e":[{"kind":"step-completed","at":5,"path":"load order","label":"load order","attempt":1,"value":{"json":{"total":240}}}]}'
    expect(decodeEntries({ revision: 0, data: golden }).entries).toEqual([completed])
    expect(encodeEntries([completed], 1)).toBe(golden)
  })

  test('A9: reads every kind of entry of this version for ever, to the byte (golden)', () => {
    const golden = join(import.meta.dirname, 'golden/journal-v1.txt')
    const rows = readFileSync(golden, 'utf8').trimEnd().split('\n')
    const kinds = new Set<string>()
    for (const [revision, data] of rows.entries()) {
      const decoded = decodeEntries({ revision, data })
      expect(decoded.completedSteps).toBe(revision)
      expect(encodeEntries(decoded.entries, revision)).toBe(data)
      for (const { kind } of decoded.entries) kinds.add(kind)
    }
    expect([...kinds].toSorted()).toEqual(Object.keys(journalEntrySchemas).toSorted())
  })

  test('case 36: refuses unknown kinds and fields, other forms and a newer version', () => {
    const refuse = (data: string, code: string): void => {
      expect(() => decodeEntries({ revision: 0, data })).toThrow(expect.objectContaining({ code }))
    }
    refuse('{"v":1,"n":0,"e":[{"kind":"constructor","at":1}]}', 'record_corrupt')
    refuse(
      '{"v":1,"n":0,"e":[{"kind":"timer-fired","at":1,"path":"a","more":1}]}',
      'record_corrupt',
    )
    refuse('{"v":1,"n":0}', 'record_corrupt')
    refuse('{"v":1', 'record_corrupt')
    refuse('null', 'record_corrupt')
    refuse('{"v":2,"n":0,"e":[]}', 'record_from_newer_version')
  })
})

describe('the inbox codec', () => {
  test('gives back what was written and refuses the rest', () => {
    const entry = { kind: 'cancel', at: 1, reason: 'enough', by: 'person' } as const
    const value = encodeInboxEntry(entry)
    expect(decodeInboxEntry({ sequence: 0, key: 'cancel', value })).toEqual(entry)
    for (const [bad, code] of [
      ['{"v":2}', 'record_from_newer_version'],
      ['{"v":1,"kind":"cancel"}', 'record_corrupt'],
      ['[]', 'record_corrupt'],
    ] as const) {
      expect(() => decodeInboxEntry({ sequence: 0, key: 'cancel', value: bad })).toThrow(
        expect.objectContaining({ code }),
      )
    }
  })
})
