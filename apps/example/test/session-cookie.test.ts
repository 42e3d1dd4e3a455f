import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createSessionCookies, sessionKey } from '../server/session-cookie.ts'

const withCookie = (cookie?: string): Request =>
  new Request('http://localhost/', cookie === undefined ? {} : { headers: { cookie } })

const cookieOf = (setCookie: string | undefined): string => setCookie?.split(';')[0] ?? ''

describe('the session cookie', () => {
  test('is HttpOnly and SameSite=Lax, and gives the same session back', () => {
    const cookies = createSessionCookies('key')
    const first = cookies.read(withCookie())
    expect(first.setCookie).toMatch(/^holdfast_session=.*HttpOnly; SameSite=Lax/)
    const again = cookies.read(withCookie(`theme=dark; ${cookieOf(first.setCookie)}`))
    expect(again).toEqual({ sessionId: first.sessionId })
  })

  test.each([
    ['without a signature', (value: string) => value.replace(/\.[^.]*$/, '')],
    [
      'with another signature',
      (value: string) => value.replace(/\../, (c) => (c === '.A' ? '.Q' : '.A')),
    ],
    [
      'with another session',
      (value: string) => value.replace(/=./, (c) => (c === '=0' ? '=1' : '=0')),
    ],
    ['that is nonsense', () => 'holdfast_session=%%%'],
  ])('%s is a new session', (_name, forge) => {
    const cookies = createSessionCookies('key')
    const first = cookies.read(withCookie())
    const forged = cookies.read(withCookie(forge(cookieOf(first.setCookie))))
    expect(forged.sessionId).not.toBe(first.sessionId)
    expect(forged.setCookie).toBeDefined()
  })

  test('signed with another key is a new session', () => {
    const first = createSessionCookies('key').read(withCookie())
    const other = createSessionCookies('other').read(withCookie(cookieOf(first.setCookie)))
    expect(other.sessionId).not.toBe(first.sessionId)
  })

  test('has a key that is made once, mode 0600, and read again after a restart', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'holdfast-key-')), 'session.key')
    const key = sessionKey(undefined, path)
    expect(key.length).toBeGreaterThan(40)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(sessionKey(undefined, path)).toBe(key)
    expect(sessionKey('given', path)).toBe('given')
  })
})

describe('a program’s token', () => {
  const cookies = createSessionCookies('key')
  const session = '00000000-0000-4000-8000-000000000001'
  const token = cookies.tokenOf(session)
  const asked = (headers: Record<string, string>): string | undefined =>
    cookies.known(new Request('http://localhost/', { headers }))

  test('is what the cookie of its session holds', () => {
    const { sessionId, setCookie } = cookies.read(withCookie())
    expect(cookieOf(setCookie)).toBe(`holdfast_session=${cookies.tokenOf(sessionId)}`)
    expect(cookies.sessionOf(token)).toBe(session)
    expect(asked({ authorization: `Bearer ${token}` })).toBe(session)
    expect(asked({ authorization: `bearer ${token}` })).toBe(session)
    expect(asked({ cookie: `holdfast_session=${token}` })).toBe(session)
  })

  test.each([
    {},
    { cookie: 'holdfast_session=x' },
    { authorization: token },
    { authorization: `Basic ${token}` },
    { authorization: `Bearer ${token}x` },
    { authorization: `Bearer ${token} ${token}` },
    { authorization: `Bearer ${createSessionCookies('other').tokenOf(session)}` },
    { authorization: 'Bearer x', cookie: `holdfast_session=${token}` },
  ] as readonly Record<string, string>[])('%j is nobody, and makes no session', (headers) => {
    expect(asked(headers)).toBeUndefined()
  })
})
