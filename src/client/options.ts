/**
 * The options of a client, checked when the client is created and not at the first call.
 *
 * @module
 */

import type { DecideOptions } from './types.js'

/** The part of the global `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface ClientOptions {
  /** The server's address, as `http://localhost:8080`; a `/v1` or a slash at its end is ignored. */
  readonly baseUrl: string
  /** A key of the server, `oi-…`. Anyone who has it can use it: keep it out of web pages. */
  readonly apiKey: string
  /**
   * The limit for each attempt, milliseconds, up to 2^31 - 1. Default 65,000: a little more than a
   * server's own deadline, so that the server's own timeout error arrives.
   */
  readonly timeoutMs?: number | undefined
  /** Further attempts after the first. Default 2; 0 for none. */
  readonly maxRetries?: number | undefined
  /**
   * Whether bodies of 1 KiB and more are sent compressed (gzip). Default true; a server that
   * refuses the coding gets them uncompressed.
   */
  readonly compress?: boolean | undefined
  /**
   * Whether single requests tell a balancer which state they are about: the header `x-oi-affinity`,
   * a digest of the state's first 1,024 characters. Default false.
   */
  readonly affinity?: boolean | undefined
  /** Used instead of the global `fetch`. */
  readonly fetch?: Fetch | undefined
  /** Sent with every request, unless the client itself sets them. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The options, complete. */
export interface Settings {
  /** Without `/v1`, without a slash at its end. */
  readonly baseUrl: string
  readonly timeoutMs: number
  readonly maxRetries: number
  readonly compress: boolean
  readonly affinity: boolean
  readonly fetch: Fetch
  /** Includes the key. */
  readonly headers: Headers
}

const defaultTimeoutMs = 65_000
const defaultMaxRetries = 2
/** Timers count in 32 bits: a longer timer would fire at once. */
const maxTimeoutMs = 2 ** 31 - 1

/** @throws TypeError naming the option and what is expected. */
export function readOptions(options: ClientOptions): Settings {
  requireKnown(options, optionNames)
  const { maxRetries = defaultMaxRetries } = options
  if (!Number.isInteger(maxRetries) || maxRetries < 0) {
    throw new TypeError(`maxRetries: expected a whole number from 0, got ${maxRetries}`)
  }
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    timeoutMs: readTimeout(options.timeoutMs ?? defaultTimeoutMs),
    maxRetries,
    compress: options.compress ?? true,
    affinity: options.affinity ?? false,
    // Looked up at each call, so that a global replaced later, as by tests, is used.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    headers: readHeaders(options),
  }
}

/** Objects, so that the compiler finds a missing name. */
const optionNames = Object.keys({
  ...{ baseUrl: 0, apiKey: 0, timeoutMs: 0, maxRetries: 0, compress: 0, affinity: 0 },
  ...{ fetch: 0, headers: 0 },
} satisfies Record<keyof ClientOptions, 0>)
const callNames = Object.keys({
  ...{ signal: 0, timeoutMs: 0, requestId: 0, evidence: 0, orders: 0 },
} satisfies Record<keyof DecideOptions, 0>)
/** Names that the client itself adds to the options of a call. */
const ownNames = ['path', 'body', 'accept', 'state']

/** @throws TypeError naming an unknown option of a call, and the known ones. */
export function requireCallOptions(call: object): void {
  requireKnown(call, callNames, ownNames)
}

function requireKnown(
  options: object,
  known: readonly string[],
  own: readonly string[] = [],
): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || known.includes(name) || own.includes(name)) continue
    throw new TypeError(`${name}: there is no such option, expected one of ${known.join(', ')}`)
  }
}

/** @throws TypeError unless a timer can wait that long. */
export function readTimeout(timeoutMs: number): number {
  if (timeoutMs > 0 && timeoutMs <= maxTimeoutMs) return timeoutMs
  throw new TypeError(`timeoutMs: expected more than 0, up to ${maxTimeoutMs}, got ${timeoutMs}`)
}

/** The address without `/v1` and slashes at its end. @throws TypeError unless it is http or https. */
export function readBaseUrl(baseUrl: string): string {
  let url: URL | undefined
  try {
    url = new URL(baseUrl)
  } catch {
    // The error below serves for this and for other protocols.
  }
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(
      `baseUrl: expected an address like http://localhost:8080, got ${String(baseUrl)}`,
    )
  }
  return `${url.origin}${url.pathname.replace(/\/*$/, '').replace(/\/v1$/, '')}`
}

function readHeaders({ apiKey, headers }: ClientOptions): Headers {
  // The key itself is not repeated: messages end up in logs.
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey: expected a key, as oi-…, without spaces')
  }
  const all = new Headers(headers)
  all.set('authorization', `Bearer ${apiKey}`)
  return all
}
