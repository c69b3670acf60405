/**
 * Calls of the admin API. Everything the console knows and does goes through here.
 *
 * @module
 */

import { Store } from './store.js'
import type { ErrorBody, Session } from './wire.js'

const signedIn = 'oi-signed-in'

/**
 * Undefined until it is known, null if nobody is signed in, `ended` if somebody was: the page stays
 * then behind the sign-in, so that nothing typed in it is lost. Where nobody has signed in, the
 * server is not asked: a browser reports each refusal as an error of the page.
 */
export const session = new Store<Session | 'ended' | null | undefined>(
  mayBeSignedIn() ? undefined : null,
)
session.subscribe(() => {
  const { value } = session
  if (value !== undefined) noteSignedIn(value !== null && value !== 'ended')
})
// Another tab has signed in or out: all tabs have one cookie.
window.addEventListener('storage', ({ key }) => {
  if (key === signedIn) void lookAgain()
})

/** Since when the server has not answered, ms since 1970; undefined while it does. */
export const goneSince = new Store<number | undefined>(undefined)

/** Why a call failed. `status` is 0 where no answer came at all. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  /** The place in the body, as `questions.team.criteria`. */
  readonly param: string | undefined
  /** Seconds to wait, where the server said so. */
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
  /** Made JSON, unless it is a text already. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Whether it begins a session, or asks for or ends it: it waits for none. */
  readonly ofSession?: boolean
}

const root = '/admin/v1'
const gone = 'The server does not answer.'
/** Not sent again by itself: whoever signs in may not know what was begun. */
const endedBefore = 'The session had ended before this, so nothing was done. Try again.'

export interface Reply {
  readonly text: string
  readonly headers: Headers
}

/**
 * @param path - Behind `/admin/v1`.
 * @throws {@link ApiError}, or an `AbortError` if the signal ended it.
 */
export async function callText(path: string, options: CallOptions = {}): Promise<Reply> {
  const { method = 'GET', body, signal, ofSession = false } = options
  const changes = method !== 'GET'
  const waits = !ofSession && (changes || session.value === 'ended')
  const mine = waits ? await knownSession() : session.value
  const headers = new Headers(options.headers)
  if (body !== undefined) headers.set('content-type', 'application/json')
  const token = changes && mine && mine !== 'ended' ? mine.csrf_token : undefined
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
    // While it was not known who is signed in, nothing can have been typed.
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

/** As {@link callText}, for what is read as JSON. */
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
    // Of a proxy in between, for one.
    const message = `The server answered ${reply.status} ${reply.statusText}`.trim()
    return new ApiError(reply.status, 'unknown', message, undefined, retry)
  }
}

/**
 * Another tab may have signed out and in again: the cookie is of its session then, the token not.
 *
 * @returns Whether the session has another token.
 */
async function renewSession(token: string): Promise<boolean> {
  const now = await call<Session>('/session')
  session.set(now)
  return now.csrf_token !== token
}

/** Asks who is signed in now. */
async function lookAgain(): Promise<void> {
  try {
    session.set(await call<Session>('/session', { ofSession: true }))
  } catch (error) {
    const isRefused = error instanceof ApiError && error.code === 'invalid_session'
    if (isRefused && session.value) session.set('ended')
  }
}

/** Who is signed in, as soon as somebody is or nobody has been. */
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

function mayBeSignedIn(): boolean {
  try {
    return localStorage.getItem(signedIn) !== null
  } catch {
    return true
  }
}

function noteSignedIn(is: boolean): void {
  try {
    if (is) localStorage.setItem(signedIn, '1')
    else localStorage.removeItem(signedIn)
  } catch {
    // Storage is switched off: the server is asked.
  }
}
