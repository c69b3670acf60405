/**
 * A request body as it arrives, and the number of body bytes that the process holds: both are
 * bounded.
 *
 * @module
 */

import { OiError } from '../../errors.js'

const firstCapacity = 16_384

/**
 * Copies chunks into one buffer that doubles: a body sent byte by byte costs no more memory than
 * one sent at once, and an announced length allocates nothing by itself.
 */
export class Body {
  readonly #maxBytes: number
  #bytes = Buffer.alloc(0)
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /**
   * Appends a chunk.
   *
   * @returns False if the body would exceed its bound; the chunk is not kept then.
   */
  push(chunk: Uint8Array): boolean {
    const length = this.#length + chunk.length
    if (length > this.#maxBytes) {
      this.#bytes = Buffer.alloc(0)
      this.#length = 0
      return false
    }
    if (length > this.#bytes.length) {
      const capacity = Math.min(
        this.#maxBytes,
        Math.max(length, 2 * this.#bytes.length, firstCapacity),
      )
      const grown = Buffer.allocUnsafeSlow(capacity)
      this.#bytes.copy(grown, 0, 0, this.#length)
      this.#bytes = grown
    }
    this.#bytes.set(chunk, this.#length)
    this.#length = length
    return true
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }
}

/**
 * The length that a request announces is taken at once, so that a request that has begun can also
 * finish; bytes without an announcement are taken as they arrive. All are given back when the
 * request ends.
 */
export class BodyBudget {
  #heldBytes = 0

  constructor(public maxBytes: number) {}

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** @throws {@link OiError} `ERR_OVERLOADED` if they do not fit beside other requests' bytes. */
  take(bytes: number): void {
    // A body within its own limit always fits when it is the only one.
    if (this.#heldBytes > 0 && this.#heldBytes + bytes > this.maxBytes) {
      throw new OiError('ERR_OVERLOADED', 'The server’s memory for request bodies is full')
    }
    this.#heldBytes += bytes
  }

  giveBack(bytes: number): void {
    this.#heldBytes -= bytes
  }
}
