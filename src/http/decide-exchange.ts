/**
 * POST /v1/systemone: one request from its head to its answers.
 *
 * The checks run in this order, and the first that fails is the reply: key, content type, size
 * of the body, server ready, the request itself.
 *
 * @module
 */

import type { Caller } from '../accounts/accounts.js'
import type { Decider, DecideRequest, Decision } from '../decide/types.js'
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
  serializeDecision(decision: Decision): string
}

export interface DecideContext extends ExchangeContext {
  readonly wire: Wire
  readonly running: Running<DecideExchange>
  readonly maxBodyBytes: number
  readonly deadlineMs: number
  /** @throws {@link OiError} `ERR_API_KEY`. */
  authenticate(header: string): Caller
  /** @throws {@link OiError} `ERR_OVERLOADED` unless the model is ready. */
  decider(): Decider
}

export class DecideExchange extends Exchange implements Expirable {
  readonly dueMs: number
  readonly #context: DecideContext
  readonly #canceller = new Canceller()
  #evidence = false
  #body: Body | undefined

  constructor(head: Head, client: Client, context: DecideContext) {
    super(head, client, context)
    this.#context = context
    this.dueMs = this.startMs + context.deadlineMs
  }

  /** Checks the head. Unless that ended the exchange, its body comes next. */
  begin(head: Head): void {
    this.#context.running.add(this)
    try {
      this.caller = this.#context.authenticate(head.getHeader('authorization'))
      checkContentType(head.getHeader('content-type'))
      // Absent (0) and malformed (NaN) pass here: what really arrives is counted as well.
      if (Number(head.getHeader('content-length')) > this.#context.maxBodyBytes) {
        throw this.#tooLarge()
      }
      this.#evidence = head.getHeader('x-oi-evidence') === '1'
    } catch (error) {
      this.fail(error)
    }
  }

  /** Takes a part of the body. @param chunk - Valid during the call. */
  receive(chunk: Uint8Array, last: boolean): void {
    if (this.ended) return
    if (this.#body === undefined && last && chunk.length <= this.#context.maxBodyBytes) {
      // The usual case, a body in one piece: nothing to copy.
      this.#decide(chunk)
      return
    }
    this.#body ??= new Body(this.#context.maxBodyBytes)
    if (!this.#body.push(chunk)) this.fail(this.#tooLarge())
    else if (last) this.#decide(this.#body.bytes)
  }

  override abandon(): void {
    if (this.ended) return
    super.abandon()
    this.#canceller.abort(new OiError('ERR_ABORTED', 'The client has gone'))
  }

  /** Ends the exchange with an error while its decision may still be under way. */
  cancel(error: OiError): void {
    this.fail(error)
    this.#canceller.abort(error)
  }

  expire(): void {
    const { deadlineMs } = this.#context
    this.cancel(new OiError('ERR_TIMEOUT', `The request was not answered within ${deadlineMs} ms`))
  }

  protected override onEnd(): void {
    this.#context.running.delete(this)
    this.#body = undefined
  }

  #decide(bytes: Uint8Array): void {
    const { wire } = this.#context
    try {
      const decider = this.#context.decider()
      const request = wire.readRequest(wire.decodeUtf8(bytes))
      this.#body = undefined
      decider.decide(request, { signal: this.#canceller, evidence: this.#evidence }).then(
        (decision) => this.#succeed(decision),
        (error: unknown) => this.fail(error),
      )
    } catch (error) {
      this.fail(error)
    }
  }

  #succeed(decision: Decision): void {
    if (this.ended) return
    try {
      const body = this.#context.wire.serializeDecision(decision)
      this.answer({ status: 200, body }, decision.timings)
    } catch (error) {
      this.fail(error)
    }
  }

  #tooLarge(): OiError {
    const { maxBodyBytes } = this.#context
    return new OiError('ERR_BODY_TOO_LARGE', `The body is over the limit of ${maxBodyBytes} bytes`)
  }
}

/** `application/json` with any parameters, or nothing. */
function checkContentType(header: string): void {
  if (header === 'application/json' || header === '') return
  const [type] = header.split(';', 1)
  if (type!.trim().toLowerCase() !== 'application/json') {
    throw new OiError('ERR_REQUEST_UNACCEPTABLE', 'Content-Type: expected application/json')
  }
}
