/**
 * All routes, independent of the transport: head and body in, a reply out.
 *
 * Nothing here knows sockets, so the same handlers can be run and measured on any HTTP server.
 *
 * @module
 */

import type { Accounts, Caller } from '../accounts/accounts.js'
import type { Decider } from '../decide/types.js'
import { OiError } from '../errors.js'
import { type DecideContext, DecideExchange, type Wire } from './decide-exchange.js'
import { type Client, Exchange, type Head } from './exchange.js'
import type { Logger } from './logger.js'
import { modelList } from './model-list.js'
import { type Content, errorContent } from './reply.js'
import { Running } from './running.js'

/** What answers, and whether it can yet. */
export interface Backend {
  state(): 'loading' | 'ready' | 'failed' | 'closing'
  /** Defined while the state is `ready`. */
  decider(): Decider | undefined
}

export interface HandlersOptions {
  readonly backend: Backend
  readonly accounts: Pick<Accounts, 'authenticate'>
  readonly wire: Wire
  readonly logger: Logger
  readonly maxBodyBytes: number
  readonly deadlineMs: number
}

type Route = (head: Head) => Content

const unready = {
  loading: { message: 'The model is still being loaded', retryAfterMs: 2000 },
  failed: { message: 'The model could not be loaded', retryAfterMs: 60_000 },
  closing: { message: 'The server is shutting down', retryAfterMs: 1000 },
}

export class Handlers implements DecideContext {
  readonly wire: Wire
  readonly logger: Logger
  readonly maxBodyBytes: number
  readonly deadlineMs: number
  readonly running = new Running<DecideExchange>()
  readonly #backend: Backend
  readonly #accounts: Pick<Accounts, 'authenticate'>
  #closing = false

  /** Routes that are answered from the head alone, by GET and HEAD. */
  readonly #routes = new Map<string, Route>([
    ['/healthz', () => ({ status: 200, body: '{"status":"ok"}' })],
    [
      '/readyz',
      () => {
        this.decider()
        return { status: 200, body: '{"status":"ready"}' }
      },
    ],
    [
      '/v1/models',
      (head) => {
        this.authenticate(head.getHeader('authorization'))
        return { status: 200, body: JSON.stringify(modelList(this.decider().models)) }
      },
    ],
  ])

  constructor({ backend, accounts, wire, logger, maxBodyBytes, deadlineMs }: HandlersOptions) {
    this.#backend = backend
    this.#accounts = accounts
    this.wire = wire
    this.logger = logger
    this.maxBodyBytes = maxBodyBytes
    this.deadlineMs = deadlineMs
  }

  get closing(): boolean {
    return this.#closing
  }

  /**
   * Begins a request. Never throws.
   *
   * @param head - Read before this returns.
   * @returns The exchange that wants the body and news of the client's departure, or undefined
   *   if the reply has been sent.
   */
  open(head: Head, client: Client): DecideExchange | undefined {
    if (head.getUrl() === '/v1/systemone' && head.getMethod() === 'post') {
      const exchange = new DecideExchange(head, client, this)
      exchange.begin(head)
      return exchange.ended ? undefined : exchange
    }
    const exchange = new Exchange(head, client, this)
    try {
      exchange.answer(this.#answer(exchange, head))
    } catch (error) {
      exchange.fail(error)
    }
    return undefined
  }

  /**
   * Refuses new requests, and waits for the running ones at most `graceMs`; those that are left
   * are answered 503.
   */
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

  #answer({ id, method, path }: Exchange, head: Head): Content {
    const route = this.#routes.get(path)
    if (route !== undefined && (method === 'get' || method === 'head')) return route(head)
    if (route !== undefined) return notAllowed(id, 'GET, HEAD')
    if (path === '/v1/systemone') return notAllowed(id, 'POST')
    throw new OiError('ERR_NOT_FOUND', 'There is no such route')
  }
}

function notAllowed(id: string, allow: string): Content {
  const error = new OiError('ERR_METHOD_NOT_ALLOWED', `This route takes ${allow}`)
  return { ...errorContent(error, id), headers: ['allow', allow] }
}
