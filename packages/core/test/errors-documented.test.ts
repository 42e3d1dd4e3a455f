import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ErrorCode } from '../src/index.ts'

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
const documented = [...page.matchAll(/^\| `([a-z_]+)` +\|/gm)].map(([, code = '']) => code)

describe('docs/errors.md', () => {
  test('has one line for each code, and none for others', () => {
    expect(new Set(documented)).toEqual(new Set(Object.values(ErrorCode)))
    expect(documented).toHaveLength(Object.values(ErrorCode).length)
  })
})
