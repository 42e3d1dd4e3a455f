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

/** Tells browsers apart by a signed cookie. A missing or forged one is a new session. */
export interface SessionCookies {
  read(request: Request): BrowserSession
}

/** Signs with this key; browsers keep their session as long as the key stays the same. */
export function createSessionCookies(key: string | Uint8Array): SessionCookies {
  const sign = (sessionId: string): Buffer =>
    createHmac('sha256', key).update(`holdfast-session-v1:${sessionId}`).digest()
  return {
    read(request) {
      const known = sessionOf(request.headers.get('cookie') ?? '', sign)
      if (known !== undefined) return { sessionId: known }
      const sessionId = randomUUID()
      const value = `${sessionId}.${sign(sessionId).toString('base64url')}`
      const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${yearSeconds}`
      return { sessionId, setCookie: `${cookieName}=${value}; ${attributes}` }
    },
  }
}

function sessionOf(header: string, sign: (sessionId: string) => Buffer): string | undefined {
  for (const pair of header.split(';')) {
    const [name, value] = pair.trim().split('=', 2)
    if (name !== cookieName || value === undefined) continue
    const [sessionId = '', signature = ''] = value.split('.', 2)
    const given = Buffer.from(signature, 'base64url')
    const expected = sign(sessionId)
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) continue
    return parseUuid('session', sessionId)
  }
  return undefined
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
