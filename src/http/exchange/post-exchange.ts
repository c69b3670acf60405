/**
 * The common part of requests for decisions: their head, their body, their end.
 *
 * The checks run in this order, and the first that fails is the reply: key, room among the requests
 * that wait for a place, balance, requests of the minute, content type, size of the body, room for
 * the body, orders, server ready, the request itself. A place is taken only after that, so a slow
 * body never holds one.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { ignoredText } from '../../api/ignored.js'
import type { Orders } from '../../api/orders.js'
import { atOnce, inTurns } from '../../api/turns.js'
import type { DecideOptions, Decider, Decided } from '../../decide/types.js'
import { OiError } from '../../errors.js'
import type { Trace, Tracer } from '../../trace/tracer.js'
import { Body } from '../bodies/body.js'
import type { BodyBudget } from '../bodies/body.js'
import { Canceller } from './canceller.js'
import type { Charge, Charges } from './charges.js'
import type { Deadlines, Expirable } from './deadlines.js'
import { type Client, Exchange } from './exchange.js'
import type { ExchangeContext } from './exchange-context.js'
import { everyValue, type Head } from '../transport/head.js'
import { type Coding, inflate } from '../bodies/inflate.js'
import { type Form, readForm } from '../bodies/multipart.js'
import { echoed, readBoundary, readCoding, readOrders } from './post-head.js'
import { attributesOf } from '../log/request-entry.js'
import type { Leave } from '../../chain.js'
import type { Running } from './running.js'
import type { ReplyForm, Wire } from './wire.js'

export interface PostContext extends ExchangeContext {
  readonly wire: Wire
  readonly running: Running<PostExchange>
  readonly maxBodyBytes: number
  readonly maxReplyBytes: number
  readonly bodies: BodyBudget
  readonly charges: Charges
  /** Of single requests, of the items of batches once handed over, and of bodies. */
  readonly deadlines: Deadlines
  /** Of batches that have been read. */
  readonly batchDeadlines: Deadlines
  /** How long a batch as NDJSON may be silent before it sends an empty line. */
  readonly heartbeatMs: number
  /** Undefined if nothing is traced. */
  readonly tracer: Tracer | undefined
  /** @throws {@link OiError} `ERR_OVERLOADED` unless the model is ready. */
  decider(): Decider
}

export abstract class PostExchange extends Exchange implements Expirable {
  protected readonly context: PostContext
  protected readonly canceller = new Canceller()
  /** Undefined if this request is not traced. */
  protected readonly trace: Trace | undefined
  /** Members of the body that the server does not know. */
  protected readonly ignored: string[] = []
  /** From the head on. */
  protected charge!: Charge
  readonly #traceparent: string
  #evidence = false
  /** Undefined: the model's setting. */
  #orders: Orders | undefined
  #body: Body | undefined
  #bodyBytes = 0
  /** The body's compression; undefined: none. */
  #coding: Coding | undefined
  /** The multipart boundary of the body; undefined: not multipart. */
  #boundary: string | undefined
  /** The files beside the text, by the names of their parts. */
  protected files: Form['files'] = noFiles
  /** The text of the body; kept for its digest, which few requests need. */
  #text: string | undefined
  #digest: string | undefined
  #limit: Deadlines
  #endLimit: Leave | undefined
  #endRunning: Leave | undefined

  constructor(head: Head, client: Client, context: PostContext) {
    super(head, client, context)
    this.context = context
    this.#traceparent = head.getHeader('traceparent')
    this.trace = context.tracer?.begin(this.#traceparent, () => everyValue(head, 'tracestate'))
    this.#limit = context.deadlines
  }

  /** Checks the head. Unless that ended the exchange, its body comes next. */
  begin(head: Head): void {
    this.#endRunning = this.context.running.add(this)
    this.#endLimit = this.#limit.add(this)
    try {
      const caller = this.identify(head)
      this.charge = this.context.charges.open(head, caller, this.path)
      this.context.gate.requireRoom(caller)
      this.context.gate.take(caller, 1, this.charge.mayRepeat)
      this.#boundary = readBoundary(head)
      this.#coding = readCoding(head)
      const length = head.getHeader('content-length')
      // Absent (0) and malformed (NaN) pass here: what really arrives is counted as well.
      const announced = Number(length) || 0
      if (announced > this.context.maxBodyBytes) throw this.#tooLarge()
      this.#hold(announced)
      this.#evidence = head.getHeader('x-oi-evidence') === '1'
      this.#orders = readOrders(head)
      this.readHead(head)
      // uWebSockets.js 20.52 does not tell the end of this body if its head came in parts.
      if (length !== '' && announced === 0) this.receive(new Uint8Array(0), true)
    } catch (error) {
      this.fail(error)
    }
  }

  override receive(chunk: Uint8Array, last: boolean): void {
    if (this.ended || this.putOff) return
    try {
      if (this.#body === undefined && last && chunk.length <= this.context.maxBodyBytes) {
        // The usual case, a body in one piece: nothing to copy, unless parts of it are kept.
        this.#hold(chunk.length)
        this.#complete(this.#boundary === undefined ? chunk : Buffer.from(chunk))
        return
      }
      this.#body ??= new Body(this.context.maxBodyBytes)
      if (!this.#body.push(chunk)) throw this.#tooLarge()
      this.#hold(this.#body.bytes.length)
      if (last) this.#complete(this.#body.bytes)
    } catch (error) {
      this.fail(error)
    }
  }

  override abandon(): void {
    if (!this.ended) {
      super.abandon()
      this.canceller.abort(new OiError('ERR_ABORTED', 'The client has gone'))
    }
    this.charge?.lose()
  }

  override arrived(): void {
    this.charge?.forget()
  }

  /**
   * Ends the exchange with an error, even while its decision is under way. A decision that has been
   * made stays made.
   */
  abstract cancel(error: OiError): void

  expire(): void {
    const message = `The request was not answered within ${this.#limit.limitMs} ms`
    this.cancel(new OiError('ERR_TIMEOUT', message))
  }

  /** Reads further headers; a hook for kinds of requests that have some. */
  protected readHead(_head: Head): void {}

  /**
   * Hands the text to the decider. Whatever it throws, or rejects with, is the reply.
   *
   * @throws {@link OiError} As {@link Wire}'s functions, the gate's `enter()` and the decider.
   */
  protected abstract decide(text: string, decider: Decider): void | Promise<void>

  protected get form(): ReplyForm {
    return { evidence: this.#evidence }
  }

  /** Changes to another time limit, which begins now. */
  protected limitBy(limit: Deadlines): void {
    this.#endLimit?.()
    this.#limit = limit
    this.#endLimit = limit.add(this)
  }

  /** The options of each decision of this exchange. */
  protected decideOptions(signal: Canceller, leftMs: number): DecideOptions {
    return {
      signal,
      evidence: this.#evidence,
      orders: this.#orders,
      workspace: this.caller?.workspaceId,
      models: this.caller?.models,
      parts: this.files,
      // At least 1: 0 could be read as no limit.
      deadlineMs: Math.max(1, leftMs),
      requestId: this.id,
    }
  }

  /**
   * A decision's text, which is not longer than a reply may be.
   *
   * @param heldLength - Of the texts that share the reply.
   * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE`.
   */
  protected serialize(
    decision: Decided,
    heldLength = 0,
    write = this.context.wire.serializeDecision,
  ): string {
    const { usage, timings }: { usage: unknown; timings: unknown } = decision
    if (!usage || !timings) throw new TypeError('A decision without usage or timings')
    const text = write(decision)
    const { maxReplyBytes } = this.context
    if (heldLength + text.length <= maxReplyBytes) return text
    throw new OiError(
      'ERR_REQUEST_UNACCEPTABLE',
      `The reply would be longer than max_reply_bytes, ${maxReplyBytes} bytes`,
    )
  }

  protected override ownHeaders(): readonly string[] {
    const { trace } = this
    if (this.#traceparent === '' && this.ignored.length === 0 && !trace) return []
    const headers: string[] = []
    if (this.ignored.length > 0) headers.push('x-oi-ignored', ignoredText(this.ignored))
    const own = trace?.traceparent ?? echoed(this.#traceparent)
    if (own !== '') headers.push('traceparent', own)
    return headers
  }

  protected override get traceId(): string | undefined {
    return this.trace?.id
  }

  protected override onEnd(status: number, _ms: number): void {
    this.charge?.end(status)
    if (this.trace !== undefined) {
      const { path, startMs, id, caller, told, failure } = this
      const attributes = attributesOf({ id, path, status, caller, told, failure })
      this.trace.end(`POST ${path}`, startMs, attributes, status >= 500)
    }
    this.#endRunning?.()
    this.#endLimit?.()
    this.#body = this.#text = undefined
    this.files = noFiles
    this.context.bodies.giveBack(this.#bodyBytes)
  }

  protected override bodyDigest(): string | undefined {
    if (this.#text === undefined) return undefined
    this.#digest ??= createHash('sha256').update(this.#text).digest('hex').slice(0, digestDigits)
    return this.#digest
  }

  /** Takes from the process' budget the bytes by which the body is longer than announced. */
  #hold(bytes: number): void {
    if (bytes <= this.#bodyBytes) return
    this.context.bodies.take(bytes - this.#bodyBytes)
    this.#bodyBytes = bytes
  }

  /** The body has arrived whole. */
  #complete(bytes: Uint8Array): void {
    if (this.#coding === undefined) return this.#divide(bytes)
    const { maxBodyBytes } = this.context
    const inflated = inflate(bytes, this.#coding, maxBodyBytes, (length) => {
      // The client no longer waits for the answer.
      if (this.ended) throw new OiError('ERR_ABORTED', 'The request has ended')
      if (length > maxBodyBytes) throw this.#tooLarge()
      this.#hold(bytes.length + length)
    })
    if (inflated instanceof Promise) this.#later(inflated, (whole) => this.#divide(whole))
    else this.#divide(inflated)
  }

  /** Splits a multipart body. */
  #divide(bytes: Uint8Array): void {
    if (this.#boundary === undefined) return this.#decide(bytes)
    const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const steps = readForm(whole, this.#boundary)
    const take = ({ json, files }: Form) => {
      this.files = files
      this.#decide(json)
    }
    if (whole.length <= shortForm) take(atOnce(steps))
    else this.#later(inTurns(steps), take)
  }

  /** Continues unless the exchange ends in the meantime. */
  #later<T>(coming: Promise<T>, use: (value: T) => void): void {
    this.#body = undefined
    coming
      .then((value) => {
        if (!this.ended) use(value)
      })
      .catch((error: unknown) => this.fail(error))
  }

  #decide(bytes: Uint8Array): void {
    const decider = this.context.decider()
    const text = this.context.wire.decodeUtf8(bytes)
    this.#body = undefined
    this.#text = text
    this.charge.read([text, ...[...this.files].flat()])
    this.decide(text, decider)?.catch((error: unknown) => this.fail(error))
  }

  #tooLarge(): OiError {
    const message = `The body is over the limit of ${this.context.maxBodyBytes} bytes`
    return new OiError('ERR_BODY_TOO_LARGE', message)
  }
}

const noFiles: Form['files'] = new Map()
/** A body this short is split in a fraction of a millisecond. */
const shortForm = 2 ** 20

/** Digits of a digest: enough that no two bodies in a log share one by chance. */
const digestDigits = 16
