/**
 * A request body as it arrives, and how many bytes of bodies the process holds: both have a bound.
 *
 * @module
 */

import { OiError } from '../../errors.js'

const firstCapacity = 16_384

/**
 * Chunks are copied into one buffer that doubles: a body sent byte by byte costs no more memory
 * than one sent at once, and an announced length allocates nothing by itself.
 */
export class Body {
  readonly #maxBytes: number
  #bytes = Buffer.alloc(0)
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /**
   * Copies a chunk to the end.
   *
   * @returns False if the body would exceed its bound; nothing is kept then.
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
 * What a request has announced is taken at once, so that what is begun can also be finished; what
 * comes without an announcement is taken as it comes. It is given back when the request ends.
 */
export class BodyBudget {
  #heldBytes = 0

  constructor(public maxBytes: number) {}

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** @throws {@link OiError} `ERR_OVERLOADED` if they do not fit beside what others hold. */
  take(bytes: number): void {
    // A request that is allowed by itself always fits when it is alone.
    if (this.#heldBytes > 0 && this.#heldBytes + bytes > this.maxBytes) {
      throw new OiError('ERR_OVERLOADED', 'The server’s memory for request bodies is full')
    }
    this.#heldBytes += bytes
  }

  giveBack(bytes: number): void {
    this.#heldBytes -= bytes
  }
}
