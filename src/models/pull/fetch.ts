/**
 * One request for bytes of a remote file, through redirects.
 *
 * Rules
 *   1. A token is sent to its own origin only: not to the targets of redirects, and over plain HTTP
 *      to this machine only.
 *   2. From HTTPS, no redirect leads to HTTP or to any other scheme.
 *   3. The target of a redirect may be a signed address: it is never shown or kept. The next
 *      request begins at the first address again.
 *   4. A server that is silent for a while counts as one that has closed the connection.
 *   5. A host that has never answered, and cannot be found or refuses, is most likely a mistake in
 *      the address: the pull fails at once. A host that has answered before is retried.
 *
 * @module
 */

import { OiError } from '../../errors.js'
import { shownAddress } from './source.js'

const maxRedirects = 8
/** The longest wait that a server can ask for. */
const maxRetryAfterMs = 600_000

export interface Token {
  readonly text: string
  /** The only origin that gets it. */
  readonly origin: string
}

export interface FetchOptions {
  readonly token: Token | undefined
  /** Milliseconds without a byte after which a request fails. */
  readonly silenceMs: number
  /** Cancels everything. */
  readonly signal: AbortSignal | undefined
  /** Hosts that have answered during this pull (rule 5). */
  readonly answered: Set<string>
}

/** A failure that a retry may mend. */
export class Transient extends Error {
  /** How long the server asked to wait. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number, cause?: unknown) {
    super(message, { cause })
    this.retryAfterMs = retryAfterMs
  }
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  /** Pieces of the body. @throws {@link Transient} if it is cut or falls silent. */
  readonly pieces: AsyncGenerator<Uint8Array, void, void>
  /** Drops the rest of the body. */
  cancel(): void
}

/** First and last byte, both included. */
type ByteRange = readonly [first: number, last: number]

/**
 * Asks for a whole file, or for a range of it.
 *
 * @returns A reply of the status 200, 206 or 416.
 * @throws {@link Transient}, or {@link OiError} `ERR_PULL` if a retry is of no use.
 */
export async function fetchBytes(
  url: URL,
  range: ByteRange | undefined,
  options: FetchOptions,
): Promise<Reply> {
  const watch = new Watch(options)
  try {
    const response = await follow(url, range, options, watch)
    const { status, headers } = response
    if (![200, 206, 416].includes(status)) throw refusalOf(url, response, options)
    const encoding = headers.get('content-encoding') ?? 'identity'
    if (encoding !== 'identity') {
      throw new OiError(
        'ERR_PULL',
        `${shownAddress(url)} is sent with the content coding ${encoding}`,
      )
    }
    return {
      status,
      headers,
      pieces: piecesOf(url, response, watch),
      cancel: () => watch.end(),
    }
  } catch (error) {
    watch.end()
    throw transientOf(url, error, watch)
  }
}

/** Ends a request that has been silent for too long. */
class Watch {
  readonly #controller = new AbortController()
  readonly #options: FetchOptions
  readonly #timer: NodeJS.Timeout
  readonly #onAbort = () => this.end()
  silent = false
  /** The present host: a redirect changes it. */
  host = ''

  constructor(options: FetchOptions) {
    this.#options = options
    const onSilence = () => {
      this.silent = true
      this.end()
    }
    this.#timer = setTimeout(onSilence, options.silenceMs)
    options.signal?.addEventListener('abort', this.#onAbort)
    if (options.signal?.aborted) this.end()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get cancelled(): boolean {
    return this.#options.signal?.aborted === true
  }

  heard(): void {
    this.#options.answered.add(this.host)
    this.#timer.refresh()
  }

  /** Whether the present host has answered before. */
  get known(): boolean {
    return this.#options.answered.has(this.host)
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    this.#controller.abort()
  }
}

async function follow(
  first: URL,
  range: ByteRange | undefined,
  { token }: FetchOptions,
  watch: Watch,
): Promise<Response> {
  let url = first
  let authorize = mayAuthorize(token, first)
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const headers = new Headers({ 'accept-encoding': 'identity' })
    if (range !== undefined) headers.set('range', `bytes=${range[0]}-${range[1]}`)
    if (authorize) headers.set('authorization', `Bearer ${token!.text}`)
    watch.host = url.host
    const response = await fetch(url, { headers, redirect: 'manual', signal: watch.signal })
    watch.heard()
    if (![301, 302, 303, 307, 308].includes(response.status)) return response
    void response.body?.cancel().catch(() => {})
    url = targetOf(first, url, response.headers.get('location'))
    // After a redirect to another origin no token is sent, even if a later one leads back.
    authorize &&= mayAuthorize(token, url)
  }
  throw new OiError('ERR_PULL', `${shownAddress(first)} redirects more than ${maxRedirects} times`)
}

/** Rule 1. */
function mayAuthorize(token: Token | undefined, url: URL): boolean {
  return url.origin === token?.origin && isSafeForToken(url)
}

/** Whether nobody on the way can read a token. */
export function isSafeForToken({ protocol, hostname }: URL): boolean {
  const isLoopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
  return protocol === 'https:' || isLoopback
}

/** Rule 2. */
function targetOf(first: URL, from: URL, location: string | null): URL {
  if (location === null || !URL.canParse(location, from.href)) {
    throw new OiError('ERR_PULL', `${shownAddress(first)} redirects to no address`)
  }
  const target = new URL(location, from)
  const isSafe = target.protocol === 'https:' || target.protocol === from.protocol
  if (isSafe && target.username === '' && target.password === '') return target
  const { protocol, host } = target
  throw new OiError(
    'ERR_PULL',
    `${shownAddress(first)} redirects to ${protocol}//${host}, which is not as safe: refused`,
  )
}

/** The error for a status of failure. */
function refusalOf(url: URL, { status, headers }: Response, { token }: FetchOptions): Error {
  const place = shownAddress(url)
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    return new Transient(`${place} answered ${status}`, readRetryAfter(headers.get('retry-after')))
  }
  const sent = mayAuthorize(token, url)
  const remedies: Readonly<Record<number, string>> = {
    401: sent
      ? 'the token was refused, or there is nothing of this name'
      : 'it needs a token (HF_TOKEN or --token-file), or there is nothing of this name',
    403: sent
      ? 'the token does not allow it; for a gated repository, accept its terms on its page first'
      : 'it needs a token (HF_TOKEN or --token-file)',
    404: 'there is nothing of this name, or it is private and needs a token (HF_TOKEN or --token-file)',
  }
  const remedy = remedies[status]
  return new OiError(
    'ERR_PULL',
    `${place} answered ${status}${remedy === undefined ? '' : `: ${remedy}`}`,
  )
}

/** Seconds or a date. @returns Milliseconds; undefined if there is none. */
export function readRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), maxRetryAfterMs)
}

async function* piecesOf(
  url: URL,
  { body }: Response,
  watch: Watch,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    if (body === null) return
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      watch.heard()
      yield piece
    }
  } catch (error) {
    throw transientOf(url, error, watch)
  } finally {
    watch.end()
  }
}

/** Codes of untrusted certificates, which no retry mends. */
const untrusted = /CERT|SELF_SIGNED|VERIFY|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH/

/** The most likely mistake in an address whose host has never answered, by error code. */
const mistakes: readonly (readonly [RegExp, string])[] = [
  [/^ENOTFOUND$/, 'there is no host of this name'],
  [/^ECONNREFUSED$/, 'nothing listens at this port'],
  [/^(?:EPROTO$|ERR_SSL_|ERR_TLS_)/, 'it does not answer in TLS'],
  [/^HPE_/, 'it does not answer in HTTP'],
]

/** Failures of the network are transient; a cancelled pull is not. */
function transientOf(url: URL, error: unknown, watch: Watch): Error {
  if (watch.cancelled) return new OiError('ERR_ABORTED', 'The pull was cancelled')
  if (error instanceof OiError || error instanceof Transient) return error
  const host = watch.host || url.host
  if (watch.silent) return new Transient(`${host} has fallen silent`, undefined, error)
  const { cause, message } = error as Error
  const { code = '', message: reason = message } = (cause ?? {}) as NodeJS.ErrnoException
  // Network errors have a code; refusals of fetch itself, such as of some ports, have none.
  const isRefused = message === 'fetch failed' && code === ''
  const mistake = watch.known ? undefined : mistakes.find(([codes]) => codes.test(code))?.[1]
  if (isRefused || untrusted.test(code) || mistake !== undefined) {
    return new OiError('ERR_PULL', `${host}: ${mistake ?? (reason || code)}`, { cause: error })
  }
  return new Transient(`${host}: ${reason || code}`, undefined, error)
}
