/**
 * All routes, independent of the transport: head and body in, a reply out.
 *
 * Nothing here knows sockets, so the same handlers can be run and measured on any HTTP server.
 *
 * @module
 */

import type { Accounts, Caller } from '../accounts/accounts.js'
import { openApiDocument } from '../api/openapi/document.js'
import type { Decider } from '../decide/types.js'
import { OiError } from '../errors.js'
import { BatchExchange } from './batch-exchange.js'
import { TrustedProxies } from './client-address.js'
import type { Cors } from './cors.js'
import { DecideExchange } from './decide-exchange.js'
import { type Client, Exchange, type Head, type Listener } from './exchange.js'
import { FailedKeys } from './failed-keys.js'
import type { Gate } from './gate.js'
import type { Logger } from './logger.js'
import { modelList } from './model-list.js'
import { Metrics } from './metrics.js'
import { pathOf } from './path.js'
import type { PostContext, PostExchange, Wire } from './post-exchange.js'
import { answerFrom, otherMethod, type Route } from './routes.js'
import { Running } from './running.js'
import { Traffic } from './traffic.js'
import { usageReport } from './usage-report.js'

/** What answers, and whether it can yet. */
export interface Backend {
  state(): 'loading' | 'ready' | 'failed' | 'closing'
  /** Defined while the state is `ready`. */
  decider(): Decider | undefined
}

export interface HandlersOptions {
  readonly backend: Backend
  readonly accounts: Pick<Accounts, 'authenticate' | 'usage'>
  readonly gate: Gate
  readonly wire: Wire
  readonly logger: Logger
  readonly maxBodyBytes: number
  readonly deadlineMs: number
  /** Which web pages may call. Default: none. */
  readonly cors?: Cors | undefined
  /** Whose X-Forwarded-For is believed. Default: nobody's. */
  readonly trustedProxies?: TrustedProxies | undefined
  /** Whether `/metrics` is one of the routes. Default true. */
  readonly serveMetrics?: boolean
}

/** Routes that take a body, by POST. */
const posts = new Map<string, typeof DecideExchange | typeof BatchExchange>([
  ['/v1/systemone', DecideExchange],
  ['/v1/systemone/batch', BatchExchange],
])
const metricsPath = '/metrics'

const unready = {
  loading: { message: 'The model is still being loaded', retryAfterMs: 2000 },
  failed: { message: 'The model could not be loaded', retryAfterMs: 60_000 },
  closing: { message: 'The server is shutting down', retryAfterMs: 1000 },
}

export class Handlers implements PostContext, Listener {
  readonly gate: Gate
  readonly wire: Wire
  readonly logger: Logger
  readonly maxBodyBytes: number
  readonly deadlineMs: number
  readonly running = new Running<PostExchange>()
  readonly traffic: Traffic
  readonly metrics: Metrics
  readonly cors: Cors | undefined
  readonly failedKeys = new FailedKeys()
  readonly trustedProxies: TrustedProxies
  /** Every path that is answered otherwise than with 404. */
  readonly paths: readonly string[]
  readonly #backend: Backend
  readonly #accounts: HandlersOptions['accounts']
  #closing = false
  /** Made when it is first asked for. */
  #openApi: string | undefined

  readonly #routes = new Map<string, Route>([
    ['/healthz', () => ({ status: 200, body: '{"status":"ok"}' })],
    [
      '/openapi.json',
      () => {
        this.#openApi ??= JSON.stringify(openApiDocument())
        return { status: 200, body: this.#openApi }
      },
    ],
    [
      '/readyz',
      () => {
        this.decider()
        return { status: 200, body: '{"status":"ready"}' }
      },
    ],
    [
      '/v1/models',
      (head, exchange) => {
        exchange.identify(head)
        return { status: 200, body: JSON.stringify(modelList(this.decider().models)) }
      },
    ],
    [
      '/v1/usage',
      (head, exchange) => {
        const { workspace } = exchange.identify(head)
        return { status: 200, body: JSON.stringify(usageReport(this.#accounts.usage(workspace))) }
      },
    ],
  ])

  constructor(options: HandlersOptions) {
    const { backend, accounts, gate, wire, logger, maxBodyBytes, deadlineMs, serveMetrics } =
      options
    this.#backend = backend
    this.#accounts = accounts
    this.gate = gate
    this.wire = wire
    this.logger = logger
    this.maxBodyBytes = maxBodyBytes
    this.deadlineMs = deadlineMs
    this.cors = options.cors
    this.trustedProxies = options.trustedProxies ?? new TrustedProxies([])
    this.traffic = new Traffic([...this.#routes.keys(), ...posts.keys(), metricsPath])
    this.metrics = new Metrics({
      traffic: this.traffic,
      running: () => this.running.size,
      engines: () => backend.decider()?.engines() ?? [],
    })
    if (serveMetrics ?? true) this.#routes.set(metricsPath, () => this.metrics.content())
    this.paths = [...this.#routes.keys(), ...posts.keys()]
  }

  get closing(): boolean {
    return this.#closing
  }

  open(head: Head, client: Client): Exchange | undefined {
    const Posted = posts.get(pathOf(head.getUrl()))
    if (Posted === undefined) {
      return answerFrom(this.#routes, new Exchange(head, client, this), head, this.paths)
    }
    if (head.getMethod() !== 'post') {
      const exchange = new Exchange(head, client, this)
      exchange.answer(otherMethod(exchange, head, 'POST'))
      return undefined
    }
    const exchange = new Posted(head, client, this)
    exchange.begin(head)
    return exchange.ended ? undefined : exchange
  }

  refuse(head: Head, client: Client, error: OiError): void {
    new Exchange(head, client, this).fail(error)
  }

  /** What is left after `graceMs` is answered 503. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true
    for (const exchange of await this.running.drain(graceMs)) {
      exchange.cancel(new OiError('ERR_OVERLOADED', unready.closing.message))
    }
  }

  authenticate(header: string): Caller {
    return this.#accounts.authenticate(header)
  }

  decider(): Decider {
    const state = this.#closing ? 'closing' : this.#backend.state()
    const decider = this.#backend.decider()
    if (state === 'ready' && decider !== undefined) return decider
    const { message, retryAfterMs } = unready[state === 'ready' ? 'loading' : state]
    throw new OiError('ERR_OVERLOADED', message, { retryAfterMs })
  }
}
