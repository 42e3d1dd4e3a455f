// Every acceptance case of the runs' contract (11 to 80), and every fault that is the engine's, has a
// test that names it: `63, R5: of sixteen answers …`, `case 17: …`, `A19: …`.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Cases without a meaning here, and why. */
const voided: ReadonlyMap<number, string> = new Map([
  [26, 'keys of a key-value store: runs have a store port of their own'],
  [37, 'keys of a key-value store'],
  [47, 'a publisher: the journal is the record of activities, and pages read it'],
  [49, 'a publisher'],
  [51, 'a publisher'],
  [76, 'replay by another product'],
])

const faults = ['A19', 'A20', 'A21', 'A22', 'A23', 'R1', 'R4', 'R5', 'R6'] as const

/** Where cases 11 to 80 are tested: schemas and documents in json, definitions in workflow, the rest here. */
const packages = ['json', 'workflow', 'engine'] as const

const named = namedCases()

describe('acceptance', () => {
  const cases = Array.from({ length: 70 }, (_, index) => index + 11)

  test.each(cases.filter((number) => !voided.has(number)))('case %i has a test', (number) => {
    expect(named.get(String(number)) ?? []).not.toEqual([])
  })

  test.each(faults)('fault %s has a test', (fault) => {
    expect(named.get(fault) ?? []).not.toEqual([])
  })

  test('what is void has no test that claims it', () => {
    for (const number of voided.keys()) expect(named.get(String(number))).toBeUndefined()
  })

  test('the reading of titles tells one from none', () => {
    expect(numbersOf('63, R5: of sixteen answers at once')).toEqual(['63', 'R5'])
    expect(numbersOf('cases 18, 20, 29: text')).toEqual(['18', '20', '29'])
    expect(numbersOf('case 17: compiles equal schemas once')).toEqual(['17'])
    expect(numbersOf('65,536 bytes are accepted, one more refused')).toEqual([])
    expect(numbersOf('1,024 properties: all levels')).toEqual([])
    expect(numbersOf('a run runs: once')).toEqual([])
  })
})

/** Titles by the cases that they name. */
function namedCases(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const name of packages) {
    const folder = join(import.meta.dirname, '../../..', name, 'test')
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.test.ts') || file.endsWith('cases.test.ts')) continue
      for (const title of titlesIn(readFileSync(join(folder, file), 'utf8'))) {
        for (const number of numbersOf(title)) {
          found.set(number, [...(found.get(number) ?? []), title])
        }
      }
    }
  }
  return found
}

/** Titles of tests: the first text behind `test(`, `it(` or the table of an `each`. */
function titlesIn(source: string): readonly string[] {
  const titles = /(?:\b(?:test|it|describe)\(|\)\()\s*(['"`])((?:(?!\1).)*)\1/g
  return [...source.matchAll(titles)].flatMap(([, , title]) => (title === undefined ? [] : [title]))
}

/** The cases that a title begins with. */
function numbersOf(title: string): readonly string[] {
  const head = /^(?:cases? )?((?:[A-Z]?\d{1,2})(?:, [A-Z]?\d{1,2})*)[:.] /.exec(title)?.[1]
  return head === undefined ? [] : head.split(', ')
}
