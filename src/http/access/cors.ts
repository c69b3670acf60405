import type { Content, Head } from '../contract.js'
/**
 * The web pages that may call the server from a browser (CORS, as in the Fetch standard).
 *
 * Rules
 *   1. An origin is compared exactly: `https://app.example` allows neither `http://app.example` nor
 *      `https://app.example:8443`.
 *   2. A reply that depends on the origin says so (`vary`), even to an origin that is refused:
 *      otherwise a cache could give one page's reply to another.
 *   3. Keys travel in a header that the page sets itself, never in cookies, so credentials are not
 *      allowed.
 *
 * @module
 */

const all = '*'

/** Headers that a page may send in addition to the safelisted ones. */
const requestHeaders = [
  ...['authorization', 'content-type', 'content-encoding', 'accept'],
  ...[
    'x-request-id',
    'x-oi-evidence',
    'x-oi-orders',
    'x-oi-affinity',
    'traceparent',
    'idempotency-key',
  ],
]

/** Headers that a page may read in addition to the safelisted ones. */
const responseHeaders = [
  ...['x-request-id', 'x-typesafe-request-id', 'server-timing', 'retry-after', 'retry-after-ms'],
  ...['x-ratelimit-limit-requests', 'x-ratelimit-limit-concurrent'],
  ...['x-ratelimit-remaining-requests', 'x-ratelimit-remaining-concurrent'],
  ...['x-ratelimit-reset-requests', 'x-oi-ignored', 'x-oi-cached-tokens', 'x-oi-charged'],
  ...['allow', 'accept-encoding', 'www-authenticate', 'traceparent'],
]

/** Header names, separated by commas. */
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/
/** Longer lists are not echoed. */
const mostAskedBytes = 2048

/** Browsers cache a preflight's answer no longer than two hours. */
const maxAgeSeconds = '7200'

const refused = ['vary', 'origin']

/**
 * Whether a request comes from a web page without access: browsers send some requests without a
 * preflight, for example for an image, and the page needs only the address for that.
 */
export function isOfPage(head: Head, cors: Cors | undefined): boolean {
  const origin = head.getHeader('origin')
  if (origin !== '') return cors === undefined || cors.headers(origin) === refused
  const site = head.getHeader('sec-fetch-site')
  return site !== '' && site !== 'none' && site !== 'same-origin'
}

export class Cors {
  /** The headers by allowed origin; for `*`, one entry for all. */
  readonly #headers: ReadonlyMap<string, readonly string[]>

  /** @param origins - Such as `https://app.example`, or `*` alone for every origin. Not empty. */
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
   * The headers of every reply to this origin, errors included: name, value, ….
   *
   * @param origin - The value of `Origin`, `''` if absent.
   */
  headers(origin: string): readonly string[] {
    return this.#headers.get(all) ?? this.#headers.get(origin) ?? refused
  }

  /**
   * The reply to a preflight request.
   *
   * @param methods - The methods of the route.
   * @returns Undefined if the request is no preflight, or the page has no access.
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
 * All headers that the page asks for: tracing libraries and clients add their own, which are
 * harmless. The key is no secret that a browser would add by itself (rule 3).
 */
function allowedHeaders(head: Head): string {
  const asked = head.getHeader('access-control-request-headers').trim()
  const usable = asked.length <= mostAskedBytes && headerNames.test(asked)
  return usable ? asked : requestHeaders.join(', ')
}

/**
 * Reads the setting `corsOrigins`.
 *
 * @param setting - Origins, separated by commas; `''` for none.
 */
export function createCors(setting: string): Cors | undefined {
  const origins = setting.split(',').map((origin) => origin.trim())
  return setting === '' ? undefined : new Cors(origins)
}
