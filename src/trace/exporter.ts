/**
 * Sends spans to a collector, by OTLP over HTTP.
 *
 * Rules
 *   1. Nothing throws and nothing waits: requests never notice the collector.
 *   2. The spans held are bounded. Spans beyond the bound are lost and counted, and so are those
 *      that the collector refuses.
 *   3. One message is under way at a time. If the collector is unreachable or busy, the same
 *      message is sent again, after growing pauses.
 *
 * @module
 */

import { hostname } from 'node:os'
import { packageVersion } from '../package-root.js'
import { otlpRequest } from './otlp.js'
import type { Span } from './span.js'

interface ExporterOptions {
  /** The collector's address; the path `/v1/traces` may be left out. */
  readonly endpoint: string
  /** Such as `name=value,other=value`. */
  readonly headers?: string
  /** Takes a sentence for the operator. */
  readonly notice: (text: string) => void
  /** The number of spans held. Default 8192. */
  readonly mostSpans?: number
  /** The pause after a first failure, milliseconds. Default 1000. */
  readonly pauseMs?: number
}

/** Spans in one message: written in a fraction of a millisecond. */
const spansAtOnce = 256
/** How long a span waits for others, milliseconds. */
const waitMs = 1000
/** The longest pause between two attempts, and the time limit of one, milliseconds. */
const [longestPauseMs, timeoutMs] = [30_000, 10_000]
/** Statuses after which the same message may succeed. */
const passing = [429, 502, 503, 504]

export class Exporter {
  readonly #url: string
  readonly #headers: Record<string, string>
  readonly #options: ExporterOptions
  readonly #resource = {
    'service.name': 'oi',
    'service.version': packageVersion(),
    'service.instance.id': `${hostname()}:${process.pid}`,
    'host.name': hostname(),
  }
  #held: Span[] = []
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined
  #failures = 0
  #sent = 0
  #lost = 0
  readonly #closing = new AbortController()

  constructor(options: ExporterOptions) {
    const { endpoint, headers = '' } = options
    const base = endpoint.replace(/\/+$/, '')
    this.#url = base.endsWith('/v1/traces') ? base : `${base}/v1/traces`
    this.#headers = { 'content-type': 'application/json', ...headersOf(headers) }
    this.#options = options
  }

  /** Spans that a collector has taken. */
  get sent(): number {
    return this.#sent
  }

  get lost(): number {
    return this.#lost
  }

  add(span: Span): void {
    if (this.#held.length >= (this.#options.mostSpans ?? 8192)) {
      this.#lost++
      return
    }
    this.#held.push(span)
    if (this.#sending !== undefined) return
    if (this.#failures === 0 && this.#held.length >= spansAtOnce) this.#send()
    else this.#wait(waitMs)
  }

  /** Sends the held spans once more, for at most `limitMs`; the rest is lost. */
  async close(limitMs: number): Promise<void> {
    const timer = setTimeout(() => this.#closing.abort(), limitMs)
    this.#failures = 0
    while (this.#held.length > 0 && this.#failures === 0 && !this.#closing.signal.aborted) {
      if (this.#sending === undefined) this.#send()
      await this.#sending
    }
    clearTimeout(timer)
    clearTimeout(this.#timer)
    this.#lost += this.#held.length
    this.#held = []
  }

  #wait(ms: number): void {
    this.#timer ??= setTimeout(() => this.#send(), ms).unref()
  }

  #send(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const spans = this.#held.slice(0, spansAtOnce)
    this.#sending = this.#post(spans).then((outcome) => {
      this.#sending = undefined
      if (outcome.again) {
        this.#fail(outcome.reason)
        return
      }
      this.#held.splice(0, spans.length)
      if (outcome.reason === undefined) this.#succeed(spans.length)
      else this.#refused(spans.length, outcome.reason)
      if (this.#held.length > 0) this.#wait(this.#held.length >= spansAtOnce ? 0 : waitMs)
    })
  }

  /** Never rejects. */
  async #post(spans: readonly Span[]): Promise<Outcome> {
    try {
      const reply = await fetch(this.#url, {
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(otlpRequest(spans, this.#resource)),
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#closing.signal]),
      })
      await reply.body?.cancel()
      if (reply.ok) return { again: false }
      const reason = `its status was ${reply.status}`
      return { again: passing.includes(reply.status), reason }
    } catch (error) {
      const { message, cause } = error as Error
      const { code } = (cause ?? {}) as NodeJS.ErrnoException
      return { again: true, reason: code ?? message }
    }
  }

  #succeed(count: number): void {
    this.#sent += count
    if (this.#failures > 0) this.#options.notice('Traces are sent again')
    this.#failures = 0
  }

  #refused(count: number, reason: string): void {
    this.#lost += count
    if (this.#failures++ === 0) this.#options.notice(this.#trouble(reason))
  }

  #fail(reason: string): void {
    if (this.#failures++ === 0) this.#options.notice(this.#trouble(reason))
    const { pauseMs = 1000 } = this.#options
    this.#wait(Math.min(pauseMs * 2 ** Math.min(this.#failures - 1, 10), longestPauseMs))
  }

  #trouble(reason: string): string {
    return `Traces cannot be sent to ${this.#url}: ${reason}`
  }
}

type Outcome =
  | { readonly again: false; readonly reason?: string }
  | { readonly again: true; readonly reason: string }

function headersOf(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.includes('='))
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at).trim().toLowerCase(), pair.slice(at + 1).trim()]
    }),
  )
}
