import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseUuid } from '@holdfast/core'

const cookieName = 'holdfast_session'
const yearSeconds = 365 * 24 * 60 * 60

/** A browser's session, and the cookie to set when it is new. */
export interface BrowserSession {
  readonly sessionId: string
  readonly setCookie?: string
}

/** Tells callers apart by a signed token: browsers keep it in a cookie, programs send it themselves. */
export interface SessionCookies {
  /** The session of a browser. A missing or forged cookie is a new one. */
  read(request: Request): BrowserSession
  /** The session of a program's `authorization: Bearer`, else of a cookie; never a new one. */
  known(request: Request): string | undefined
  /** What stands in the session's cookie, for programs. */
  tokenOf(sessionId: string): string
  /** The session that a token was made for. */
  sessionOf(token: string): string | undefined
}

/** Signs with this key; browsers keep their session as long as the key stays the same. */
export function createSessionCookies(key: string | Uint8Array): SessionCookies {
  const sign = (sessionId: string): Buffer =>
    createHmac('sha256', key).update(`holdfast-session-v1:${sessionId}`).digest()
  const tokenOf = (sessionId: string): string =>
    `${sessionId}.${sign(sessionId).toString('base64url')}`
  const sessionOf = (token: string): string | undefined => sessionOfToken(token, sign)
  const cookieSession = (request: Request): string | undefined =>
    sessionOfCookies(request.headers.get('cookie') ?? '', sessionOf)
  return {
    tokenOf,
    sessionOf,
    known(request) {
      const authorization = request.headers.get('authorization')
      if (authorization === null) return cookieSession(request)
      const token = /^Bearer (\S+)$/i.exec(authorization)?.[1]
      return token === undefined ? undefined : sessionOf(token)
    },
    read(request) {
      const known = cookieSession(request)
      if (known !== undefined) return { sessionId: known }
      const sessionId = randomUUID()
      const value = tokenOf(sessionId)
      const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${yearSeconds}`
      return { sessionId, setCookie: `${cookieName}=${value}; ${attributes}` }
    },
  }
}

function sessionOfCookies(
  header: string,
  sessionOf: (token: string) => string | undefined,
): string | undefined {
  for (const pair of header.split(';')) {
    const [name, value] = pair.trim().split('=', 2)
    const sessionId = name === cookieName && value !== undefined ? sessionOf(value) : undefined
    if (sessionId !== undefined) return sessionId
  }
  return undefined
}

function sessionOfToken(token: string, sign: (sessionId: string) => Buffer): string | undefined {
  const [sessionId = '', signature = ''] = token.split('.', 2)
  const given = Buffer.from(signature, 'base64url')
  const expected = sign(sessionId)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  return parseUuid('session', sessionId)
}

/** The signing key: from the environment, else made once and kept beside the database, mode 0600. */
export function sessionKey(secret: string | undefined, path: string): string {
  if (secret !== undefined && secret !== '') return secret
  if (!existsSync(path)) {
    try {
      writeFileSync(path, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' })
    } catch (error) {
      if (!existsSync(path)) throw error
    }
  }
  chmodSync(path, 0o600)
  return readFileSync(path, 'utf8').trim()
}
