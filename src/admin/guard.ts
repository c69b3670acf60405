/**
 * The session of a request.
 *
 * Only the cookie identifies a session, and only here: an API key is never looked at, and a session
 * is nothing under `/v1`. Browsers send a cookie to every port of its host, so its name contains
 * the port: servers side by side keep their sessions apart. And whatever listens on another port of
 * the host may be sent the cookie, so alone it changes nothing: that needs the session's token too,
 * which is told once, to the page or script that signed in.
 *
 * @module
 */

import { timingSafeEqual } from 'node:crypto'
import type { AdminAccess, Session } from '../accounts/admin-access.js'
import { OiError } from '../errors.js'
import type { Head } from '../http/contract.js'

/** Ends the name of the cookie that a browser is known by. */
const known = '_known'
const knownSeconds = 365 * 86_400
const csrfHeader = 'x-oi-csrf'
/** A secret in base64url. */
const secretForm = /^[\w-]{43}$/

/** @throws {@link OiError} `ERR_SESSION` if there is no session, or it has ended. */
export function requireSession(head: Head, access: Pick<AdminAccess, 'session'>): Session {
  const session = sessionOf(head, access)
  if (session !== undefined) return session
  throw new OiError('ERR_SESSION', 'There is no session, or it has ended: sign in')
}

export function sessionOf(head: Head, access: Pick<AdminAccess, 'session'>): Session | undefined {
  for (const secret of secretsIn(head, cookieName(head))) {
    const session = access.session(secret)
    if (session !== undefined) return session
  }
  return undefined
}

/** What a browser is known by that has signed in before (throttle.ts); undefined: nothing. */
export function browserOf(head: Head): string | undefined {
  return secretsIn(head, `${cookieName(head)}${known}`)[0]
}

function secretsIn(head: Head, wanted: string): readonly string[] {
  return head
    .getHeader('cookie')
    .split(';')
    .map((cookie) => cookie.trim().split('=', 2))
    .filter(([name, value = '']) => name === wanted && secretForm.test(value))
    .map(([, value]) => value!)
}

/**
 * @param asking - Whether the request only asks about its session: without the token it has none.
 * @throws {@link OiError} `ERR_FORBIDDEN`, or `ERR_SESSION`, unless the request has the session's own
 *   token.
 */
export function requireCsrf(head: Head, { csrfToken }: Session, asking: boolean): void {
  const sent = Buffer.from(head.getHeader(csrfHeader))
  const expected = Buffer.from(csrfToken)
  if (sent.length === expected.length && timingSafeEqual(sent, expected)) return
  if (asking) {
    throw new OiError('ERR_SESSION', `There is no session with this ${csrfHeader}: sign in`)
  }
  throw new OiError('ERR_FORBIDDEN', `${csrfHeader}: expected the csrf_token of the session`)
}

/** The headers that make a browser keep a session, or forget it, and what it is known by. */
export function cookieHeaders(
  name: string,
  secure: boolean,
  secret: string | undefined,
  browser?: string,
): readonly string[] {
  const attributes = `Path=/admin; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  const value = secret ?? ''
  const end = secret === undefined ? '; Max-Age=0' : ''
  const session = ['set-cookie', `${name}=${value}; ${attributes}${end}`]
  if (browser === undefined) return session
  const kept = `${name}${known}=${browser}; ${attributes}; Max-Age=${knownSeconds}`
  return [...session, 'set-cookie', kept]
}

/**
 * Named after the port that the client uses: behind a proxy or a tunnel, the server's is another.
 */
export function cookieName(head: Pick<Head, 'getHeader'>): string {
  const [, port] = /:(\d{1,5})$/.exec(head.getHeader('host')) ?? []
  return port === undefined ? 'oi_admin' : `oi_admin_${port}`
}
