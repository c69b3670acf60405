/**
 * Which web pages may call the server from a browser (CORS, as the Fetch standard has it).
 *
 * Rules
 *   1. An origin is compared letter by letter: `https://app.example` lets neither
 *      `http://app.example` nor `https://app.example:8443` in.
 *   2. Where the reply depends on the origin it says so (`vary`), whether or not it was let in:
 *      a cache in between would give one page's reply to another.
 *   3. Keys travel in a header that the page sets itself, never in cookies, so credentials are
 *      not allowed for.
 *
 * @module
 */

import type { Head } from '../transport/head.js'
import type { Content } from '../reply/reply.js'

const all = '*'

/** What a page may send that does not say what it wants to. */
const requestHeaders = [
  ...['authorization', 'content-type', 'content-encoding', 'accept'],
  ...['x-request-id', 'x-oi-evidence', 'x-oi-orders', 'traceparent'],
]

/** What a page may read besides what every page may. */
const responseHeaders = [
  ...['x-request-id', 'x-typesafe-request-id', 'server-timing', 'retry-after', 'retry-after-ms'],
  ...['x-ratelimit-limit-requests', 'x-ratelimit-limit-concurrent'],
  ...['x-ratelimit-remaining-requests', 'x-ratelimit-remaining-concurrent'],
  ...['x-ratelimit-reset-requests', 'x-oi-ignored', 'x-oi-cached-tokens'],
  ...['allow', 'accept-encoding', 'www-authenticate', 'traceparent'],
]

/** Names of headers with commas between them. */
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/
/** Longer lists are not echoed. */
const mostAskedBytes = 2048

/** Browsers keep the answer to a preflight no longer than that, two hours at most. */
const maxAgeSeconds = '7200'

const refused = ['vary', 'origin']

/**
 * Whether a request is that of a web page which is not let in: browsers send some by themselves, as
 * for a picture, and all that a page needs then is the address.
 */
export function isOfPage(head: Head, cors: Cors | undefined): boolean {
  const origin = head.getHeader('origin')
  if (origin !== '') return cors === undefined || cors.headers(origin) === refused
  const site = head.getHeader('sec-fetch-site')
  return site !== '' && site !== 'none' && site !== 'same-origin'
}

export class Cors {
  /** The headers for each origin that may call; of `*`, one entry for all. */
  readonly #headers: ReadonlyMap<string, readonly string[]>

  /** @param origins - As `https://app.example`, or `*` alone for every origin. Not empty. */
  constructor(origins: readonly string[]) {
    this.#headers = new Map(
      origins.map((origin) => {
        const headers = ['access-control-allow-origin', origin]
        headers.push('access-control-expose-headers', responseHeaders.join(', '))
        if (origin !== all) headers.push(...refused)
        return [origin, headers]
      }),
    )
  }

  /**
   * What every reply to this origin says, errors included: name, value, ….
   *
   * @param origin - The value of `Origin`, `''` if there is none.
   */
  headers(origin: string): readonly string[] {
    return this.#headers.get(all) ?? this.#headers.get(origin) ?? refused
  }

  /**
   * The answer to a browser that asks what a page may do, before it does it.
   *
   * @param methods - Those that the route takes.
   * @returns Undefined if this is no such question, or one of a page that may do nothing.
   */
  preflight(head: Head, methods: string): Content | undefined {
    const asks = head.getMethod() === 'options' && head.getHeader('access-control-request-method')
    if (!asks || this.headers(head.getHeader('origin')) === refused) return undefined
    const headers = ['access-control-allow-methods', methods]
    headers.push('access-control-allow-headers', allowedHeaders(head))
    headers.push('access-control-max-age', maxAgeSeconds)
    if (head.getHeader('access-control-request-private-network') === 'true') {
      headers.push('access-control-allow-private-network', 'true')
    }
    return { status: 204, body: '', headers }
  }
}

/**
 * Whatever headers the page asks for: libraries for tracing, and clients, add their own, and what
 * they say harms nobody. The key is no secret that a browser would add by itself (rule 3).
 */
function allowedHeaders(head: Head): string {
  const asked = head.getHeader('access-control-request-headers').trim()
  const usable = asked.length <= mostAskedBytes && headerNames.test(asked)
  return usable ? asked : requestHeaders.join(', ')
}

/**
 * The setting `corsOrigins` to what it means.
 *
 * @param setting - Origins with commas between them; `''` for none.
 */
export function createCors(setting: string): Cors | undefined {
  const origins = setting.split(',').map((origin) => origin.trim())
  return setting === '' ? undefined : new Cors(origins)
}
