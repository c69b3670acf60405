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
import type { DecideOptions, Decider, Decided } from '../../decide/types.js'
import { OiError } from '../../errors.js'
import type { Trace } from '../../trace/tracer.js'
import { Canceller } from './canceller.js'
import type { Charge } from './charges.js'
import type { Deadlines, Expirable } from './deadlines.js'
import { ServedRequest } from './served-request.js'
import { IncomingBody, noFiles } from '../bodies/incoming-body.js'
import type { Form } from '../bodies/multipart.js'
import type { PostContext } from './post-context.js'
import { echoed, readBoundary, readCoding, readOrders } from './post-head.js'
import { attributesOf } from '../log/request-entry.js'
import type { Membership } from '../../chain.js'
import { tooLate } from './too-late.js'
import type { ReplyForm } from './wire.js'
import { type Client, everyValue, type Head } from '../contract.js'

export abstract class ServedPost extends ServedRequest implements Expirable {
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
  #body: IncomingBody | undefined
  /** The files beside the text, by the names of their parts. */
  protected files: Form['files'] = noFiles
  /** The text of the body; kept for its digest, which few requests need. */
  #text: string | undefined
  #digest: string | undefined
  #limit: Deadlines
  #limitEndMs = Infinity
  #inTime: Membership | undefined
  #running: Membership | undefined

  constructor(head: Head, client: Client, context: PostContext) {
    super(head, client, context)
    this.context = context
    this.#traceparent = head.getHeader('traceparent')
    this.trace = context.tracer?.begin(this.#traceparent, () => everyValue(head, 'tracestate'))
    this.#limit = context.deadlines
  }

  /** Checks the head. Unless that ended the request, its body comes next. */
  begin(head: Head): void {
    this.#running = this.context.running.add(this)
    try {
      const caller = this.identify(head)
      this.charge = this.context.charges.open(head, caller, this.path)
      this.context.admission.requireRoom(caller)
      this.context.admission.take(caller, 1, this.charge.mayRepeat)
      const boundary = readBoundary(head)
      const coding = readCoding(head)
      const { maxBodyBytes, bodies, bodyClock } = this.context
      const length = head.getHeader('content-length')
      // Absent (0) and malformed (NaN) pass here.
      const announced = Number(length) || 0
      this.#body = new IncomingBody(announced, {
        maxBytes: maxBodyBytes,
        budget: bodies,
        clock: bodyClock,
        coding,
        boundary,
        late: (error) => this.cancel(error),
      })
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
    const body = this.#body
    if (this.ended || this.putOff || body === undefined) return
    try {
      const whole = body.receive(chunk, last)
      if (last) this.#beginLimit()
      if (whole === undefined) return
      const form = body.formOf(whole)
      if (!(form instanceof Promise)) return this.#read(form)
      form
        .then((ready) => {
          if (!this.ended) this.#read(ready)
        })
        .catch((error: unknown) => this.fail(error))
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
   * Ends the request with an error, even while its decision is under way. A decision that has been
   * made stays made.
   */
  abstract cancel(error: OiError): void

  expire(): void {
    this.cancel(tooLate('request', this.#limit.limitMs, this.waitedFor()))
  }

  /** What is known of the work that the request waits for, as {@link workOf}; a hook. */
  protected waitedFor(): string {
    return ''
  }

  /** Reads further headers; a hook for kinds of requests that have some. */
  protected readHead(_head: Head): void {}

  /**
   * Hands the text to the decider. Whatever it throws, or rejects with, is the reply.
   *
   * @throws {@link OiError} As {@link Wire}'s functions, admission's `enter()` and the decider.
   */
  protected abstract decide(text: string, decider: Decider): void | Promise<void>

  protected get form(): ReplyForm {
    return { evidence: this.#evidence, scope: this.context.scopeOf(this.caller!) }
  }

  /** Changes to another time limit, which begins now. */
  protected limitBy(limit: Deadlines): void {
    this.#inTime?.leave()
    this.#limit = limit
    this.#beginLimit()
  }

  /** Milliseconds until the time limit. */
  protected get leftMs(): number {
    return this.#limitEndMs - performance.now()
  }

  /** From now on the server, and not the client, is to blame for a wait. */
  #beginLimit(): void {
    this.#limitEndMs = performance.now() + this.#limit.limitMs
    this.#inTime = this.#limit.add(this)
  }

  /** The options of each decision of this request. */
  protected decideOptions(signal: Canceller, leftMs: number): DecideOptions {
    return {
      signal,
      orders: this.#orders,
      workspace: this.caller?.workspaceId,
      evidence: this.#evidence,
      scope: this.context.scopeOf(this.caller!),
      models: this.caller?.models,
      parts: this.files,
      // At least 1: 0 could be read as no limit.
      deadlineMs: Math.max(1, leftMs),
      requestId: this.id,
    }
  }

  /** A decision's text; a hook for kinds of requests with a form of their own. */
  protected textOf(decision: Decided): string {
    return this.context.wire.serializeDecision(decision)
  }

  /**
   * A decision's text, which is not longer than a reply may be.
   *
   * @param heldLength - Of the texts that share the reply.
   * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE`.
   */
  protected serialize(decision: Decided, heldLength = 0): string {
    const { usage, timings }: { usage: unknown; timings: unknown } = decision
    if (!usage || !timings) throw new TypeError('A decision without usage or timings')
    const text = this.textOf(decision)
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
    this.#running?.leave()
    this.#inTime?.leave()
    this.#body?.drop()
    this.#body = this.#text = undefined
    this.files = noFiles
  }

  protected override bodyDigest(): string | undefined {
    if (this.#text === undefined) return undefined
    this.#digest ??= createHash('sha256').update(this.#text).digest('hex').slice(0, digestDigits)
    return this.#digest
  }

  #read({ json, files }: Form): void {
    this.files = files
    const decider = this.context.decider()
    const text = this.context.wire.decodeUtf8(json)
    this.#text = text
    this.charge.read(files.size === 0 ? [text] : [text, ...[...files].flat()])
    this.decide(text, decider)?.catch((error: unknown) => this.fail(error))
  }
}

/** Digits of a digest: enough that no two bodies in a log share one by chance. */
const digestDigits = 16
