/**
 * The body of a request while it comes: collected within its bounds, decompressed, and divided.
 *
 * @module
 */

import { atOnce, inTurns } from '../../api/turns.js'
import { OiError } from '../../errors.js'
import { Body, type BodyBudget } from './body.js'
import type { ArrivingBody, BodyClock } from './body-clock.js'
import { type Coding, inflate } from './inflate.js'
import { type Form, readForm } from './multipart.js'

interface IncomingBodyOptions {
  readonly maxBytes: number
  /** For the bytes of all bodies; given back by `drop()`. */
  readonly budget: BodyBudget
  readonly clock: BodyClock
  /** Undefined: not compressed. */
  readonly coding: Coding | undefined
  /** Undefined: not multipart. */
  readonly boundary: string | undefined
  /** Called once if the body does not come in time. */
  readonly late: (error: OiError) => void
}

export class IncomingBody {
  readonly #options: IncomingBodyOptions
  readonly #arriving: ArrivingBody
  #body: Body | undefined
  #heldBytes = 0
  #dropped = false

  /**
   * Begins the body's time.
   *
   * @param announcedBytes - 0 if the head does not say; what really comes is counted as well.
   * @throws {@link OiError} `ERR_BODY_TOO_LARGE`, `ERR_OVERLOADED`.
   */
  constructor(announcedBytes: number, options: IncomingBodyOptions) {
    this.#options = options
    if (announcedBytes > options.maxBytes) throw this.#tooLarge()
    this.#hold(announcedBytes)
    this.#arriving = options.clock.begin(options.late)
  }

  /**
   * Takes a part.
   *
   * @param chunk - Valid during the call, and as long as the result is used.
   * @returns The whole body with the last part, else undefined.
   * @throws {@link OiError} As the constructor.
   */
  receive(chunk: Uint8Array, last: boolean): Uint8Array | undefined {
    this.#arriving.receive(chunk.length)
    if (last) this.#arriving.end()
    const { maxBytes, boundary } = this.#options
    if (this.#body === undefined && last && chunk.length <= maxBytes) {
      // The usual case, a body in one piece: nothing to copy, unless parts of it are kept.
      this.#hold(chunk.length)
      return boundary === undefined ? chunk : Buffer.from(chunk)
    }
    this.#body ??= new Body(maxBytes)
    if (!this.#body.push(chunk)) throw this.#tooLarge()
    const { bytes } = this.#body
    this.#hold(bytes.length)
    if (last) this.#body = undefined
    return last ? bytes : undefined
  }

  /**
   * Decompresses and divides a whole body.
   *
   * @throws {@link OiError} As the constructor, `ERR_BODY_INVALID`, `ERR_REQUEST_UNACCEPTABLE`; or
   *   rejects with it.
   */
  formOf(bytes: Uint8Array): Form | Promise<Form> {
    const { coding, maxBytes } = this.#options
    if (coding === undefined) return this.#divide(bytes)
    const inflated = inflate(bytes, coding, maxBytes, (length) => {
      // The client no longer waits for the answer.
      if (this.#dropped) throw new OiError('ERR_ABORTED', 'The request has ended')
      if (length > maxBytes) throw this.#tooLarge()
      this.#hold(bytes.length + length)
    })
    if (inflated instanceof Promise) return inflated.then((whole) => this.#divide(whole))
    return this.#divide(inflated)
  }

  /** Gives back all that it took. Once, at the end of the request. */
  drop(): void {
    this.#dropped = true
    this.#arriving.end()
    this.#body = undefined
    this.#options.budget.giveBack(this.#heldBytes)
  }

  #divide(bytes: Uint8Array): Form | Promise<Form> {
    const { boundary } = this.#options
    if (boundary === undefined) return { json: bytes, files: noFiles }
    const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const steps = readForm(whole, boundary)
    return whole.length <= shortForm ? atOnce(steps) : inTurns(steps)
  }

  /** Takes from the process' budget the bytes by which the body is longer than announced. */
  #hold(bytes: number): void {
    if (bytes <= this.#heldBytes) return
    this.#options.budget.take(bytes - this.#heldBytes)
    this.#heldBytes = bytes
  }

  #tooLarge(): OiError {
    const message = `The body is over the limit of ${this.#options.maxBytes} bytes`
    return new OiError('ERR_BODY_TOO_LARGE', message)
  }
}

export const noFiles: Form['files'] = new Map()
/** A body this short is split in a fraction of a millisecond. */
const shortForm = 2 ** 20
