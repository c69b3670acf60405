/**
 * The session of a request.
 *
 * Only the cookie identifies a session, and only here: an API key is never looked at, and a session
 * is nothing under `/v1`. Browsers send a cookie to every port of its host, so its name contains
 * the port: servers side by side keep their sessions apart. A request that changes something also
 * needs the session's token, which no other page can know.
 *
 * @module
 */

import { timingSafeEqual } from 'node:crypto'
import type { AdminAccess, Session } from '../../accounts/admin-access.js'
import { OiError } from '../../errors.js'
import type { Head } from '../transport/head.js'

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
  const wanted = cookieName(head)
  const cookies = head.getHeader('cookie').split(';')
  for (const cookie of cookies) {
    const [name, value = ''] = cookie.trim().split('=', 2)
    if (name !== wanted || !secretForm.test(value)) continue
    const session = access.session(value)
    if (session !== undefined) return session
  }
  return undefined
}

/** @throws {@link OiError} `ERR_FORBIDDEN` unless the request has the session's own token. */
export function requireCsrf(head: Head, { csrfToken }: Session): void {
  const sent = Buffer.from(head.getHeader(csrfHeader))
  const expected = Buffer.from(csrfToken)
  if (sent.length === expected.length && timingSafeEqual(sent, expected)) return
  throw new OiError('ERR_FORBIDDEN', `${csrfHeader}: expected the csrf_token of the session`)
}

/** The header that makes a browser keep a session, or forget it. */
export function cookieHeader(
  name: string,
  secret: string | undefined,
  secure: boolean,
): readonly string[] {
  const attributes = `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  const value = secret ?? ''
  const end = secret === undefined ? '; Max-Age=0' : ''
  return ['set-cookie', `${name}=${value}; ${attributes}${end}`]
}

/**
 * Named after the port that the client uses: behind a proxy or a tunnel, the server's is another.
 */
export function cookieName(head: Pick<Head, 'getHeader'>): string {
  const [, port] = /:(\d{1,5})$/.exec(head.getHeader('host')) ?? []
  return port === undefined ? 'oi_admin' : `oi_admin_${port}`
}
