/**
 * What requests for decisions have in common: their head, their body, their end.
 *
 * The checks run in this order, and the first that fails is the reply: key, a concurrent place,
 * the balance, one request of the minute, content type, size of the body, orders, server ready,
 * the request itself.
 *
 * @module
 */

import { expectedOrders, type Orders, ordersFromText } from '../api/orders.js'
import { shortened } from '../api/place.js'
import type { Batch } from '../api/read-batch.js'
import type { DecideOptions, Decider, DecideRequest, Decision } from '../decide/types.js'
import { OiError } from '../errors.js'
import { Body } from './body.js'
import { Canceller } from './canceller.js'
import { type Client, Exchange, type ExchangeContext, type Head } from './exchange.js'
import type { Expirable, Running } from './running.js'

/** A request's text to its meaning, and a decision to its text. */
export interface Wire {
  /** @throws {@link OiError} `ERR_BODY_INVALID` if the bytes are not UTF-8. */
  decodeUtf8(bytes: Uint8Array): string
  /** @throws {@link OiError} `ERR_BODY_INVALID` or `ERR_REQUEST_UNACCEPTABLE`. */
  readRequest(text: string): DecideRequest
  /** @throws As `readRequest`, for what is wrong with the batch as a whole. */
  readBatch(text: string): Batch
  serializeDecision(decision: Decision): string
}

export interface PostContext extends ExchangeContext {
  readonly wire: Wire
  readonly running: Running<PostExchange>
  readonly maxBodyBytes: number
  readonly deadlineMs: number
  /** @throws {@link OiError} `ERR_OVERLOADED` unless the model is ready. */
  decider(): Decider
}

export abstract class PostExchange extends Exchange implements Expirable {
  readonly dueMs: number
  protected readonly context: PostContext
  protected readonly canceller = new Canceller()
  #evidence = false
  /** Undefined: as the model is set. */
  #orders: Orders | undefined
  #entered = false
  #body: Body | undefined

  constructor(head: Head, client: Client, context: PostContext) {
    super(head, client, context)
    this.context = context
    this.dueMs = this.startMs + context.deadlineMs
  }

  /** Checks the head. Unless that ended the exchange, its body comes next. */
  begin(head: Head): void {
    this.context.running.add(this)
    try {
      const caller = this.identify(head)
      this.context.gate.enter(caller)
      this.#entered = true
      this.context.gate.take(caller, 1)
      checkContentType(head.getHeader('content-type'))
      checkContentEncoding(head.getHeader('content-encoding'))
      const length = head.getHeader('content-length')
      // Absent (0) and malformed (NaN) pass here: what really arrives is counted as well.
      if (Number(length) > this.context.maxBodyBytes) {
        throw this.#tooLarge()
      }
      this.#evidence = head.getHeader('x-oi-evidence') === '1'
      this.#orders = readOrders(head.getHeader(ordersHeader))
      this.readHead(head)
      // uWebSockets.js 20.52 does not tell the end of this body if its head came in parts.
      if (length !== '' && Number(length) === 0) this.receive(new Uint8Array(0), true)
    } catch (error) {
      this.fail(error)
    }
  }

  override receive(chunk: Uint8Array, last: boolean): void {
    if (this.ended || this.putOff) return
    if (this.#body === undefined && last && chunk.length <= this.context.maxBodyBytes) {
      // The usual case, a body in one piece: nothing to copy.
      this.#decide(chunk)
      return
    }
    this.#body ??= new Body(this.context.maxBodyBytes)
    if (!this.#body.push(chunk)) this.fail(this.#tooLarge())
    else if (last) this.#decide(this.#body.bytes)
  }

  override abandon(): void {
    if (this.ended) return
    super.abandon()
    this.canceller.abort(new OiError('ERR_ABORTED', 'The client has gone'))
  }

  /** Ends the exchange with an error while its decision may still be under way. */
  cancel(error: OiError): void {
    this.fail(error)
    this.canceller.abort(error)
  }

  expire(): void {
    const { deadlineMs } = this.context
    this.cancel(new OiError('ERR_TIMEOUT', `The request was not answered within ${deadlineMs} ms`))
  }

  /** What else the head says; a hook for kinds of requests that want it. */
  protected readHead(_head: Head): void {}

  /**
   * Hands the text to the decider. What it throws is the reply.
   *
   * @throws {@link OiError} As the wire's functions and the decider.
   */
  protected abstract decide(text: string, decider: Decider): void

  /** What goes with each decision of this exchange. */
  protected decideOptions(): DecideOptions {
    return {
      signal: this.canceller,
      evidence: this.#evidence,
      orders: this.#orders,
      workspace: this.caller?.workspaceId,
      // Not less than that, which could be read as no limit at all.
      deadlineMs: Math.max(1, this.dueMs - performance.now()),
    }
  }

  protected override onEnd(_status: number, _ms: number): void {
    this.context.running.delete(this)
    if (this.#entered) this.context.gate.leave(this.caller!)
    this.#body = undefined
  }

  #decide(bytes: Uint8Array): void {
    try {
      const decider = this.context.decider()
      const text = this.context.wire.decodeUtf8(bytes)
      this.#body = undefined
      this.decide(text, decider)
    } catch (error) {
      this.fail(error)
    }
  }

  #tooLarge(): OiError {
    const { maxBodyBytes } = this.context
    return new OiError('ERR_BODY_TOO_LARGE', `The body is over the limit of ${maxBodyBytes} bytes`)
  }
}

const ordersHeader = 'x-oi-orders'

/** @param header - `''` if there is none. */
function readOrders(header: string): Orders | undefined {
  if (header === '') return undefined
  const orders = ordersFromText(header)
  if (orders !== undefined) return orders
  const got = JSON.stringify(shortened(header))
  throw new OiError(
    'ERR_REQUEST_UNACCEPTABLE',
    `${ordersHeader}: expected ${expectedOrders}, got ${got}`,
    { param: ordersHeader },
  )
}

/** Nothing is read but the body as it is. */
function checkContentEncoding(header: string): void {
  if (header === '' || header.trim().toLowerCase() === 'identity') return
  const got = JSON.stringify(shortened(header))
  const message = `Content-Encoding: expected none, as accept-encoding says, got ${got}`
  throw new OiError('ERR_ENCODING', message)
}

/** `application/json` with any parameters, or nothing. */
function checkContentType(header: string): void {
  if (header === 'application/json' || header === '') return
  const [type] = header.split(';', 1)
  if (type!.trim().toLowerCase() !== 'application/json') {
    throw new OiError('ERR_REQUEST_UNACCEPTABLE', 'Content-Type: expected application/json')
  }
}
