/**
 * Calls over `fetch`, with retries.
 *
 * @module
 */

import { affinityHeader, affinityOf } from './affinity.js'
import { Attempt } from './attempt.js'
import { OiRequestError } from './errors.js'
import { readTimeout, requireCallOptions, type Settings } from './options.js'
import { cachedTokensOf, errorOf, type Reply, requestIdOf } from './reply.js'
import { pause, retryDelayMs } from './retry.js'
import type { DecideOptions } from './types.js'

export interface Call extends DecideOptions {
  /** Relative to the base address. */
  readonly path: string
  /** The body of a POST: JSON, or a form with JSON. Without it, the call is a GET. */
  readonly body?: string | FormData
  readonly accept?: string
  /** What the request is about, if it is about one state. */
  readonly state?: unknown
}

/** A successful reply whose body has not been read. */
export interface OpenReply {
  readonly response: Response
  /** Reads the body step by step; the reader ends it. */
  readonly attempt: Attempt
}

type Send = () => Promise<Response>

export class Transport {
  readonly #settings: Settings
  /** False once the server has refused the coding. */
  #compress: boolean

  constructor(settings: Settings) {
    this.#settings = settings
    this.#compress = settings.compress
  }

  /** @throws {@link OiRequestError} The last attempt's error. */
  text(call: Call): Promise<Reply> {
    return this.#repeat(call, async (attempt, send) => {
      try {
        return await attempt.step(async () => {
          const response = await send()
          const text = await response.text()
          if (!response.ok) throw errorOf(response, text)
          const told = { requestId: requestIdOf(response), cachedTokens: cachedTokensOf(response) }
          return { status: response.status, text, ...told }
        })
      } finally {
        attempt.end()
      }
    })
  }

  /** Retries only until a successful reply begins. @throws {@link OiRequestError} */
  open(call: Call): Promise<OpenReply> {
    return this.#repeat(call, async (attempt, send) => {
      try {
        const response = await attempt.step(send)
        if (response.ok) return { response, attempt }
        throw errorOf(response, await attempt.step(() => response.text()))
      } catch (error) {
        attempt.end()
        throw error
      }
    })
  }

  async #repeat<T>(call: Call, run: (attempt: Attempt, send: Send) => Promise<T>): Promise<T> {
    const { baseUrl, maxRetries, fetch } = this.#settings
    const { signal, requestId } = call
    requireCallOptions(call)
    const url = `${baseUrl}${call.path}`
    // Before the first attempt: wrong options are no failure of the network.
    const timeoutMs = readTimeout(call.timeoutMs ?? this.#settings.timeoutMs)
    const key = call.body === undefined || maxRetries === 0 ? undefined : newKey()
    let init = withKey(await this.#initOf(call), key)
    for (let tried = 0; ; tried++) {
      const attempt = new Attempt({ url, signal, timeoutMs, requestId })
      try {
        return await run(attempt, () => fetch(url, { ...init, signal: attempt.signal }))
      } catch (error) {
        if (!(error instanceof OiRequestError)) throw error
        if (error.status === 415 && this.#compress) {
          // Another server than oi: send uncompressed from now on. This uses up no retry.
          this.#compress = false
          init = withKey(initOf(call, this.#settings), key)
          tried--
          continue
        }
        if (tried === maxRetries) throw error
        const delayMs = retryDelayMs(error, tried)
        if (delayMs === undefined) throw error
        await pause(delayMs, signal)
      }
    }
  }

  async #initOf(call: Call): Promise<RequestInit> {
    const init = initOf(call, this.#settings)
    const { body } = call
    // Images are compressed already.
    const short = this.#compress && typeof body === 'string' ? await compressed(body) : undefined
    if (short === undefined) return init
    const headers = init.headers as Headers
    headers.set('content-encoding', 'gzip')
    return { ...init, headers, body: short }
  }
}

function initOf(
  { body, accept, requestId, evidence, orders, state }: Call,
  { headers: common, affinity }: Settings,
): RequestInit {
  const headers = new Headers(common)
  // `fetch` itself asks for compressed replies and decodes them.
  headers.set('accept', accept ?? 'application/json')
  if (requestId !== undefined) headers.set('x-request-id', requestId)
  if (evidence) headers.set('x-oi-evidence', '1')
  if (orders !== undefined) headers.set('x-oi-orders', String(orders))
  if (affinity && state !== undefined && !headers.has(affinityHeader)) {
    headers.set(affinityHeader, affinityOf(state))
  }
  if (body === undefined) return { headers }
  // A form's type has its boundary, which `fetch` makes.
  if (typeof body === 'string') headers.set('content-type', 'application/json')
  return { method: 'POST', headers, body }
}

/** Charged once, however often it is sent. A key among the caller's own headers counts. */
function withKey(init: RequestInit, key: string | undefined): RequestInit {
  const headers = init.headers as Headers
  if (key !== undefined && !headers.has(keyHeader)) headers.set(keyHeader, key)
  return init
}

const keyHeader = 'idempotency-key'

/** Not by `randomUUID`, which pages without HTTPS lack. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** A shorter body fits into one packet uncompressed. */
const leastBytes = 1024

/** Gzip, where the runtime has it. @returns Undefined for a body to be sent uncompressed. */
async function compressed(text: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  // Old browsers have no CompressionStream.
  if (text.length < leastBytes || typeof CompressionStream === 'undefined') return undefined
  const gzip = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(gzip).arrayBuffer())
}
