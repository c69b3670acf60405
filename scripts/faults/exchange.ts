/**
 * One request over node:http and its outcome, also a bad one.
 *
 * @module
 */

import { type Agent, type ClientRequest, request } from 'node:http'

export interface Outcome {
  /**
   * `answered`: the reply is whole. `refused`: no server listens. `unanswered`: the connection
   * ended before a reply began. `cut`: it ended within one. `late`: no reply in time.
   */
  readonly end: 'answered' | 'refused' | 'unanswered' | 'cut' | 'late'
  /** 0 unless a reply began. */
  readonly status: number
  readonly body: string
  readonly retryAfterMs: number
  /** Whether the reply has the id of every reply of `oi`. */
  readonly hasId: boolean
  /** Whether a proxy replied in the server's place: with a page, which `oi` has for no error. */
  readonly isProxys: boolean
  /** The header `x-oi-charged`. */
  readonly charged: string | undefined
  /** When it was sent, as `performance.now()`. */
  readonly startMs: number
  readonly error?: string
}

export interface ExchangeOptions {
  readonly port: number
  readonly agent?: Agent
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The client's address, on loopback. */
  readonly localAddress?: string
  /** Without a reply after this time, the outcome is `late`. */
  readonly limitMs?: number
  /** Writes the body; default: at once. */
  readonly send?: (request: ClientRequest) => void
  /** Milliseconds between reads of 4 KiB; default: as fast as it comes. */
  readonly readEveryMs?: number
}

const standardLimitMs = 120_000

export function exchange(options: ExchangeOptions): Promise<Outcome> {
  const { port, agent, method = 'POST', path, headers = {}, body = '', localAddress } = options
  return new Promise((resolve) => {
    let status = 0
    let retryAfterMs = 0
    let hasId = false
    let isPage = false
    let charged: string | undefined
    const startMs = performance.now()
    const chunks: Buffer[] = []
    const end = (kind: Outcome['end'], error?: Error) => {
      clearTimeout(timer)
      const text = Buffer.concat(chunks).toString()
      resolve({
        end: kind,
        status,
        body: text,
        ...{ retryAfterMs, hasId, charged, startMs },
        isProxys: status >= 502 && !hasId && isPage && text.startsWith('<html>'),
        ...(error && { error: error.message }),
      })
    }
    const out = request({
      ...{ host: '127.0.0.1', port, method, path, localAddress },
      agent: agent ?? false,
      headers: {
        ...(method === 'POST' && { 'content-type': 'application/json' }),
        ...(options.send === undefined && method === 'POST' && lengthOf(body)),
        ...headers,
      },
    })
    const timer = setTimeout(() => {
      end('late')
      out.destroy()
    }, options.limitMs ?? standardLimitMs)
    out.on('response', (reply) => {
      status = reply.statusCode ?? 0
      hasId = reply.headers['x-request-id'] !== undefined
      isPage = reply.headers['content-type'] === 'text/html'
      charged = reply.headers['x-oi-charged'] as string | undefined
      retryAfterMs = Number(reply.headers['retry-after-ms'] ?? 0)
      reply.on('error', (error) => end('cut', error))
      reply.on('end', () => end(reply.complete ? 'answered' : 'cut'))
      if (options.readEveryMs === undefined) reply.on('data', (chunk: Buffer) => chunks.push(chunk))
      else readSlowly(reply, options.readEveryMs, chunks)
    })
    out.on('error', (error: NodeJS.ErrnoException) => {
      if (status !== 0) end('cut', error)
      else end(error.code === 'ECONNREFUSED' ? 'refused' : 'unanswered', error)
    })
    if (options.send === undefined) out.end(body)
    else options.send(out)
  })
}

function lengthOf(body: string) {
  return { 'content-length': String(Buffer.byteLength(body)) }
}

const slowReadBytes = 4096

function readSlowly(reply: NodeJS.ReadableStream, everyMs: number, chunks: Buffer[]): void {
  const timer = setInterval(() => {
    const chunk = (reply.read(slowReadBytes) ?? reply.read()) as Buffer | null
    if (chunk !== null) chunks.push(chunk)
  }, everyMs)
  for (const event of ['end', 'error', 'close']) reply.on(event, () => clearInterval(timer))
}
