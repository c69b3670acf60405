/**
 * Calls of the admin API. All data and actions of the console pass through here.
 *
 * @module
 */

import { Store } from './store.js'
import type { ErrorBody, Session } from './wire.js'

/** The place of the session's token, which only pages of this origin can read. */
const tokenKey = 'oi-session'
/** The last token that this page kept or found there. */
let ours: string | undefined

/**
 * Undefined until known, null if nobody is signed in, `ended` if the session has ended: then the
 * page stays behind the sign-in, so that typed text is not lost. If nobody has signed in, the
 * server is not asked, as browsers report each refusal as an error of the page.
 */
export const session = new Store<Session | 'ended' | null | undefined>(
  keptToken() === undefined ? null : undefined,
)
session.subscribe(() => {
  const { value } = session
  if (value !== undefined) keepToken(value && value !== 'ended' ? value.csrf_token : undefined)
})
// Another tab has signed in or out: all tabs share one cookie.
window.addEventListener('storage', ({ key }) => {
  if (key === tokenKey) void lookAgain()
})

/** When the server stopped answering, ms since 1970; undefined while it answers. */
export const goneSince = new Store<number | undefined>(undefined)

/** Why a call failed. `status` is 0 if no reply came. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  /** The place in the body, as `questions.team.criteria`. */
  readonly param: string | undefined
  /** Seconds to wait, if the server said so. */
  readonly retryAfter: number | undefined

  constructor(status: number, code: string, message: string, param?: string, retryAfter?: number) {
    super(message)
    this.status = status
    this.code = code
    this.param = param
    this.retryAfter = retryAfter
  }
}

export interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Sent as JSON, unless it is a text already. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Whether it begins, reads or ends a session, and so does not wait for one. */
  readonly ofSession?: boolean
}

const root = '/admin/v1'
const gone = 'The server does not answer.'
/** Not resent automatically: the user who signs in may be another. */
const endedBefore = 'The session had ended before this, so nothing was done. Try again.'

export interface Reply {
  readonly text: string
  readonly headers: Headers
}

/**
 * @param path - Relative to `/admin/v1`.
 * @throws {@link ApiError}, or an `AbortError` if the signal ended it.
 */
export async function callText(path: string, options: CallOptions = {}): Promise<Reply> {
  const { method = 'GET', body, signal, ofSession = false } = options
  const changes = method !== 'GET'
  const waits = !ofSession && (changes || session.value === 'ended')
  const mine = waits ? await knownSession() : session.value
  const headers = new Headers(options.headers)
  if (body !== undefined) headers.set('content-type', 'application/json')
  // Another tab may have begun the session that is asked about.
  const asks = path === '/session' && !changes
  const token = asks
    ? keptToken()
    : changes && mine && mine !== 'ended'
      ? mine.csrf_token
      : undefined
  if (token !== undefined) headers.set('x-oi-csrf', token)
  let reply: Response
  let text: string
  try {
    reply = await fetch(root + path, {
      method,
      headers,
      cache: 'no-store',
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    text = await reply.text()
  } catch (error) {
    if (signal?.aborted) throw error
    goneSince.set(goneSince.value ?? Date.now())
    throw new ApiError(0, 'gone', gone)
  }
  goneSince.set(undefined)
  if (reply.ok) return { text, headers: reply.headers }
  const failure = errorOf(reply, text)
  if (failure.code === 'invalid_session' && !ofSession) {
    // Before the session was known, the user could not type anything.
    if (mine === undefined) session.set(null)
    if (!mine) throw failure
    if (session.value === mine) session.set('ended')
    await knownSession()
    if (!changes) return callText(path, options)
    throw new ApiError(failure.status, failure.code, endedBefore)
  }
  const isStale = failure.code === 'forbidden' && token !== undefined
  if (isStale && (await renewSession(token))) return callText(path, options)
  throw failure
}

/** As {@link callText}, for JSON replies. */
export async function call<T>(path: string, options?: CallOptions): Promise<T> {
  const { text } = await callText(path, options)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

function errorOf(reply: Response, text: string): ApiError {
  const retry = Number(reply.headers.get('retry-after')) || undefined
  try {
    const { error } = JSON.parse(text) as ErrorBody
    return new ApiError(reply.status, error.code, error.message, error.param, retry)
  } catch {
    // A reply of a proxy, for example.
    const message = `The server answered ${reply.status} ${reply.statusText}`.trim()
    return new ApiError(reply.status, 'unknown', message, undefined, retry)
  }
}

/**
 * Another tab may have signed out and in again: then the cookie belongs to its session, but the
 * token does not.
 *
 * @returns Whether the session has another token.
 */
async function renewSession(token: string): Promise<boolean> {
  const now = await call<Session>('/session')
  session.set(now)
  return now.csrf_token !== token
}

/** Asks the server who is signed in now. */
async function lookAgain(): Promise<void> {
  try {
    session.set(await call<Session>('/session', { ofSession: true }))
  } catch (error) {
    const isRefused = error instanceof ApiError && error.code === 'invalid_session'
    if (isRefused && session.value) session.set('ended')
  }
}

/** The session, as soon as it is known whether somebody is signed in. */
function knownSession(): Promise<Session | null> {
  return new Promise((resolve) => {
    const look = () => {
      const { value } = session
      if (value === undefined || value === 'ended') return
      end()
      resolve(value)
    }
    const end = session.subscribe(look)
    look()
  })
}

/** A path with those parameters that have a value. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value))
  }
  const text = parameters.toString()
  return text === '' ? path : `${path}?${text}`
}

function keptToken(): string | undefined {
  try {
    return (ours = localStorage.getItem(tokenKey) ?? undefined)
  } catch {
    return undefined
  }
}

function keepToken(token: string | undefined): void {
  try {
    if (token !== undefined) localStorage.setItem(tokenKey, (ours = token))
    // Another tab may have begun a new session while the end of this one was noticed here.
    else if (localStorage.getItem(tokenKey) === ours) localStorage.removeItem(tokenKey)
  } catch {
    // Storage is disabled: the session ends with the page.
  }
}
