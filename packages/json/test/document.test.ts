import { Limits } from '@holdfast/core'
import { describe, expect, test } from 'vitest'
import { documentFromValue, parseDocument } from '../src/index.ts'
import { codeOf, failureOf } from './failure.ts'

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

describe('parseDocument', () => {
  test('gives the value and its canonical bytes', () => {
    const document = parseDocument(new TextEncoder().encode(' {"z":2,"a":1} '))
    expect(document.value).toEqual({ a: 1, z: 2 })
    expect(textOf(document.bytes)).toBe('{"a":1,"z":2}')
  })

  test.each(['null', '[]', '1', '"{}"', 'true'])('refuses %s, which is no object', (text) => {
    expect(failureOf(() => parseDocument(text))).toMatchObject({
      code: 'input_invalid',
      message: 'document must be a JSON object',
    })
  })

  test.each([
    ['', 'json_invalid', 'empty JSON document'],
    ['{} {}', 'json_trailing_data', 'trailing JSON value'],
    ['}', 'json_invalid', 'malformed JSON'],
    ['{"count":[1}', 'json_invalid', 'malformed JSON'],
    [`{}${' '.repeat(262_143)}`, 'json_too_large', 'JSON document exceeds 262144 bytes'],
    [`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`, 'json_too_deep', 'JSON depth exceeds 32'],
  ])('cases 18, 20, 29: %.20s', (text, code, message) => {
    expect(failureOf(() => parseDocument(text))).toMatchObject({ code, message })
  })

  test('the canonical bytes are bounded too, for they can be longer than the text', () => {
    const text = `{"a":[${Array.from({ length: 20_000 }, () => '1e20').join(',')}]}`
    expect(text.length).toBeLessThan(Limits.inputBytes)
    expect(codeOf(() => parseDocument(text))).toBe('json_too_large')
  })

  test('limits can be other ones', () => {
    expect(codeOf(() => parseDocument('{"a":1}', { maxBytes: 7 }))).toBeUndefined()
    expect(codeOf(() => parseDocument('{"a":1}', { maxBytes: 6 }))).toBe('json_too_large')
    expect(codeOf(() => parseDocument('{"a":1}', { maxProperties: 0 }))).toBe(
      'json_too_many_properties',
    )
  })
})

describe('documentFromValue', () => {
  test('gives what parsing its text would give', () => {
    const value = { z: [1, -0], a: 'é' }
    expect(documentFromValue(value)).toEqual(parseDocument(JSON.stringify(value)))
  })

  test('has the same limits', () => {
    expect(codeOf(() => documentFromValue([]))).toBe('input_invalid')
    expect(codeOf(() => documentFromValue({ a: undefined }))).toBe('json_unsupported_value')
    expect(codeOf(() => documentFromValue({ a: 'x'.repeat(262_144 - 8) }))).toBeUndefined()
    expect(codeOf(() => documentFromValue({ a: 'x'.repeat(262_144 - 7) }))).toBe('json_too_large')
    expect(codeOf(() => documentFromValue({ a: 1 }, { maxDepth: 0 }))).toBe('json_too_deep')
    expect(codeOf(() => documentFromValue({ a: 1 }, { maxBytes: 0 }))).toBe('configuration_invalid')
  })
})
