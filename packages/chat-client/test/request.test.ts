import { describe, expect, test } from 'vitest'
import { isRetryableStatus, reconnectDelay, retryAfterFromHeader } from '../src/backoff.ts'
import { mergeHeaders, resolve, resourceUrl, withStartIndex } from '../src/request.ts'

describe('resourceUrl', () => {
  test.each([
    ['/api/chat', 'run-1', '/api/chat/run-1/stream'],
    ['/api/chat/', 'a b/c?d#e', '/api/chat/a%20b%2Fc%3Fd%23e/stream'],
    ['/api/chat//?v=1&w#top', 'r', '/api/chat/r/stream?v=1&w#top'],
    ['https://tide.example:8443/chat', 'r', 'https://tide.example:8443/chat/r/stream'],
    ['', 'r', '/r/stream'],
  ])('%s for %s', (api, id, url) => {
    expect(resourceUrl(api, id, 'stream')).toBe(url)
  })

  test.each(['', '.', '..'])('refuses the id %j', (id) => {
    expect(() => resourceUrl('/api/chat', id, 'cancel')).toThrowError(
      expect.objectContaining({ code: 'id_invalid' }),
    )
  })
})

describe('withStartIndex', () => {
  test.each([
    ['/s', '/s?startIndex=5'],
    ['/s?', '/s?startIndex=5'],
    ['/s?a=%20b', '/s?a=%20b&startIndex=5'],
    ['/s?startIndex=1&a=1&startIndex=2#h', '/s?a=1&startIndex=5#h'],
    ['/s?mystartIndex=1', '/s?mystartIndex=1&startIndex=5'],
    ['/s#h?x', '/s?startIndex=5#h?x'],
  ])('%s becomes %s', (url, expected) => {
    expect(withStartIndex(url, 5)).toBe(expected)
  })
})

test('mergeHeaders: later ones win, whatever the case and the shape', () => {
  expect(
    mergeHeaders({ Accept: 'a', 'x-one': '1' }, undefined, new Headers({ accept: 'b' }), [
      ['X-Two', '2'],
    ]),
  ).toEqual({ accept: 'b', 'x-one': '1', 'x-two': '2' })
})

test('resolve takes a value, a promise and a function of either', async () => {
  expect(await resolve('a')).toBe('a')
  expect(await resolve(Promise.resolve('a'))).toBe('a')
  expect(await resolve(() => 'a')).toBe('a')
  expect(await resolve(async () => 'a')).toBe('a')
  expect(await resolve(undefined)).toBeUndefined()
})

describe('reconnectDelay', () => {
  test('doubles up to the longest, of which half is left to chance', () => {
    const delays = (random: number): number[] =>
      [1, 2, 3, 4, 5, 6, 7, 5000].map((attempt) => reconnectDelay({ attempt, random }))
    expect(delays(0)).toEqual([250, 500, 1000, 2000, 4000, 7500, 7500, 7500])
    expect(delays(1)).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000])
  })

  test('is never shorter than what the server asked for, up to two minutes', () => {
    const delay = (retryAfterMs: number): number =>
      reconnectDelay({ attempt: 1, random: 0, retryAfterMs }, { initialDelayMs: 10 })
    expect([delay(0), delay(3000), delay(9e9)]).toEqual([5, 3000, 120_000])
  })
})

test('isRetryableStatus', () => {
  expect([408, 425, 429, 500, 502, 503, 504, 599].every(isRetryableStatus)).toBe(true)
  expect([301, 400, 401, 403, 404, 409, 410, 413, 422].some(isRetryableStatus)).toBe(false)
})

test('retryAfterFromHeader reads seconds and dates, nothing else', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  expect(retryAfterFromHeader('3', now)).toBe(3000)
  expect(retryAfterFromHeader('Thu, 01 Jan 2026 00:00:09 GMT', now)).toBe(9000)
  expect(retryAfterFromHeader('Thu, 01 Jan 1970 00:00:00 GMT', now)).toBe(0)
  for (const text of [null, '', '-1', '1.5', 'soon']) {
    expect(retryAfterFromHeader(text, now)).toBeUndefined()
  }
})
